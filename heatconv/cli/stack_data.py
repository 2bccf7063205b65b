# SPDX-License-Identifier: Apache-2.0
"""``stack abandon``, ``export``, ``adopt``: stacks that move, as data, from one service to another."""

from __future__ import annotations

import argparse
import json
from contextlib import ExitStack
from typing import Any

from cliff.command import Command
from cliff.show import ShowOne

from heatconv.cli import request
from heatconv.cli.base import client_of, opened, row, take_stack
from heatconv.cli.progress import follow
from heatconv.cli.stack_read import SHOWN
from heatconv.cli.tail import EventTail
from heatconv.client import source
from heatconv.client.http import Json


class _Data(Command):
    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Take a stack and a place for its data."""
        parser = super().get_parser(prog_name)
        take_stack(parser)
        parser.add_argument("--output-file", metavar="FILE", help="where to write it, instead of here")
        return parser

    def take_action(self, args: argparse.Namespace) -> None:
        """Write the data as JSON."""
        with ExitStack() as until:
            # Opened first: data that cannot be written would be lost once the stack is.
            out = until.enter_context(opened(args.output_file)) if args.output_file else self.app.stdout
            json.dump(self.data(args.stack), out, indent=2)
            out.write("\n")

    def data(self, stack: str) -> Json:
        """Return what is to be written."""
        raise NotImplementedError


class Abandon(_Data):
    """Forget a stack, leave what it consists of alone, and print what it takes to adopt it."""

    def data(self, stack: str) -> Json:
        """Return what is to be written."""
        return client_of(self).abandon_stack(stack)


class Export(_Data):
    """Print what 'stack abandon' would, and change nothing."""

    def data(self, stack: str) -> Json:
        """Return what is to be written."""
        return client_of(self).export_stack(stack)


class Adopt(ShowOne):
    """Create a stack out of what is there already."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Take a name and the data."""
        parser = super().get_parser(prog_name)
        parser.add_argument("name", metavar="NAME", help="name of the new stack")
        parser.add_argument(
            "--adopt-file",
            metavar="FILE",
            required=True,
            help="what 'stack abandon' or 'stack export' printed, a file or a URL",
        )
        request.add_source(parser, template=False)
        request.add_options(parser)
        request.add_wait(parser)
        return parser

    def take_action(self, args: argparse.Namespace) -> Any:
        """Create it; with ``--wait``, see it through."""
        client = client_of(self)
        data = source.read_map(args.adopt_file)
        body = request.body(args) | {"stack_name": args.name, "adopt_stack_data": json.dumps(data)}
        stack_id = client.create_stack(body)
        if args.wait:
            stack = {"id": stack_id, "stack_name": args.name}
            follow(self, stack, EventTail(client, stack_id), "ADOPT", args.poll)
        return SHOWN, row(SHOWN, client.show_stack(stack_id))
