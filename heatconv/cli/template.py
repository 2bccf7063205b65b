# SPDX-License-Identifier: Apache-2.0
"""``template validate``, ``template version list``, ``template function list``."""

from __future__ import annotations

import argparse
from typing import Any

from cliff.lister import Lister

from heatconv.cli import request
from heatconv.cli.base import Document, client_of, document, table


class Validate(Document):
    """Say what a template takes, or what is wrong with it."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Take a template and environments."""
        parser = super().get_parser(prog_name)
        request.add_source(parser)
        parser.add_argument(
            "--show-nested", action="store_true", help="say what the templates nested in it take, too"
        )
        return parser

    def take_action(self, args: argparse.Namespace) -> Any:
        """Validate it."""
        return document(client_of(self).validate(request.source_body(args), show_nested=args.show_nested))


class VersionList(Lister):
    """List the versions that templates may name."""

    def take_action(self, _args: argparse.Namespace) -> Any:
        """List them."""
        return table(("version", "type", "aliases"), client_of(self).list_template_versions())


class FunctionList(Lister):
    """List the functions of a template version."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Take a version."""
        parser = super().get_parser(prog_name)
        parser.add_argument(
            "version", metavar="VERSION", help="a version, such as heat_template_version.2018-08-31"
        )
        parser.add_argument("--conditions", action="store_true", help="those of conditions, too")
        return parser

    def take_action(self, args: argparse.Namespace) -> Any:
        """List them."""
        found = client_of(self).list_template_functions(args.version, with_conditions=args.conditions)
        return table(("functions", "description"), found)
