# SPDX-License-Identifier: Apache-2.0
"""``service list``."""

from __future__ import annotations

import argparse
from typing import Any

from cliff.lister import Lister

from heatconv.cli.base import client_of, table

_LISTED = ("binary", "host", "engine_id", "status", "updated_at")


class List(Lister):
    """List the daemons that run, or ran."""

    def take_action(self, _args: argparse.Namespace) -> Any:
        """List them."""
        return table(_LISTED, client_of(self).list_services())
