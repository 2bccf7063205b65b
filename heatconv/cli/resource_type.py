# SPDX-License-Identifier: Apache-2.0
"""``resource type list`` and ``resource type show``."""

from __future__ import annotations

import argparse
from typing import Any

from cliff.lister import Lister

from heatconv.cli.base import Document, client_of, document, row, table

_TYPE = ("resource_type", "properties", "attributes", "support_status")


class List(Lister):
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


class Show(Document):
    """Show the properties and attributes of a resource type."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Take a type."""
        parser = super().get_parser(prog_name)
        parser.add_argument("type", metavar="TYPE", help="name of the type, such as OS::Heat::Value")
        parser.add_argument(
            "--template-type",
            choices=("hot", "cfn"),
            help="rather a template that passes on all that the type takes and gives",
        )
        return parser

    def take_action(self, args: argparse.Namespace) -> Any:
        """Show it, or the template."""
        client = client_of(self)
        if args.template_type:
            return document(client.get_type_template(args.type, args.template_type))
        return _TYPE, row(_TYPE, client.show_resource_type(args.type))
