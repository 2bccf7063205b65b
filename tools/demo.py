# SPDX-License-Identifier: Apache-2.0
"""A tour of heatconv in under a minute, as a user sees it.

Starts ``heatconv-all`` with a throw-away state directory and drives it with the
``heatconv`` program: create, look, update, an update that fails and rolls back,
delete; and a stack in a fake cloud, of which something is deleted behind its
back.  After each step it asks the API whether what should be the case is;
the exit code is 0 only if it was every time.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.text import Text

from heatconv.client.http import Client, ClientError
from heatconv.testing.cloud_client import CloudControl

TOP = Path(__file__).parents[1]
TEMPLATE = "etc/heatconv/examples/shop.yaml"
STACK = "shop"
DRIFTING = "tools/demo-drift.yaml"
BRANCH = "branch"
PLUGINS = "heatconv/testing/plugins"
SOON = 30.0  #: seconds that what happens by itself may take
BRIEF = ("-c", "stack_status", "-c", "stack_status_reason")
CHANGES = ("cache_size=128 MiB", "database_release=16", "search_engine=true", "reporting=false")


class NotAsExpectedError(Exception):
    """A step did not end as it should have."""


class Tour:
    """The steps, on a heatconv that runs at an endpoint, beside a cloud."""

    def __init__(self, endpoint: str, cloud: str, console: Console) -> None:
        self._endpoint = endpoint
        self._cloud = CloudControl(cloud)
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
        self.drift()
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

    def drift(self) -> None:
        """Delete something behind heatconv's back; see it noticed, and healed."""
        self._title("Another stack, in a fake cloud; heatconv keeps an eye on what is there")
        detect, heal = (
            ("--convergence", policy, "--convergence-interval", "1") for policy in ("detect", "heal")
        )
        self._heatconv("stack", "create", BRANCH, "-t", DRIFTING, *detect, "--wait", *BRIEF)
        before = self._physical_ids(BRANCH)
        self._title("A careless hand deletes the server in the cloud, and heatconv sees it")
        self._cloud.vanish(before["server"])
        self._await_drift("DRIFTED")
        columns = ("-c", "resource_name", "-c", "kind", "-c", "reason")
        self._heatconv("stack", "drift", BRANCH, *columns)
        found = self._client.show_drift(BRANCH)["resources"]
        self._expect([each["kind"] for each in found] == ["MISSING"], "the server is known to be missing")
        self._title("Let it be healed: now, and by itself from now on")
        self._heatconv("stack", "update", BRANCH, "--existing", *heal, "--wait", *BRIEF)
        healed = self._physical_ids(BRANCH)
        self._expect(healed["server"] != before["server"], "there is a server again")
        self._expect(self._is_whole(healed), "the address refers to the new server, and each is there once")
        self._expect(healed["disk"] == before["disk"], "the disk was not touched")
        self._cloud.vanish(healed["address"])
        self._until(lambda: self._is_whole(self._physical_ids(BRANCH)))
        self._await_drift("IN_SYNC")
        self._expect(
            self._physical_ids(BRANCH)["address"] != healed["address"],
            "the address was deleted too, and came back without a word",
        )

    def _is_whole(self, ids: Mapping[str, str]) -> bool:
        """Tell whether the cloud has what the branch consists of, and nothing else."""
        found = {each["id"]: each["properties"] for each in self._cloud.owned()}
        return found.keys() == set(ids.values()) and found[ids["address"]]["value"] == ids["server"]

    def _await_drift(self, status: str) -> None:
        self._until(lambda: self._client.show_drift(BRANCH)["status"] == status)

    def _until(self, holds: Callable[[], bool]) -> None:
        deadline = time.monotonic() + SOON
        while not holds() and time.monotonic() < deadline:
            time.sleep(0.1)

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

    def _physical_ids(self, stack: str = STACK) -> Mapping[str, str]:
        rows = self._client.list_resources(stack)
        return {row["resource_name"]: row["physical_resource_id"] for row in rows}

    def _title(self, text: str) -> None:
        self._console.print()
        self._console.rule(f"[bold]{text}", align="left", style="cyan")


def _program(name: str) -> str:
    return str(Path(sys.executable).with_name(name))


def _address(process: subprocess.Popen[str], name: str) -> str:
    for line in process.stdout or ():
        if up := re.search(rf"{name} is up: (\S+)", line):
            return up[1]
    raise NotAsExpectedError(f"{name} did not start")


@contextmanager
def _running(
    name: str, command: Sequence[str], log: Path, environment: Mapping[str, str] | None = None
) -> Iterator[str]:
    """Run a service that says where it is up; yield that address."""
    with (
        log.open("w") as errors,
        subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            cwd=TOP,
            env=os.environ | (environment or {}),
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


@contextmanager
def _everything() -> Iterator[tuple[str, str]]:
    """Run heatconv-all and a fake cloud, all they have in a directory that goes with them.

    Yields their addresses.
    """
    with tempfile.TemporaryDirectory(prefix="heatconv-demo-") as directory:
        state = Path(directory)
        fake_cloud = (sys.executable, "-m", "heatconv.testing.cloud_server")
        heatconv_all = (
            *(_program("heatconv-all"), "--host", "127.0.0.1", "--port", "0"),
            *("--state-dir", directory, "--plugin-dir", PLUGINS),
        )
        with (
            _running("fake cloud", fake_cloud, state / "cloud.log") as cloud,
            _running("heatconv", heatconv_all, state / "log", {"HEATCONV_FAKE_CLOUD": cloud}) as endpoint,
        ):
            yield endpoint, cloud


def main() -> int:
    """Run the tour; return 0 if every step ended as it should have."""
    console = Console(highlight=False)
    try:
        with _everything() as (endpoint, cloud):
            console.print(f"[bold]heatconv is up:[/] {endpoint}")
            Tour(endpoint, cloud, console).run()
    except (NotAsExpectedError, ClientError) as problem:
        console.print(Text(f"✗ {problem}", "red"), soft_wrap=True)
        return 1
    console.print("\n[bold green]Every step ended as it should have.[/]")
    return 0


if __name__ == "__main__":
    sys.exit(main())
