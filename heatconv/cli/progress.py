# SPDX-License-Identifier: Apache-2.0
"""Waiting for a stack, and showing what it does meanwhile.

On a terminal: a bar of the nodes done in the current phase, with what is being
done, and each failure as it comes.  Elsewhere: the events, one a line.  Either
goes to standard error: standard output is for the result.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol, TextIO

from cliff.command import Command
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
)

from heatconv.cli import tail
from heatconv.cli.base import CommandFailed, client_of
from heatconv.client.http import Client, ClientError, Json

PHASES = {"PREPARE": "(preparing)", "UPDATE": "(making)", "GC": "(cleaning up)"}
_NAMES_SHOWN = 4


class Display(Protocol):
    """Somewhere to show how a stack gets on."""

    def update(self, stack: Json, events: list[Json]) -> None:
        """Show the stack as it is now and what happened since the last time."""


def wait(client: Client, stack: str, events: tail.EventTail, display: Display, poll: float) -> Json:
    """Return a stack, named as NAME/ID, once nothing is in progress.

    A stack that has vanished is DELETE_COMPLETE.
    """
    while True:
        try:
            # Whatever becomes of a stack leaves an event.
            happened = events.follow(poll)
            shown = client.show_stack(stack, resolve_outputs=False)
            is_over = not shown["stack_status"].endswith("IN_PROGRESS")
            happened += events.read() if is_over else []
        except ClientError as error:
            if error.status != 404:
                raise
            return {"stack_status": "DELETE_COMPLETE", "stack_status_reason": ""}
        display.update(shown, happened)
        if is_over:
            return shown


def follow(command: Command, stack: Json, events: tail.EventTail, action: str, poll: float) -> None:
    """Show how a stack gets on until an action ends.

    Raises:
        CommandFailed: it is not the end that was asked for.
    """
    with display_on(command.app.stdout, command.app.stderr) as display:
        whole = f"{stack['stack_name']}/{stack['id']}"
        end = wait(client_of(command), whole, events, display, poll)
    if end["stack_status"] != f"{action}_COMPLETE":
        raise CommandFailed(
            f"Stack {stack['stack_name']} did not reach {action}_COMPLETE, it is {end['stack_status']}: "
            f"{end['stack_status_reason']}"
        )


@contextmanager
def display_on(stdout: TextIO, stderr: TextIO) -> Iterator[Display]:
    """Yield the display that suits where the output goes."""
    console = Console(file=stderr, highlight=False, soft_wrap=True)
    if not (stdout.isatty() and stderr.isatty()):
        yield Lines(console)
        return
    columns = (
        SpinnerColumn(),
        TextColumn("[bold]{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[now]}", markup=False),
    )
    with Progress(*columns, console=console) as progress:
        yield Bar(progress)


class Lines:
    """Every event on a line of its own."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def update(self, _stack: Json, events: list[Json]) -> None:
        """Print the events."""
        for event in events:
            self._console.print(tail.line(event))


class Bar:
    """A bar for the phase the stack is in, failures above it."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._task = progress.add_task("", total=None, now="")
        self._running: dict[str, str] = {}
        self._count = 0, 0

    def update(self, stack: Json, events: list[Json]) -> None:
        """Move the bar, and print what failed."""
        for event in events:
            self._note(stack, event)
        if stack["stack_status"].endswith("IN_PROGRESS"):
            # At the end there is no phase to count in: the last count stays.
            self._count = stack["progress"]["done"], stack["progress"]["total"]
        elif stack["stack_status"].endswith("COMPLETE"):
            self._count = self._count[1], self._count[1]
        names = list(self._running)
        more = f" and {len(names) - _NAMES_SHOWN} more" if len(names) > _NAMES_SHOWN else ""
        self._progress.update(
            self._task,
            description=f"{stack['stack_name']} {stack['stack_status']} {PHASES.get(stack['phase'], '')}",
            completed=self._count[0],
            total=self._count[1],
            now=", ".join(f"{self._running[name]} {name}" for name in names[:_NAMES_SHOWN]) + more,
        )

    def _note(self, stack: Json, event: Json) -> None:
        name, state = event["resource_name"], event["resource_status"]
        if event["physical_resource_id"] == stack["id"]:
            return
        if state.endswith("_IN_PROGRESS"):
            self._running[name] = state.removesuffix("_IN_PROGRESS")
        else:
            self._running.pop(name, None)
        if state.endswith("_FAILED"):
            self._progress.console.print(tail.line(event))
