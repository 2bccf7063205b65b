# SPDX-License-Identifier: Apache-2.0
"""A tour of heatconv in under a minute, as a user sees it.

Starts ``heatconv-all`` with a throw-away state directory and drives it with the
``heatconv`` program: create, look, update, an update that fails and rolls back,
delete.  After each step it asks the API whether what should be the case is;
the exit code is 0 only if it was every time.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.text import Text

from heatconv.client.http import Client, ClientError

TOP = Path(__file__).parents[1]
TEMPLATE = "etc/heatconv/examples/shop.yaml"
STACK = "shop"
BRIEF = ("-c", "stack_status", "-c", "stack_status_reason")
CHANGES = ("cache_size=128 MiB", "database_release=16", "search_engine=true", "reporting=false")


class NotAsExpectedError(Exception):
    """A step did not end as it should have."""


class Tour:
    """The steps, on a heatconv that runs at an endpoint."""

    def __init__(self, endpoint: str, console: Console) -> None:
        self._endpoint = endpoint
        self._console = console
        self._client = Client(endpoint)

    def run(self) -> None:
        """Take every step in turn.

        Raises:
            NotAsExpectedError: one did not end as it should have.
        """
        self.create()
        self.look()
        self.update()
        self.fail()
        self.delete()
        self._client.close()

    def create(self) -> None:
        """Create the stack."""
        self._title("Create a stack: what does not depend on each other comes up at the same time")
        self._heatconv("stack", "create", STACK, "-t", TEMPLATE, "--enable-rollback", "--wait", *BRIEF)
        self._expect_stack("CREATE_COMPLETE", {"reports", "web_1", "web_2"}, absent={"search", "payments"})

    def look(self) -> None:
        """Show the stack from all sides."""
        self._title("Look at it: the graph of what depends on what")
        self._heatconv("stack", "graph", STACK)
        self._title("Its outputs")
        self._heatconv("stack", "output", "list", STACK)
        self._title("The last things that happened")
        columns = ("-c", "event_time", "-c", "resource_name", "-c", "resource_status")
        self._heatconv("event", "list", STACK, "--limit", "6", *columns)
        outputs = {
            item["output_key"]: item["output_value"] for item in self._client.show_stack(STACK)["outputs"]
        }
        self._expect(len(outputs["servers"]) == 2, "the output 'servers' names both web servers")

    def update(self) -> None:
        """Change one resource in place, replace one, add one, remove one."""
        before = self._physical_ids()
        parameters = [word for change in CHANGES for word in ("--parameter", change)]
        self._title("Preview an update: one in place, one replaced, one added, one removed")
        self._heatconv(
            "stack", "preview", STACK, "--existing", *parameters, "-c", "change", "-c", "resource_name"
        )
        self._title("Update: only what changes, and what depends on that, is visited")
        self._heatconv("stack", "update", STACK, "--existing", *parameters, "--wait", *BRIEF)
        self._expect_stack("UPDATE_COMPLETE", {"search"}, absent={"reports", "payments"})
        after = self._physical_ids()
        self._expect(after["cache"] == before["cache"], "the cache is the same one, changed in place")
        self._expect(after["database"] != before["database"], "the database was replaced by another")
        self._expect(after["network"] == before["network"], "the network was not touched")

    def fail(self) -> None:
        """Have an update fail, and see it rolled back."""
        before = self._physical_ids()
        self._title("An update that fails: heatconv brings back what was there")
        self._heatconv(
            *("stack", "update", STACK, "--existing", "--enable-rollback", "--wait"),
            *("--parameter", "payment_service=broken", "--parameter", "cache_size=1 TiB", *BRIEF),
            fails=True,
        )
        self._expect_stack("ROLLBACK_COMPLETE", {"cache", "database", "search"}, absent={"payments"})
        self._expect(self._physical_ids() == before, "every resource is the very one it was before")

    def delete(self) -> None:
        """Delete the stack."""
        self._title("Delete: dependents first")
        self._heatconv("stack", "delete", STACK, "--wait")
        try:
            self._client.show_stack(STACK)
        except ClientError as answer:
            self._expect(answer.status == 404, "the stack is gone")
        else:
            raise NotAsExpectedError(f"The stack {STACK} is still there")

    def _heatconv(self, *arguments: str, fails: bool = False) -> None:
        shown = " ".join(f"'{word}'" if " " in word else word for word in arguments)
        self._console.print(Text("$ ", "bold green"), Text(f"heatconv {shown}"), sep="", soft_wrap=True)
        command = [_program("heatconv"), "--endpoint", self._endpoint, *arguments]
        done = subprocess.run(command, cwd=TOP, check=False)
        if bool(done.returncode) is not fails:
            raise NotAsExpectedError(f"`heatconv {shown}` ended with exit code {done.returncode}")

    def _expect_stack(self, state: str, present: set[str], absent: set[str]) -> None:
        found = self._client.show_stack(STACK)["stack_status"]
        self._expect(found == state, f"the stack is {state}", f"it is {found}")
        names = self._physical_ids().keys()
        self._expect(present <= names and not absent & names, f"it has {len(names)} resources")

    def _expect(self, truth: object, claim: str, otherwise: str = "it is not so") -> None:
        if not truth:
            raise NotAsExpectedError(f"Expected that {claim}, but {otherwise}")
        self._console.print(f"[green]✓[/] {claim}")

    def _physical_ids(self) -> Mapping[str, str]:
        rows = self._client.list_resources(STACK)
        return {row["resource_name"]: row["physical_resource_id"] for row in rows}

    def _title(self, text: str) -> None:
        self._console.print()
        self._console.rule(f"[bold]{text}", align="left", style="cyan")


def _program(name: str) -> str:
    return str(Path(sys.executable).with_name(name))


def _address(heatconv_all: subprocess.Popen[str]) -> str:
    for line in heatconv_all.stdout or ():
        if up := re.search(r"heatconv is up: (\S+)", line):
            return up[1]
    raise NotAsExpectedError("heatconv-all did not start")


@contextmanager
def _heatconv_all() -> Iterator[str]:
    """Run heatconv-all with its state in a directory that goes with it; yield its endpoint."""
    with tempfile.TemporaryDirectory(prefix="heatconv-demo-") as state:
        log = Path(state) / "log"
        command = [_program("heatconv-all"), "--host", "127.0.0.1", "--port", "0", "--state-dir", state]
        with (
            log.open("w") as errors,
            subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True) as process,
        ):
            try:
                yield _address(process)
            except NotAsExpectedError as problem:
                said = "".join(log.read_text().splitlines(keepends=True)[-40:])
                raise NotAsExpectedError(f"{problem}\n\nheatconv-all said:\n{said}") from None
            finally:
                process.terminate()
                try:
                    process.wait(10)
                except subprocess.TimeoutExpired:
                    process.kill()


def main() -> int:
    """Run the tour; return 0 if every step ended as it should have."""
    console = Console(highlight=False)
    try:
        with _heatconv_all() as endpoint:
            console.print(f"[bold]heatconv is up:[/] {endpoint}")
            Tour(endpoint, console).run()
    except (NotAsExpectedError, ClientError) as problem:
        console.print(Text(f"✗ {problem}", "red"), soft_wrap=True)
        return 1
    console.print("\n[bold green]Every step ended as it should have.[/]")
    return 0


if __name__ == "__main__":
    sys.exit(main())
