# SPDX-License-Identifier: Apache-2.0
"""``stack hook poll`` and ``stack hook clear``: resources that wait for someone's word.

What waits is told by events: one says that a resource paused, another one, later,
that it was told to go on.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import Any

from cliff.command import Command
from cliff.lister import Lister

from heatconv.cli.base import CommandFailed, client_of, table, take_nested_depth, take_stack
from heatconv.client.http import Client, Json

_LISTED = ("resource_name", "hook", "resource_status_reason", "event_time", "stack_id")
_PAUSED = re.compile(r"\w+ paused until Hook (\S+) is cleared$")
_CLEARED = re.compile(r"Hook (\S+) is cleared$")
_BEGUN = re.compile(r"Stack \w+ started$")


class Poll(Lister):
    """List the resources that wait at a hook."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Take a stack."""
        parser = super().get_parser(prog_name)
        take_stack(parser)
        take_nested_depth(parser)
        return parser

    def take_action(self, args: argparse.Namespace) -> Any:
        """List them."""
        return table(_LISTED, waiting(client_of(self), args.stack, args.nested_depth))


class Clear(Command):
    """Let resources go on that wait at a hook."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Take a stack and names of resources."""
        parser = super().get_parser(prog_name)
        take_stack(parser)
        parser.add_argument(
            "resource", metavar="RESOURCE", nargs="+", help="name of a resource; * and ? stand for others"
        )
        take_nested_depth(parser)
        return parser

    def take_action(self, args: argparse.Namespace) -> None:
        """Clear the hook of each that was named."""
        client = client_of(self)
        found = waiting(client, args.stack, args.nested_depth)
        for pattern in args.resource:
            named = [one for one in found if fnmatchcase(one["resource_name"], pattern)]
            if not named:
                raise CommandFailed(f"No resource {pattern} of stack {args.stack} waits at a hook.")
            for one in named:
                details = {"unset_hook": one["hook"]}
                client.signal_resource(one["stack_id"], one["resource_name"], details)


def waiting(client: Client, stack: str, nested_depth: int | None) -> list[Json]:
    """Return the events that tell of resources which wait still, with ``hook`` and ``stack_id`` added."""
    return _waiting(client.list_events(stack, {"sort_dir": "asc", "nested_depth": nested_depth}))


def _waiting(events: Iterable[Json]) -> list[Json]:
    found: dict[tuple[str, str, str], Json] = {}
    for event in events:
        stack_id, name = _stack_of(event), event["resource_name"]
        reason = event["resource_status_reason"] or ""
        if paused := _PAUSED.match(reason):
            found[stack_id, name, paused[1]] = event | {"hook": paused[1], "stack_id": stack_id}
        elif cleared := _CLEARED.match(reason):
            found.pop((stack_id, name, cleared[1]), None)
        elif event["physical_resource_id"] == stack_id and _BEGUN.match(reason):
            # What waited in the traversal before this one is asked again, or is not wanted any more.
            found = {key: value for key, value in found.items() if key[0] != stack_id}
    return list(found.values())


def _stack_of(event: Json) -> str:
    """Return the id of the stack that an event is of, which may be nested."""
    return next(str(link["href"]).rsplit("/", 1)[1] for link in event["links"] if link["rel"] == "stack")
