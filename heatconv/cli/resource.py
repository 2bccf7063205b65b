# SPDX-License-Identifier: Apache-2.0
"""``resource list``, ``resource show``, ``resource type list``, ``resource type show``."""

from __future__ import annotations

import argparse
from typing import Any

from cliff.lister import Lister
from cliff.show import ShowOne

from heatconv.cli.base import client_of, row, table

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
    "creation_time",
    "updated_time",
)
_TYPE = ("resource_type", "properties", "attributes", "support_status")


class List(Lister):
    """List the resources of a stack."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Take a stack."""
        parser = super().get_parser(prog_name)
        parser.add_argument("stack", metavar="STACK", help="name or id of the stack")
        return parser

    def take_action(self, args: argparse.Namespace) -> Any:
        """List them."""
        return table(_LISTED, client_of(self).list_resources(args.stack))


class Show(ShowOne):
    """Show a resource of a stack."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Take a stack and a resource."""
        parser = super().get_parser(prog_name)
        parser.add_argument("stack", metavar="STACK", help="name or id of the stack")
        parser.add_argument("resource", metavar="RESOURCE", help="name of the resource")
        parser.add_argument(
            "--attribute", metavar="NAME", action="append", help="one more attribute (may be repeated)"
        )
        return parser

    def take_action(self, args: argparse.Namespace) -> Any:
        """Show it."""
        shown = client_of(self).show_resource(args.stack, args.resource, args.attribute)
        return _SHOWN, row(_SHOWN, shown)


class TypeList(Lister):
    """List the types of resources that templates may use."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Take a filter."""
        parser = super().get_parser(prog_name)
        parser.add_argument("--name", metavar="REGEX", help="types whose name begins so")
        return parser

    def take_action(self, args: argparse.Namespace) -> Any:
        """List them."""
        return table(
            ("resource_type", "description"), client_of(self).list_resource_types({"name": args.name})
        )


class TypeShow(ShowOne):
    """Show the properties and attributes of a resource type."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Take a type."""
        parser = super().get_parser(prog_name)
        parser.add_argument("type", metavar="TYPE", help="name of the type, such as OS::Heat::Value")
        return parser

    def take_action(self, args: argparse.Namespace) -> Any:
        """Show it."""
        return _TYPE, row(_TYPE, client_of(self).show_resource_type(args.type))
