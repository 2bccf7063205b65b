# SPDX-License-Identifier: Apache-2.0
"""``plan list``, ``show``, ``delete``: the plans that are kept."""

from __future__ import annotations

import argparse
from typing import Any

from cliff.command import Command
from cliff.lister import Lister

from heatconv.cli.base import client_of, table
from heatconv.cli.plan_text import summary
from heatconv.cli.plan_view import add_view, viewed

_LISTED = ("id", "action", "stack_name", "state", "created_at", "expires_at", "summary")


class List(Lister):
    """List plans, newest first."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Take which part of the list."""
        parser = super().get_parser(prog_name)
        parser.add_argument("--stack", metavar="STACK", help="those of this stack, told by its name or id")
        parser.add_argument("--limit", metavar="N", type=int, help="so many at most")
        parser.add_argument("--marker", metavar="PLAN", help="those after this one")
        return parser

    def take_action(self, args: argparse.Namespace) -> Any:
        """List them."""
        query = {"limit": args.limit, "marker": args.marker}
        plans = client_of(self).list_plans(query, stack=args.stack)
        names = [{"stack_name": plan["stack"]["name"], "summary": summary(plan["summary"])} for plan in plans]
        return table(_LISTED, [plan | more for plan, more in zip(plans, names, strict=True)])


class Show(Command):
    """Show a plan as 'stack plan' did."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Take a plan, and how it is shown."""
        parser = super().get_parser(prog_name)
        parser.add_argument("plan", metavar="PLAN", help="id of the plan")
        add_view(parser)
        return parser

    def take_action(self, args: argparse.Namespace) -> None:
        """Show it."""
        with viewed(self, args) as view:
            view.show(client_of(self).show_plan(args.plan, each=view.add))


class Delete(Command):
    """Forget plans."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Take plans."""
        parser = super().get_parser(prog_name)
        parser.add_argument("plan", metavar="PLAN", nargs="+", help="id of a plan")
        return parser

    def take_action(self, args: argparse.Namespace) -> None:
        """Forget them."""
        for plan in args.plan:
            client_of(self).delete_plan(plan)
