# SPDX-License-Identifier: Apache-2.0
"""A client of a compute service that has no servers: all that ``OS::Heat::TestResource`` asks of one."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from heatconv.resources.clients.client_plugin import ClientPlugin


class Nova(ClientPlugin):
    """Lists no servers."""

    def _create(self, version: str | None = None) -> Any:
        return SimpleNamespace(servers=SimpleNamespace(list=list))


def client_mapping() -> dict[str, type[ClientPlugin]]:
    """Return the clients that this module has."""
    return {"nova": Nova}
