# SPDX-License-Identifier: Apache-2.0
"""``stack create``, ``update``, ``preview``: what stacks are to be."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from cliff.command import Command
from cliff.lister import Lister
from cliff.show import ShowOne

from heatconv.cli import request
from heatconv.cli.base import CommandFailed, client_of, row, table, take_stack
from heatconv.cli.plan_view import View
from heatconv.cli.progress import follow
from heatconv.cli.stack_plan import apply, refuse_broken
from heatconv.cli.stack_read import SHOWN
from heatconv.cli.tail import EventTail
from heatconv.client.http import ClientError, Json


def _shown(command: Command, stack: str) -> tuple[tuple[str, ...], tuple[Any, ...]]:
    return SHOWN, row(SHOWN, client_of(command).show_stack(stack))


class Create(ShowOne):
    """Create a stack."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Take a name and all that describes a stack."""
        parser = super().get_parser(prog_name)
        parser.add_argument("name", metavar="NAME", help="name of the new stack")
        request.add_source(parser)
        request.add_options(parser)
        request.add_hook(parser, "pre-create")
        request.add_wait(parser)
        return parser

    def take_action(self, args: argparse.Namespace) -> Any:
        """Create it; with ``--wait``, see it through."""
        client = client_of(self)
        stack_id = client.create_stack({"stack_name": args.name, **request.body(args)})
        if args.wait:
            stack = {"id": stack_id, "stack_name": args.name}
            follow(self, stack, EventTail(client, stack_id), "CREATE", args.poll)
        return _shown(self, stack_id)


class Update(ShowOne):
    """Make a stack match a template and parameters, whatever it is doing now."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Take a stack and all that describes one."""
        parser = super().get_parser(prog_name)
        take_stack(parser)
        request.add_source(parser, template_required=False)
        request.add_options(parser)
        request.add_hook(parser, "pre-update")
        request.add_existing(parser)
        parser.add_argument(
            "--converge",
            action="store_true",
            help="look at what is really there, and set right what has drifted",
        )
        parser.add_argument(
            "--plan", action="store_true", help="show what would be done, and ask whether to do it"
        )
        request.add_wait(parser)
        return parser

    def take_action(self, args: argparse.Namespace) -> Any:
        """Update it; with ``--wait``, see it through."""
        client = client_of(self)
        if args.plan:
            plan = self._reviewed(args)
            return _shown(self, apply(self, plan, wait=args.wait, poll=args.poll))
        stack = client.show_stack(args.stack, resolve_outputs=False)
        events = EventTail(client, stack["id"], from_now=args.wait)
        body = request.update_body(args) | ({"converge": True} if args.converge else {})
        client.update_stack(stack["id"], body, existing=args.existing)
        if args.wait:
            follow(self, stack, events, "UPDATE", args.poll)
        return _shown(self, stack["id"])

    def _reviewed(self, args: argparse.Namespace) -> Json:
        """Return the plan of an update, once the user has seen it and agrees.

        Raises:
            CommandFailed: the user does not, or it breaks a rule.
        """
        asked = {"action": "update", "existing": args.existing, "refresh": args.converge}
        # Standard output is for the result.
        view = View(self.app.stderr)
        plan = client_of(self).plan_change(args.stack, request.update_body(args) | asked, each=view.add)
        view.show(plan)
        refuse_broken(plan)
        self.app.stderr.write("Do that? [y/N] ")
        self.app.stderr.flush()
        if self.app.stdin.readline().strip().lower() not in {"y", "yes"}:
            raise CommandFailed(f"Nothing was done. To do it later: heatconv stack apply {plan['id']}")
        return plan


def _flat(resources: list[Any]) -> Iterator[Json]:
    """Yield the resources of a preview, whichever stack they are in."""
    for each in resources:
        if isinstance(each, list):
            yield from _flat(each)
        else:
            yield each


class Preview(Lister):
    """Show what creating or updating a stack would do, without doing it."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Take what ``create`` and ``update`` take."""
        parser = super().get_parser(prog_name)
        parser.add_argument("name", metavar="NAME", help="name of a new stack, or name or id of one that is")
        request.add_source(parser, template_required=False)
        request.add_options(parser)
        parser.add_argument("--existing", action="store_true", help="keep what is not given as it is")
        parser.add_argument(
            "--show-nested", action="store_true", help="tell what changes in nested stacks as well"
        )
        parser.set_defaults(clear_parameter=None)
        return parser

    def take_action(self, args: argparse.Namespace) -> Any:
        """List the resources by what would become of them."""
        columns = ("change", "resource_name", "resource_type", "physical_resource_id")
        try:
            changes = client_of(self).preview_update(
                args.name, request.update_body(args), existing=args.existing, show_nested=args.show_nested
            )
        except ClientError as error:
            if error.status != 404:
                raise
            body = {"stack_name": args.name, **request.body(args)}
            changes = {"added": list(_flat(client_of(self).preview_create(body)["resources"]))}
        rows = [{"change": change, **resource} for change, found in changes.items() for resource in found]
        return table(columns, rows)
