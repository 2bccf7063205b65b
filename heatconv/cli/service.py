# SPDX-License-Identifier: Apache-2.0
"""``service list``, ``service work`` and ``build info``."""

from __future__ import annotations

import argparse
from typing import Any

from cliff.lister import Lister
from cliff.show import ShowOne

from heatconv.cli.base import client_of, document, table

_LISTED = ("binary", "host", "engine_id", "status", "updated_at")


class List(Lister):
    """List the daemons that run, or ran."""

    def take_action(self, _args: argparse.Namespace) -> Any:
        """List them."""
        return table(_LISTED, client_of(self).list_services())


class Work(ShowOne):
    """Show how much there is to do in all projects, and how late the oldest of it is, in seconds."""

    def take_action(self, _args: argparse.Namespace) -> Any:
        """Show it."""
        return document(client_of(self).show_work())


class BuildInfo(ShowOne):
    """Show which builds of API and engine answer."""

    def take_action(self, _args: argparse.Namespace) -> Any:
        """Show them."""
        return document({part: build["revision"] for part, build in client_of(self).build_info().items()})
