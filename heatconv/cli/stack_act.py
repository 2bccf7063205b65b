# SPDX-License-Identifier: Apache-2.0
"""``stack delete``, ``check``, ``suspend``, ``resume``, ``converge``, ``rollback``, ``cancel``."""

from __future__ import annotations

import argparse

from cliff.command import Command

from heatconv.cli import request
from heatconv.cli.base import client_of, take_stack
from heatconv.cli.progress import follow
from heatconv.cli.tail import EventTail


class _Act(Command):
    """What is asked of stacks that exist."""

    ACTION = ""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Take stacks."""
        parser = super().get_parser(prog_name)
        parser.add_argument("stack", metavar="STACK", nargs="+", help="name or id of a stack")
        request.add_wait(parser)
        return parser

    def take_action(self, args: argparse.Namespace) -> None:
        """Ask, once each stack is known to exist; with ``--wait``, see it through."""
        client = client_of(self)
        stacks = [client.show_stack(stack, resolve_outputs=False) for stack in args.stack]
        tails = [EventTail(client, stack["id"], from_now=args.wait) for stack in stacks]
        for stack in stacks:
            self.ask(stack["id"])
        if args.wait:
            for stack, events in zip(stacks, tails, strict=True):
                follow(self, stack, events, self.ACTION, args.poll)

    def ask(self, stack_id: str) -> None:
        """Send the request."""
        client_of(self).act(stack_id, self.ACTION.lower())


class Delete(_Act):
    """Delete stacks, whatever they are doing now."""

    ACTION = "DELETE"

    def ask(self, stack_id: str) -> None:
        """Send the request."""
        client_of(self).delete_stack(stack_id)


class Check(_Act):
    """Find out whether what stacks consist of is still there and well."""

    ACTION = "CHECK"


class Suspend(_Act):
    """Suspend what stacks consist of."""

    ACTION = "SUSPEND"


class Resume(_Act):
    """Wake what was suspended."""

    ACTION = "RESUME"


class Converge(_Act):
    """Put right what has drifted, whatever the policy of the stacks is."""

    ACTION = "UPDATE"

    def ask(self, stack_id: str) -> None:
        """Send the request."""
        client_of(self).converge(stack_id)


class Rollback(_Act):
    """Bring stacks back to the last template that was completely there."""

    ACTION = "ROLLBACK"


class Cancel(Command):
    """Stop the update that runs and roll it back, or stop whatever creates or updates."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Take a stack."""
        parser = super().get_parser(prog_name)
        take_stack(parser)
        parser.add_argument("--no-rollback", action="store_true", help="leave everything as it is")
        return parser

    def take_action(self, args: argparse.Namespace) -> None:
        """Send the request."""
        action = "cancel_without_rollback" if args.no_rollback else "cancel_update"
        client_of(self).act(args.stack, action)
