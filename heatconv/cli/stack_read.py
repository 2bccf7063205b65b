# SPDX-License-Identifier: Apache-2.0
"""``stack show``, ``list``, ``graph``: what is known of stacks."""

from __future__ import annotations

import argparse
import json
from typing import Any

from cliff.command import Command
from cliff.lister import Lister
from cliff.show import ShowOne
from rich.console import Console

from heatconv.cli import graph_svg, graph_text
from heatconv.cli.base import client_of, row, table, take_stack

SHOWN = (
    "id",
    "stack_name",
    "description",
    "stack_status",
    "stack_status_reason",
    "phase",
    "progress",
    "creation_time",
    "updated_time",
    "parameters",
    "outputs",
    "tags",
    "disable_rollback",
    "timeout_mins",
    "convergence",
    "drift",
)
_LISTED = ("id", "stack_name", "stack_status", "creation_time", "updated_time")


class Show(ShowOne):
    """Show a stack."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Take a stack."""
        parser = super().get_parser(prog_name)
        take_stack(parser)
        parser.add_argument(
            "--no-resolve-outputs",
            dest="resolve_outputs",
            action="store_false",
            help="leave the outputs out, which may take long to find",
        )
        return parser

    def take_action(self, args: argparse.Namespace) -> Any:
        """Show it."""
        stack = client_of(self).show_stack(args.stack, resolve_outputs=args.resolve_outputs)
        return SHOWN, row(SHOWN, stack)


class List(Lister):
    """List stacks, newest first."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Take filters."""
        parser = super().get_parser(prog_name)
        parser.add_argument(
            "--search", metavar="TEXT", help="with this in their name or in one of their tags"
        )
        parser.add_argument("--tags", metavar="TAG,...", help="with all of these tags")
        parser.add_argument("--status", metavar="STATUS", help="FAILED, CREATE_COMPLETE, ...")
        parser.add_argument("--deleted", action="store_true", help="deleted ones, too")
        parser.add_argument("--nested", action="store_true", help="those that are resources of others, too")
        parser.add_argument("--hidden", action="store_true", help="those with a tag that hides them, too")
        return parser

    def take_action(self, args: argparse.Namespace) -> Any:
        """List them."""
        query = {"search": args.search, "tags": args.tags, "status": args.status}
        query |= {f"show_{kind}": "true" for kind in ("deleted", "nested", "hidden") if getattr(args, kind)}
        return table(_LISTED, client_of(self).list_stacks(query))


class Graph(Command):
    """Show how the resources of a stack depend on each other."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Take a stack and a format."""
        parser = super().get_parser(prog_name)
        take_stack(parser)
        parser.add_argument(
            "--format",
            choices=("tree", "dot", "svg", "json"),
            default="tree",
            help="tree for a terminal (the default), dot for graphviz, svg for a browser, json for programs",
        )
        return parser

    def take_action(self, args: argparse.Namespace) -> None:
        """Draw it."""
        client = client_of(self)
        stack = client.show_stack(args.stack, resolve_outputs=False)
        graph = client.show_graph(stack["id"])
        title = f"{stack['stack_name']} {stack['stack_status']}"
        if args.format == "tree":
            console = Console(file=self.app.stdout, highlight=False, soft_wrap=True)
            console.print(graph_text.tree(graph, title))
        else:
            self.app.stdout.write(_drawn(graph, title, args.format))


def _drawn(graph: dict[str, Any], title: str, form: str) -> str:
    match form:
        case "dot":
            return graph_text.dot(graph, title)
        case "svg":
            return graph_svg.render(graph, title)
        case _:
            return json.dumps(graph, indent=2) + "\n"
