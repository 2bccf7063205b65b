# SPDX-License-Identifier: Apache-2.0
"""``resource list``, ``show``, ``metadata``, ``signal``, ``mark unhealthy``."""

from __future__ import annotations

import argparse
from typing import Any

from cliff.command import Command
from cliff.lister import Lister
from cliff.show import ShowOne

from heatconv.cli.base import (
    Document,
    client_of,
    document,
    json_object,
    row,
    table,
    take_nested_depth,
    take_resource,
    take_stack,
)
from heatconv.client import source

_LISTED = ("resource_name", "physical_resource_id", "resource_type", "resource_status", "updated_time")
_SHOWN = (
    "resource_name",
    "description",
    "resource_type",
    "physical_resource_id",
    "resource_status",
    "resource_status_reason",
    "required_by",
    "attributes",
    "drift",
    "creation_time",
    "updated_time",
)


class List(Lister):
    """List the resources of a stack."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Take a stack and filters."""
        parser = super().get_parser(prog_name)
        take_stack(parser)
        take_nested_depth(parser)
        parser.add_argument(
            "--all",
            action="store_true",
            help="what was replaced or is not wanted any more, too, until it is cleared away",
        )
        parser.add_argument("--type", metavar="TYPE", help="those of one type only")
        parser.add_argument("--status", metavar="STATUS", help="FAILED, COMPLETE or IN_PROGRESS ones only")
        return parser

    def take_action(self, args: argparse.Namespace) -> Any:
        """List them."""
        query = {"nested_depth": args.nested_depth, "type": args.type, "status": args.status}
        columns = _LISTED if args.nested_depth is None else (*_LISTED, "parent_resource")
        if args.all:
            query["all"] = "true"
            columns = (*columns, "version", "wanted", "replaced_by")
        return table(columns, client_of(self).list_resources(args.stack, query))


class Show(ShowOne):
    """Show a resource of a stack."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Take a stack and a resource."""
        parser = super().get_parser(prog_name)
        take_resource(parser)
        parser.add_argument(
            "--attribute", metavar="NAME", action="append", help="one more attribute (may be repeated)"
        )
        return parser

    def take_action(self, args: argparse.Namespace) -> Any:
        """Show it."""
        shown = client_of(self).show_resource(args.stack, args.resource, args.attribute)
        return _SHOWN, row(_SHOWN, shown)


class Metadata(Document):
    """Show the metadata of a resource."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Take a resource."""
        parser = super().get_parser(prog_name)
        take_resource(parser)
        return parser

    def take_action(self, args: argparse.Namespace) -> Any:
        """Show it."""
        return document(client_of(self).show_metadata(args.stack, args.resource))


class Signal(Command):
    """Tell a resource something, such as that what a wait condition waits for is there."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Take a resource and what to tell it."""
        parser = super().get_parser(prog_name)
        take_resource(parser)
        data = parser.add_mutually_exclusive_group()
        data.add_argument(
            "--data", metavar="JSON", type=json_object, default={}, help="what to tell it, a JSON object"
        )
        data.add_argument("--data-file", metavar="FILE", help="a file, or a URL, that has it")
        return parser

    def take_action(self, args: argparse.Namespace) -> None:
        """Tell it."""
        details = source.read_map(args.data_file) if args.data_file else args.data
        client_of(self).signal_resource(args.stack, args.resource, details)


class MarkUnhealthy(Command):
    """Have the next update replace a resource, or take that back."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Take a resource and a reason."""
        parser = super().get_parser(prog_name)
        take_resource(parser)
        parser.add_argument("reason", metavar="REASON", nargs="?", default="", help="what is wrong with it")
        parser.add_argument("--reset", action="store_true", help="it is healthy after all")
        return parser

    def take_action(self, args: argparse.Namespace) -> None:
        """Mark it."""
        client_of(self).mark_resource(args.stack, args.resource, unhealthy=not args.reset, reason=args.reason)
