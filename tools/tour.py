# SPDX-License-Identifier: Apache-2.0
"""The parts of every tour: services that run for it, the ``heatconv`` program, and checks of the outcome.

After each step a tour asks the API whether what should be the case is.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.text import Text

from heatconv.client.http import Client, ClientError

TOP = Path(__file__).parents[1]
SOON = 30.0  #: seconds that what happens by itself may take
BRIEF = ("-c", "stack_status", "-c", "stack_status_reason")
GONE = 404


class NotAsExpectedError(Exception):
    """A step did not end as it should have."""


class Tour:
    """The steps, on a heatconv that runs at an endpoint."""

    def __init__(self, endpoint: str, console: Console) -> None:
        self._endpoint = endpoint
        self._console = console
        self._client = Client(endpoint)

    @property
    def page(self) -> str:
        """The address of the live page, in the tour's own project."""
        top, _, project = self._endpoint.partition("/v1/")
        return f"{top}/ui/#/{project}"

    def run(self) -> None:
        """Take every step in turn.

        Raises:
            NotAsExpectedError: one did not end as it should have.
        """
        raise NotImplementedError

    # -- what is done ------------------------------------------------------------------------

    def _title(self, text: str) -> None:
        self._console.print()
        self._console.rule(f"[bold]{text}", align="left", style="cyan")

    def _heatconv(self, *arguments: str, fails: bool = False) -> None:
        shown = " ".join(f"'{word}'" if " " in word else word for word in arguments)
        self._console.print(Text("$ ", "bold green"), Text(f"heatconv {shown}"), sep="", soft_wrap=True)
        command = [program("heatconv"), "--endpoint", self._endpoint, *arguments]
        done = subprocess.run(command, cwd=TOP, check=False)
        if bool(done.returncode) is not fails:
            raise NotAsExpectedError(f"`heatconv {shown}` ended with exit code {done.returncode}")

    def _look(self, stack: str) -> None:
        """Show a stack from all sides."""
        self._title("Look at it: the graph of what depends on what")
        self._heatconv("stack", "graph", stack)
        self._title("Its outputs")
        self._heatconv("stack", "output", "list", stack)

    def _look_back(self, stack: str) -> None:
        """Show what happened to a stack last."""
        self._title("The last things that happened")
        columns = ("-c", "event_time", "-c", "resource_name", "-c", "resource_status")
        self._heatconv("event", "list", stack, "--limit", "6", *columns)

    def _delete(self, stack: str) -> None:
        self._title("Delete: dependents first")
        self._heatconv("stack", "delete", stack, "--wait")
        self._expect(not self._is_there(stack), "the stack is gone")

    # -- what is the case --------------------------------------------------------------------

    def _expect_stack(self, stack: str, state: str, present: set[str], absent: set[str]) -> None:
        found = self._client.show_stack(stack)["stack_status"]
        self._expect(found == state, f"the stack is {state}", f"it is {found}")
        names = self._physical_ids(stack).keys()
        self._expect(present <= names and not absent & names, f"it has {len(names)} resources")

    def _expect(self, truth: object, claim: str, otherwise: str = "it is not so") -> None:
        if not truth:
            raise NotAsExpectedError(f"Expected that {claim}, but {otherwise}")
        self._console.print(f"[green]✓[/] {claim}")

    def _outputs(self, stack: str) -> Mapping[str, str]:
        outputs = self._client.show_stack(stack)["outputs"]
        return {item["output_key"]: item["output_value"] for item in outputs}

    def _physical_ids(self, stack: str) -> Mapping[str, str]:
        rows = self._client.list_resources(stack)
        return {row["resource_name"]: row["physical_resource_id"] for row in rows}

    def _is_there(self, stack: str) -> bool:
        try:
            self._client.show_stack(stack, resolve_outputs=False)
        except ClientError as answer:
            if answer.status == GONE:
                return False
            raise
        return True

    def _await_drift(self, stack: str, status: str) -> None:
        until(lambda: self._client.show_drift(stack)["status"] == status)


def until(holds: Callable[[], bool], patience: float = SOON) -> None:
    """Wait until something holds, or for as long as it may take; who relies on it asks again."""
    deadline = time.monotonic() + patience
    while not holds() and time.monotonic() < deadline:
        time.sleep(0.1)


def program(name: str) -> str:
    """Return where a program of ours is installed."""
    return str(Path(sys.executable).with_name(name))


@contextmanager
def running(
    name: str, command: Sequence[str], log: Path, environment: Mapping[str, str] | None = None
) -> Iterator[str]:
    """Run a service that says where it is up; yield that address.

    Ctrl-C is for the tour alone, which may have to clear up by what it runs.

    Raises:
        NotAsExpectedError: it did not start.
    """
    with (
        log.open("w") as errors,
        subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            cwd=TOP,
            env=os.environ | (environment or {}),
            start_new_session=True,
        ) as process,
    ):
        try:
            yield _address(process, name)
        except NotAsExpectedError as problem:
            said = "".join(log.read_text().splitlines(keepends=True)[-40:])
            raise NotAsExpectedError(f"{problem}\n\n{name} said:\n{said}") from None
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()


def _address(process: subprocess.Popen[str], name: str) -> str:
    for line in process.stdout or ():
        if up := re.search(rf"{name} is up: (\S+)", line):
            return up[1]
    raise NotAsExpectedError(f"{name} did not start")
