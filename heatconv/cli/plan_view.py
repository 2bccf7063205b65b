# SPDX-License-Identifier: Apache-2.0
"""Showing a plan while it arrives: as text, as a graph, as JSON, and into a file."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from typing import TextIO

from cliff.command import Command
from rich.console import Console

from heatconv.cli import graph_svg, graph_text, plan_graph, plan_text
from heatconv.cli.base import opened
from heatconv.cli.plan_json import PlanWriter
from heatconv.cli.plan_outline import Outline
from heatconv.client.http import Json


def add_view(parser: argparse.ArgumentParser) -> None:
    """Add the arguments for how a plan is shown."""
    parser.add_argument(
        "--format",
        choices=("text", "json", "svg", "dot"),
        default="text",
        help="text for a terminal (the default), json for programs, svg for a browser, dot for graphviz",
    )
    parser.add_argument(
        "--only",
        choices=("changes",),
        help="changes: leave out what is only looked at, and all reasons (not from JSON)",
    )
    parser.add_argument("--out", metavar="FILE", help="write the plan as JSON there, too, for 'stack apply'")


class View:
    """A plan that is shown once all of it is there; of its resources no more is kept than that takes."""

    def __init__(
        self, stdout: TextIO, *, form: str = "text", only_changes: bool = False, file: TextIO | None = None
    ) -> None:
        """Take where to show it, and a file to write it to as well."""
        self._stdout = stdout
        self._form = form
        self._outline = Outline(datetime.now(UTC), only_changes=only_changes)
        outs = [stdout] if form == "json" else []
        self._writers = [PlanWriter(out) for out in (*outs, *([file] if file else []))]

    def add(self, resource: Json) -> None:
        """Take the next resource."""
        if self._form != "json":
            self._outline.add(resource)
        for writer in self._writers:
            writer.add(resource)

    def show(self, plan: Json) -> None:
        """Show the plan, of which ``plan`` is all but the resources."""
        for writer in self._writers:
            writer.close(plan)
        title = f"{plan['action']} {plan['stack']['name']}"
        match self._form:
            case "text":
                console = Console(file=self._stdout, highlight=False, soft_wrap=True)
                for line in plan_text.lines(plan, self._outline):
                    console.print(line)
            case "svg":
                drawing = graph_svg.render(plan_graph.graph(self._outline), title, plan_graph.look_of)
                self._stdout.write(drawing)
            case "dot":
                self._stdout.write(graph_text.dot(plan_graph.graph(self._outline), title, plan_graph.look_of))


@contextmanager
def viewed(command: Command, args: argparse.Namespace) -> Iterator[View]:
    """Yield what shows a plan as the arguments say; the file is opened before anything is asked for."""
    with ExitStack() as until:
        file = until.enter_context(opened(args.out)) if args.out else None
        yield View(command.app.stdout, form=args.format, only_changes=bool(args.only), file=file)
