# SPDX-License-Identifier: Apache-2.0
"""``snapshot create``, ``list``, ``show``, ``restore``, ``delete``."""

from __future__ import annotations

import argparse
from typing import Any

from cliff.command import Command
from cliff.lister import Lister
from cliff.show import ShowOne

from heatconv.cli import request
from heatconv.cli.base import Document, client_of, document, row, table, take_stack
from heatconv.cli.progress import follow
from heatconv.cli.tail import EventTail

_LISTED = ("id", "name", "status", "status_reason", "creation_time")


def _take_snapshot(parser: argparse.ArgumentParser) -> None:
    take_stack(parser)
    parser.add_argument("snapshot", metavar="SNAPSHOT", help="id of the snapshot")


class Create(ShowOne):
    """Take a snapshot of a stack: of what it is, and of what its resources can keep."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Take a stack and a name."""
        parser = super().get_parser(prog_name)
        take_stack(parser)
        parser.add_argument("--name", metavar="NAME", help="name of the snapshot")
        request.add_wait(parser)
        return parser

    def take_action(self, args: argparse.Namespace) -> Any:
        """Take it; with ``--wait``, see it through."""
        client = client_of(self)
        stack = client.show_stack(args.stack, resolve_outputs=False)
        events = EventTail(client, stack["id"], from_now=args.wait)
        made = client.create_snapshot(stack["id"], args.name)
        if args.wait:
            follow(self, stack, events, "SNAPSHOT", args.poll)
            made = client.show_snapshot(stack["id"], made["id"])
        return _LISTED, row(_LISTED, made)


class List(Lister):
    """List the snapshots of a stack."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Take a stack."""
        parser = super().get_parser(prog_name)
        take_stack(parser)
        return parser

    def take_action(self, args: argparse.Namespace) -> Any:
        """List them."""
        return table(_LISTED, client_of(self).list_snapshots(args.stack))


class Show(Document):
    """Show a snapshot with what it holds."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Take a stack and a snapshot."""
        parser = super().get_parser(prog_name)
        _take_snapshot(parser)
        return parser

    def take_action(self, args: argparse.Namespace) -> Any:
        """Show it."""
        return document(client_of(self).show_snapshot(args.stack, args.snapshot))


class Restore(Command):
    """Bring a stack back to where it was when a snapshot was taken."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Take a stack and a snapshot."""
        parser = super().get_parser(prog_name)
        _take_snapshot(parser)
        request.add_wait(parser)
        return parser

    def take_action(self, args: argparse.Namespace) -> None:
        """Ask; with ``--wait``, see it through."""
        client = client_of(self)
        stack = client.show_stack(args.stack, resolve_outputs=False)
        events = EventTail(client, stack["id"], from_now=args.wait)
        client.restore_snapshot(stack["id"], args.snapshot)
        if args.wait:
            follow(self, stack, events, "RESTORE", args.poll)


class Delete(Command):
    """Delete a snapshot."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Take a stack and a snapshot."""
        parser = super().get_parser(prog_name)
        _take_snapshot(parser)
        return parser

    def take_action(self, args: argparse.Namespace) -> None:
        """Delete it."""
        client_of(self).delete_snapshot(args.stack, args.snapshot)
