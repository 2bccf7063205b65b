# SPDX-License-Identifier: Apache-2.0
"""``stack plan`` and ``apply``: what would be done to a stack, and to have just that done."""

from __future__ import annotations

import argparse
import functools
import sys
from typing import Any, NoReturn

from cliff.command import Command
from cliff.show import ShowOne

from heatconv.cli import plan_json, plan_text, request
from heatconv.cli.base import CommandFailed, client_of, row
from heatconv.cli.plan_facts import plain
from heatconv.cli.plan_view import View, add_view, viewed
from heatconv.cli.progress import follow
from heatconv.cli.tail import EventTail
from heatconv.client.http import ClientError, Json

NOTHING, CHANGES, ERROR = 0, 2, 1  #: exit codes of ``stack plan``

_APPLIED = ("id", "stack_name", "stack_status", "stack_status_reason")


class Plan(Command):
    """Show what creating, updating, rolling back or deleting a stack would do, and keep that as a plan.

    The exit code is 0 if nothing would change, 2 if something would or might, 1 if there is no plan,
    or one that breaks a rule.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Take a stack, what is to become of it, and how that is shown."""
        parser = super().get_parser(prog_name)
        # 2 is what argparse ends with, which would mean that there are changes.
        parser.error = functools.partial(_refuse, parser)  # type: ignore[method-assign]  # cliff makes the parser
        parser.add_argument("name", metavar="NAME", help="name of a new stack, or name or id of one that is")
        action = parser.add_mutually_exclusive_group()
        for name, what in (
            ("create", "a new stack, even if there is one of that name"),
            ("rollback", "back to the last template that was completely there"),
            ("delete", "delete the stack"),
        ):
            action.add_argument(f"--{name}", dest="action", action="store_const", const=name, help=what)
        request.add_source(parser, template_required=False)
        request.add_options(parser)
        request.add_existing(parser)
        parser.add_argument(
            "--refresh", action="store_true", help="look at what the plan touches, as it really is now"
        )
        parser.add_argument(
            "--allow",
            choices=("update", "replace"),
            action="append",
            default=[],
            help="let resources be updated, or replaced, of which the plan does not say it (may be repeated)",
        )
        add_view(parser)
        return parser

    def take_action(self, args: argparse.Namespace) -> int:
        """Ask for the plan, and show it."""
        with viewed(self, args) as view:
            plan = self._ask(args, view)
            view.show(plan)
        refuse_broken(plan)
        return CHANGES if plan_text.changes_anything(plan["summary"]) else NOTHING

    def _ask(self, args: argparse.Namespace, view: View) -> Json:
        """Return a plan for a stack that is there, or for a new one."""
        client = client_of(self)
        if args.action == "create":
            return client.plan_create({"stack_name": args.name, **request.body(args)}, each=view.add)
        try:
            return client.plan_change(args.name, _change(args), each=view.add)
        except ClientError as error:
            if error.status != 404 or args.action or args.existing:
                raise
        return client.plan_create({"stack_name": args.name, **request.body(args)}, each=view.add)


def _change(args: argparse.Namespace) -> Json:
    """Return a request's body: what is to be done, and what with."""
    body: Json = {"action": args.action or "update"}
    if args.refresh:
        body["refresh"] = True
    if args.allow:
        body["allow"] = args.allow
    if body["action"] != "update":
        if args.template or args.environment or args.parameter or args.parameter_file or args.existing:
            raise CommandFailed(f"--{args.action} goes without template, environment and parameters.")
        return body
    return body | {"existing": args.existing} | request.update_body(args)


def _refuse(parser: argparse.ArgumentParser, message: str) -> NoReturn:
    parser.print_usage(sys.stderr)
    parser.exit(ERROR, f"{parser.prog}: error: {message}\n")


def refuse_broken(plan: Json) -> None:
    """Refuse a plan that cannot be applied.

    Raises:
        CommandFailed: it breaks a rule.
    """
    if plan["guards"]:
        rules = ", ".join(dict.fromkeys(plain(guard["rule"]) for guard in plan["guards"]))
        raise CommandFailed(f"Plan {plan['id']} cannot be applied: it breaks {rules}.")


def apply(command: Command, plan: Json, *, wait: bool, poll: float) -> str:
    """Have done what a plan says, see it through if ``wait``, and return the id of the stack.

    Raises:
        ClientError: the plan does not hold any more.
        CommandFailed: it did not come to the end that was asked for.
    """
    client = client_of(command)
    there = plan["stack"]["id"]
    before = EventTail(client, there, from_now=wait) if there else None
    stack_id = client.apply_plan(plan["id"])
    if wait:
        stack = {"id": stack_id, "stack_name": plan["stack"]["name"]}
        follow(command, stack, before or EventTail(client, stack_id), plan["action"].upper(), poll)
    return stack_id


class Apply(ShowOne):
    """Do what a plan says, and nothing else; refused if what it goes by has changed."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Take a plan."""
        parser = super().get_parser(prog_name)
        parser.add_argument("plan", metavar="PLAN", help="id of a plan, or a file that --out has written")
        request.add_wait(parser)
        return parser

    def take_action(self, args: argparse.Namespace) -> Any:
        """Apply it; with ``--wait``, see it through."""
        client = client_of(self)
        plan = client.look_at_plan(plan_json.identify(args.plan))
        stack_id = apply(self, plan, wait=args.wait, poll=args.poll)
        try:
            stack = client.show_stack(stack_id, resolve_outputs=False)
        except ClientError as error:
            if error.status != 404:
                raise
            gone = {"stack_status": "DELETE_COMPLETE", "stack_status_reason": ""}
            stack = {"id": stack_id, "stack_name": plan["stack"]["name"], **gone}
        return _APPLIED, row(_APPLIED, stack)
