# SPDX-License-Identifier: Apache-2.0
"""``stack explain``: what a stack waits for, or why it failed."""

from __future__ import annotations

import argparse
import json

from cliff.command import Command
from rich.console import Console
from rich.markup import escape

from heatconv.cli.base import client_of, take_stack
from heatconv.client.http import Json


class Explain(Command):
    """Explain what a stack waits for, what happens next and what you can do; or why it failed."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Take a stack and a form."""
        parser = super().get_parser(prog_name)
        take_stack(parser)
        parser.add_argument(
            *("-f", "--format"),
            choices=("text", "json"),
            default="text",
            help="text (the default), or json for programs",
        )
        return parser

    def take_action(self, args: argparse.Namespace) -> None:
        """Print it."""
        explanation = client_of(self).explain_stack(args.stack)
        if args.format == "json":
            self.app.stdout.write(json.dumps(explanation, indent=2) + "\n")
            return
        console = Console(file=self.app.stdout, highlight=False, soft_wrap=True)
        for paragraph in paragraphs(explanation):
            console.print(paragraph)


def paragraphs(explanation: Json) -> list[str]:
    """Return an explanation as text with marks for the console, a paragraph each."""
    stack = explanation["stack"]["name"]
    lines = [escape(explanation["sentence"])]
    if explanation["deadline"]:
        lines.append(f"It times out at {explanation['deadline']}.")
    lines += [_wait(wait, stack) for wait in explanation["waits"]]
    lines += [_failure(failure) for failure in explanation["failures"]]
    if explanation["more"]:
        lines.append("There are more like these.")
    return lines


def _wait(wait: Json, stack: str) -> str:
    what = escape(f" ({wait['resource_type']})") if wait["resource_type"] else ""
    lines = [
        f"\n[bold]{escape(wait['path'] or stack)}[/bold]{what}: {wait['cause']} since {wait['since']}",
        f"  {escape(wait['sentence'])}",
        f"  Next: {escape(wait['next'])}",
    ]
    return "\n".join(lines + ([f"  You can: {escape(wait['advice'])}"] if wait["advice"] else []))


def _failure(failure: Json) -> str:
    known = f", {failure['physical_id']}" if failure["physical_id"] else ""
    what = f"{failure['resource_type']}{known}"
    return (
        f"\n[bold]{escape(failure['path'])}[/bold] ({escape(what)}): {failure['action']}_FAILED\n"
        f"  {escape(failure['reason'])}"
    )
