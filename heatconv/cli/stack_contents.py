# SPDX-License-Identifier: Apache-2.0
"""``stack output``, ``template``, ``environment``, ``file``: what a stack gives, and was made of."""

from __future__ import annotations

import argparse
from typing import Any

from cliff.lister import Lister
from cliff.show import ShowOne

from heatconv.cli.base import Document, client_of, document, row, table, take_stack

_OUTPUT = ("output_key", "output_value", "description")


def _columns(outputs: list[dict[str, Any]]) -> tuple[str, ...]:
    return (*_OUTPUT, "output_error") if any(one.get("output_error") for one in outputs) else _OUTPUT


class OutputList(Lister):
    """List the outputs of a stack with their values."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Take a stack."""
        parser = super().get_parser(prog_name)
        take_stack(parser)
        return parser

    def take_action(self, args: argparse.Namespace) -> Any:
        """List them."""
        outputs = client_of(self).show_stack(args.stack)["outputs"]
        return table(_columns(outputs), outputs)


class OutputShow(ShowOne):
    """Show one output of a stack."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Take a stack and an output."""
        parser = super().get_parser(prog_name)
        take_stack(parser)
        parser.add_argument("key", metavar="KEY", help="name of the output")
        return parser

    def take_action(self, args: argparse.Namespace) -> Any:
        """Show it."""
        output = client_of(self).show_output(args.stack, args.key)
        columns = _columns([output])
        return columns, row(columns, output)


class _Contents(Document):
    """Something a stack was made of."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Take a stack."""
        parser = super().get_parser(prog_name)
        take_stack(parser)
        return parser


class TemplateShow(_Contents):
    """Show the template of a stack."""

    def take_action(self, args: argparse.Namespace) -> Any:
        """Show it."""
        return document(client_of(self).get_template(args.stack))


class EnvironmentShow(_Contents):
    """Show the environment of a stack, those given in files merged."""

    def take_action(self, args: argparse.Namespace) -> Any:
        """Show it."""
        return document(client_of(self).get_environment(args.stack))


class FileList(_Contents):
    """Show the files of a stack: each name with what is in it."""

    def take_action(self, args: argparse.Namespace) -> Any:
        """Show them."""
        return document(client_of(self).get_files(args.stack))
