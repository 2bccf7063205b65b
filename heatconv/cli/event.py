# SPDX-License-Identifier: Apache-2.0
"""``event list`` and ``event show``: what happened, or what happens."""

from __future__ import annotations

import argparse
from typing import Any

from cliff.lister import Lister
from cliff.show import ShowOne
from rich.console import Console

from heatconv.cli import tail
from heatconv.cli.base import (
    client_of,
    document,
    seconds,
    table,
    take_nested_depth,
    take_resource,
    take_stack,
)
from heatconv.client.http import ClientError

_LISTED = ("event_time", "resource_name", "resource_status", "resource_status_reason", "id")


class List(Lister):
    """List the events of a stack, oldest first."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Take a stack."""
        parser = super().get_parser(prog_name)
        take_stack(parser)
        parser.add_argument("--resource", metavar="NAME", help="those of one resource only")
        parser.add_argument("--limit", metavar="N", type=int, help="the latest N only")
        take_nested_depth(parser)
        parser.add_argument(
            "--follow", action="store_true", help="print events as they come until interrupted, one a line"
        )
        parser.add_argument(
            "--poll",
            metavar="SECONDS",
            type=seconds,
            default=1.0,
            help="time between two looks at a service that cannot wait for events itself (default: 1)",
        )
        return parser

    def run(self, args: argparse.Namespace) -> int:
        """List them, or follow them: a table cannot be shown before it is complete."""
        if args.follow:
            self._follow(args)
            return 0
        return super().run(args)

    def take_action(self, args: argparse.Namespace) -> Any:
        """List them."""
        query = {"limit": args.limit, "nested_depth": args.nested_depth, "sort_dir": "desc"}
        events = client_of(self).list_events(args.stack, query, resource=args.resource)
        return table(_LISTED, reversed(events))

    def _follow(self, args: argparse.Namespace) -> None:
        client = client_of(self)
        console = Console(file=self.app.stdout, highlight=False, soft_wrap=True)
        stack_id = client.locate(args.stack).rsplit("/", 1)[1]
        events = tail.EventTail(client, stack_id)
        while True:
            try:
                happened = events.follow(args.poll)
            except ClientError as error:
                if error.status != 404:
                    raise
                return  # the stack is gone: nothing more can happen
            for event in happened:
                if args.resource in {None, event["resource_name"]}:
                    console.print(tail.line(event))
            self.app.stdout.flush()


class Show(ShowOne):
    """Show an event."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Take a resource and an event of it."""
        parser = super().get_parser(prog_name)
        take_resource(parser)
        parser.add_argument("event", metavar="EVENT", help="id of the event")
        return parser

    def take_action(self, args: argparse.Namespace) -> Any:
        """Show it."""
        return document(client_of(self).show_event(args.stack, args.resource, args.event))
