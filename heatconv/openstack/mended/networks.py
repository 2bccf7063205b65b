# SPDX-License-Identifier: Apache-2.0
"""Nova's client: a server that names no network gets what it got before Nova wanted to be told.

From microversion 2.37 on a request has to say "auto" or "none", which Heat's
plugins do not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

SINCE = (2, 37)
CREATE = "_create"  #: the method of Heat's that makes a client


def names_networks(plugin: Any) -> None:
    """Let the clients that a plugin makes say which networks a server gets that names none."""
    plain = getattr(plugin, CREATE)

    def create_client(self: Any, version: str | None = None) -> Any:
        client = plain(self, version)
        spoken = client.api_version
        if (spoken.ver_major, spoken.ver_minor) >= SINCE:
            client.servers.create = _naming(client.servers.create, self)
        return client

    setattr(plugin, CREATE, create_client)


def _naming(create: Callable[..., Any], plugin: Any) -> Callable[..., Any]:
    def named(*args: Any, nics: Any = None, **kwargs: Any) -> Any:
        return create(*args, nics=nics or _default(plugin), **kwargs)

    return named


def _default(plugin: Any) -> str:
    """Return "auto", by which Nova takes the only network there is; "none" where there is none to take."""
    networks = plugin.clients.client("neutron").list_networks(**{"router:external": False, "limit": 1})
    return "auto" if networks["networks"] else "none"
