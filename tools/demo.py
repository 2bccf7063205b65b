# SPDX-License-Identifier: Apache-2.0
"""A tour of heatconv in under a minute, as a user sees it.

Starts ``heatconv-all`` with a throw-away state directory and drives it with the
``heatconv`` program: create, look, update, an update that fails and rolls back,
delete; and a stack in a fake cloud, of which something is deleted behind its
back.  With ``--cloud`` all that is made are networks and servers of a real one
(``demo_cloud``).  With ``--ui`` it gives the address of the live page, and waits before
the first step and after the last one.  The exit code is 0 only if after every step all was as it should be.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.text import Text

from heatconv.client.http import ClientError
from heatconv.testing.cloud_client import CloudControl
from tools.tour import BRIEF, NotAsExpectedError, Tour, program, running, until

TEMPLATE = "etc/heatconv/examples/shop.yaml"
STACK = "shop"
DRIFTING = "tools/demo-drift.yaml"
BRANCH = "branch"
PLUGINS = "heatconv/testing/plugins"
CHANGES = ("cache_size=128 MiB", "database_release=16", "search_engine=true", "reporting=false")


class MakeBelieve(Tour):
    """The steps, with servers that nobody has to pay for, beside a fake cloud."""

    def __init__(self, endpoint: str, cloud: str, console: Console) -> None:
        super().__init__(endpoint, console)
        self._cloud = CloudControl(cloud)

    def run(self) -> None:
        """Take every step in turn."""
        self.create()
        self.look()
        self.update()
        self.fail()
        self._delete(STACK)
        self.drift()
        self._client.close()

    def create(self) -> None:
        """Create the stack."""
        self._title("Create a stack: what does not depend on each other comes up at the same time")
        self._heatconv("stack", "create", STACK, "-t", TEMPLATE, "--enable-rollback", "--wait", *BRIEF)
        self._expect_stack(
            STACK, "CREATE_COMPLETE", {"reports", "web_1", "web_2"}, absent={"search", "payments"}
        )

    def look(self) -> None:
        """Show the stack from all sides."""
        self._look(STACK)
        self._look_back(STACK)
        servers = self._outputs(STACK)["servers"]
        self._expect(len(servers) == 2, "the output 'servers' names both web servers")

    def update(self) -> None:
        """Change one resource in place, replace one, add one, remove one."""
        before = self._physical_ids(STACK)
        parameters = [word for change in CHANGES for word in ("--parameter", change)]
        self._title("Plan an update: one in place, one replaced, one added, one removed")
        # Its exit code says that there are changes.
        self._heatconv("stack", "plan", STACK, "--existing", *parameters, fails=True)
        self._title("Update: only what changes, and what depends on that, is visited")
        self._heatconv("stack", "update", STACK, "--existing", *parameters, "--wait", *BRIEF)
        self._expect_stack(STACK, "UPDATE_COMPLETE", {"search"}, absent={"reports", "payments"})
        after = self._physical_ids(STACK)
        self._expect(after["cache"] == before["cache"], "the cache is the same one, changed in place")
        self._expect(after["database"] != before["database"], "the database was replaced by another")
        self._expect(after["network"] == before["network"], "the network was not touched")

    def fail(self) -> None:
        """Have an update fail, and see it rolled back."""
        before = self._physical_ids(STACK)
        self._title("An update that fails: heatconv brings back what was there")
        self._heatconv(
            *("stack", "update", STACK, "--existing", "--enable-rollback", "--wait"),
            *("--parameter", "payment_service=broken", "--parameter", "cache_size=1 TiB", *BRIEF),
            fails=True,
        )
        self._expect_stack(STACK, "ROLLBACK_COMPLETE", {"cache", "database", "search"}, absent={"payments"})
        self._expect(self._physical_ids(STACK) == before, "every resource is the very one it was before")

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
        self._await_drift(BRANCH, "DRIFTED")
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
        until(lambda: self._is_whole(self._physical_ids(BRANCH)))
        self._await_drift(BRANCH, "IN_SYNC")
        self._expect(
            self._physical_ids(BRANCH)["address"] != healed["address"],
            "the address was deleted too, and came back without a word",
        )

    def _is_whole(self, ids: Mapping[str, str]) -> bool:
        """Tell whether the cloud has what the branch consists of, and nothing else."""
        found = {each["id"]: each["properties"] for each in self._cloud.owned()}
        return found.keys() == set(ids.values()) and found[ids["address"]]["value"] == ids["server"]


@contextmanager
def _make_believe(console: Console) -> Iterator[Tour]:
    """Run heatconv-all and a fake cloud, all they have in a directory that goes with them."""
    with tempfile.TemporaryDirectory(prefix="heatconv-demo-") as directory:
        state = Path(directory)
        fake_cloud = (sys.executable, "-m", "heatconv.testing.cloud_server")
        heatconv_all = (
            *(program("heatconv-all"), "--host", "127.0.0.1", "--port", "0"),
            *("--state-dir", directory, "--plugin-dir", PLUGINS),
        )
        with (
            running("fake cloud", fake_cloud, state / "cloud.log") as cloud,
            running("heatconv", heatconv_all, state / "log", {"HEATCONV_FAKE_CLOUD": cloud}) as endpoint,
        ):
            console.print(f"[bold]heatconv is up:[/] {endpoint}")
            yield MakeBelieve(endpoint, cloud, console)


def _await_enter(console: Console, prompt: str) -> None:
    """Wait for Enter; not where nobody sits at a terminal."""
    if sys.stdin.isatty():
        console.input(f"{prompt} ")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="tools/demo", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--cloud",
        action="store_true",
        help="in your OpenStack cloud: that of clouds.yaml which OS_CLOUD names, or the one of an openrc",
    )
    parser.add_argument(
        "--ui",
        action="store_true",
        help="to be looked at in a browser: wait for you before and after the steps",
    )
    parser.add_argument("--image", help="of the servers in your cloud; the smallest there is, if not said")
    parser.add_argument("--flavor", help="of these servers; the smallest that the image fits, if not said")
    return parser.parse_args()


def main() -> int:
    """Run the tour; return 0 if every step ended as it should have."""
    wanted = _arguments()
    console = Console(highlight=False)
    try:
        if wanted.cloud:
            # Heat's plugins are installed for this tour only.
            from tools import demo_cloud  # noqa: PLC0415

            stage = demo_cloud.real(console, wanted.image, wanted.flavor)
        else:
            stage = _make_believe(console)
        with stage as tour:
            if wanted.ui:
                console.print(f"\n[bold]Open this in a browser:[/] {tour.page}", soft_wrap=True)
                _await_enter(console, "Press Enter to begin.")
            tour.run()
            if wanted.ui:
                console.print(f"\n[bold]The page stays up:[/] {tour.page}", soft_wrap=True)
                _await_enter(console, "Press Enter to end.")
    except (NotAsExpectedError, ClientError) as problem:
        console.print(Text(f"✗ {problem}", "red"), soft_wrap=True)
        return 1
    console.print("\n[bold green]Every step ended as it should have.[/]")
    return 0


if __name__ == "__main__":
    sys.exit(main())
