# SPDX-License-Identifier: Apache-2.0
"""``stack`` and ``resource observe``, ``drift``, ``converge``, and ``drift note``: what is really there."""

from __future__ import annotations

import argparse
from typing import Any

from cliff.command import Command
from cliff.lister import Lister

from heatconv.cli.base import client_of, table, take_resource, take_stack
from heatconv.client.http import Json

_DRIFTED = ("resource_name", "kind", "reason", "since", "left_alone", "physical_resource_id")
_DIFFERENCES = ("property", "wanted", "observed")


class StackDrift(Lister):
    """List what is known to have drifted in a stack, and in those nested in it."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Take a stack."""
        parser = super().get_parser(prog_name)
        take_stack(parser)
        return parser

    def take_action(self, args: argparse.Namespace) -> Any:
        """List them."""
        drift = self.ask(args.stack)
        seen = (
            f"looked at whole at {drift['observed_at']}" if drift["observed_at"] else "never looked at whole"
        )
        since = f" since {drift['since']}" if drift["since"] else ""
        _say(self, f"{args.stack} is {drift['status']}{since}; {seen}; its policy is {drift['policy']}")
        return table(_DRIFTED, drift["resources"])

    def ask(self, stack: str) -> Json:
        """Return what is known."""
        return client_of(self).show_drift(stack)


class StackObserve(StackDrift):
    """Look at what a stack really is now, and list what has drifted."""

    def ask(self, stack: str) -> Json:
        """Return what is seen."""
        return client_of(self).observe(stack)


class ResourceDrift(Lister):
    """List the properties of a resource that are not as they were made."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Take a resource."""
        parser = super().get_parser(prog_name)
        take_resource(parser)
        return parser

    def take_action(self, args: argparse.Namespace) -> Any:
        """List them."""
        drifted = self.ask(args.stack, args.resource)["resources"]
        if not drifted:
            _say(self, f"{args.resource} is not known to have drifted")
            return table(_DIFFERENCES, [])
        _say(
            self,
            f"{args.resource} is {drifted[0]['kind']} since {drifted[0]['since']}: {drifted[0]['reason']}",
        )
        return table(_DIFFERENCES, drifted[0]["differences"])

    def ask(self, stack: str, resource: str) -> Json:
        """Return what is known."""
        return client_of(self).show_drift(stack, resource)


class ResourceObserve(ResourceDrift):
    """Look at what a resource really is now, and list the properties that are not as they were made."""

    def ask(self, stack: str, resource: str) -> Json:
        """Return what is seen."""
        return client_of(self).observe(stack, resource)


class ResourceConverge(Command):
    """Put a resource right that has drifted, and what depends on it."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Take a resource."""
        parser = super().get_parser(prog_name)
        take_resource(parser)
        return parser

    def take_action(self, args: argparse.Namespace) -> None:
        """Send the request."""
        client_of(self).converge(args.stack, args.resource)


class DriftNote(Command):
    """Tell that something has happened to things, so that the stacks which made them are looked at there."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Take physical ids."""
        parser = super().get_parser(prog_name)
        parser.add_argument(
            "physical_ids", metavar="PHYSICAL_ID", nargs="+", help="id of a thing in its service"
        )
        parser.add_argument(
            "--all-projects", action="store_true", help="whichever project's stack has made them"
        )
        return parser

    def take_action(self, args: argparse.Namespace) -> None:
        """Send the request."""
        taken_up = client_of(self).note_change(args.physical_ids, all_projects=args.all_projects)
        _say(self, f"{taken_up} of {len(args.physical_ids)} are looked at")


def _say(command: Command, sentence: str) -> None:
    """Tell humans, beside the table, what is true of all of it."""
    command.app.stderr.write(f"{sentence}.\n")
