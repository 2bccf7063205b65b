# SPDX-License-Identifier: Apache-2.0
"""Real stacks while things die: ``python -m tests.cloud.chaos --minutes 5 --seed 1 --restart``.

Users have stacks of networks, volumes and servers made, changed and deleted by daemons
that are killed all the time, on a bus that is cut off and, with ``--restart``, in a dev cloud
whose services are.  Then all is healed, and every stack has to be what was wished last:
the services' own listings have to show one object of each resource, as it was wished, and
nothing else.  At last everything is deleted, and nothing may be left.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import openstack
import requests
import sqlalchemy as sa

from heatconv.client.http import Client, ClientError
from heatconv.db.plumbing.types import give_keyring
from heatconv.db.tables import event, stack
from heatconv.model.states import Status
from heatconv.testing.keys import KEYRING
from tests.chaos import oracle
from tests.chaos.driver import NOT_NOW
from tests.chaos.proxy import Proxy
from tests.chaos.run import listed, quiet
from tests.cloud import census
from tests.cloud.conftest import GONE, Login
from tests.cloud.operated import Installed, installed
from tests.cloud.services import RESTARTED, Misfortunes, Service
from tests.cloud.wishes import Resources, Wishes
from tests.cloud.world import World

STACKS = 6
LOOK = 0.5  #: seconds between two looks at a stack, or two requests for the same
SETTLED = 40.0  #: seconds that a user waits for a stack at the most
HURRY = (0.5, 6.0)  #: seconds until a user wishes again who does not wait
PATIENCE = 240.0  #: seconds in which everything has to come to rest once all is healed
MOST_MEMORY = 250 * 2**20  #: bytes that a worker may have at any time


@dataclass(frozen=True, kw_only=True)
class Report:
    """How a run went."""

    problems: Sequence[str]
    lines: Sequence[str]  #: the report on it


class User(threading.Thread):
    """Somebody who wishes one thing after the other of one stack."""

    def __init__(self, client: Client, name: str, wishes: Wishes, stopping: threading.Event) -> None:
        super().__init__(name=name)
        self.wishes = wishes
        self.problems: list[str] = []
        self._client = client
        self._stopping = stopping

    def run(self) -> None:
        """Wish until the end; wait for each to come true, or wish for something else before."""
        choice = self.wishes.choice
        try:
            while not self._stopping.is_set():
                self.ask(self.wishes.next())
                if choice.random() < 0.5:
                    self._await_end()
                else:
                    self._stopping.wait(choice.uniform(*HURRY))
        except Exception as error:  # noqa: BLE001 - reported in the end
            self.problems.append(f"the user of {self.name} got stuck: {error!r}")

    def ask(self, wanted: Resources | None) -> None:
        """Make a request until it is taken."""
        clock = threading.Event()
        while not self._is_taken(wanted):
            clock.wait(LOOK)

    def _is_taken(self, wanted: Resources | None) -> bool:
        try:
            if wanted is None:
                self._client.delete_stack(self.name)
            else:
                self._make(wanted)
        except ClientError as error:
            if error.status == 404 and wanted is None:
                return True
            came_or_went = error.status in (404, 409)
            if error.status in NOT_NOW or came_or_went:
                return False
            raise
        return True

    def _make(self, wanted: Resources) -> None:
        template = {"heat_template_version": "2021-04-16", "resources": wanted}
        body = {"template": template, "disable_rollback": True}
        if self.state() == GONE:
            self._client.create_stack({"stack_name": self.name, **body})
        else:
            self._client.update_stack(self.name, body)

    def _await_end(self) -> None:
        deadline = time.monotonic() + SETTLED
        while time.monotonic() < deadline and not self._stopping.wait(LOOK):
            if not self.state().endswith("IN_PROGRESS"):
                return

    def state(self) -> str:
        """Return the stack's state; one that cannot be read now is in progress."""
        try:
            shown = self._client.show_stack(self.name, resolve_outputs=False)
        except ClientError as error:
            if error.status == 404:
                return GONE
            if error.status not in NOT_NOW:
                raise
            return "IN_PROGRESS"
        return GONE if shown["stack_status"] == "DELETE_COMPLETE" else str(shown["stack_status"])


class Scene:
    """A project with its users, and a heatconv that acts for them."""

    def __init__(self, directory: Path, admin: Any, seed: int, until: ExitStack) -> None:
        """Run it until the exit, with files in a directory."""
        self.world = World(Login(admin, directory))
        until.callback(self.world.leave)
        self.lines: list[Proxy] = []

        def by_proxy(url: str) -> str:
            self.lines.append(until.enter_context(Proxy(url)))
            return self.lines[0].url

        self.there: Installed = installed(directory, admin, until, engines=2, workers=3, bus_by=by_proxy)
        url = self.there.database_url
        self.database = sa.create_engine(url, poolclass=sa.NullPool, isolation_level="AUTOCOMMIT")
        give_keyring(self.database.dialect, KEYRING)
        self.stopping = threading.Event()
        smallest, larger = self.world.smallest, self.world.flavors[1]
        names = [f"c{number}" for number in range(1, STACKS + 1)]
        self.users = [
            User(self._client(), name, Wishes(str(seed), name, smallest, larger), self.stopping)
            for name in names
        ]

    def _client(self) -> Client:
        session = requests.Session()
        session.headers["X-Auth-Token"] = self.world.cloud.auth_token
        root = self.there.daemons.endpoint.removesuffix("/default")
        return Client(f"{root}/{self.world.login.project.id}", session=session)

    def wrong(self) -> Iterator[str]:
        """Wait until all is at rest; yield what is not as it was wished last."""
        yield from quiet(self.database, PATIENCE)
        for user in self.users:
            state = user.state()
            if (state == GONE) != (user.wishes.wanted is None):
                yield f"{user.name} is {state}, and it was to be {'gone' if state != GONE else 'there'}"
        with self.database.connect() as connection:
            yield from oracle.in_the_database(connection)
        wanted = {user.name: user.wishes.wanted for user in self.users if user.wishes.wanted is not None}
        yield from census.differences(wanted, census.found(self.world.cloud))

    def events(self) -> list[Any]:
        """Return what has happened to resources, in order."""
        query = (
            sa.select(event, stack.c.name)
            .join(stack, stack.c.id == event.c.stack_id)
            .where(event.c.resource_id.is_not(None))
        )
        with self.database.connect() as connection:
            return [*connection.execute(query.order_by(event.c.id))]


def play(directory: Path, admin: Any, *, seed: int, seconds: float, restart: bool) -> Report:
    """Let users wish and things die for some time, and judge how that ended."""
    with ExitStack() as until:
        scene = Scene(directory, admin, seed, until)
        services = [Service(name) for name in RESTARTED] if restart else []
        misfortunes = Misfortunes(scene.there.daemons, scene.lines[0], services, str(seed))
        misfortunes.start()
        for user in scene.users:
            user.start()
        scene.stopping.wait(seconds)
        misfortunes.stop()
        scene.stopping.set()
        for user in scene.users:
            user.join()
        problems = [*misfortunes.problems, *(each for user in scene.users for each in user.problems)]
        healed = time.monotonic()
        problems += scene.wrong()
        rested = time.monotonic() - healed
        objects = len(census.found(scene.world.cloud))
        for user in scene.users:
            user.wishes.wanted = None
            user.ask(None)
        problems += [f"with all deleted: {each}" for each in scene.wrong()]
        misfortunes.look()
        workers = {name: peak for name, peak in misfortunes.peaks.items() if name.startswith("worker")}
        problems += [f"{name} had {_mib(peak)}" for name, peak in workers.items() if peak > MOST_MEMORY]
        events = scene.events()
        (directory / "events.log").write_text("".join(f"{_line(each)}\n" for each in events))
        wishes = sum((user.wishes.counts for user in scene.users), Counter[str]())
        done = Counter(each.action.lower() for each in events if each.status == Status.COMPLETE)
        failed = sum(each.status == Status.FAILED for each in events)
        lines = [
            f"{wishes.total()} wishes for {len(scene.users)} stacks: {listed(wishes)}",
            f"{done.total()} actions on resources completed: {listed(done)}; {failed} failed on the way",
            f"{misfortunes.counts.total()} misfortunes: {listed(misfortunes.counts)}",
            f"{objects} objects in the cloud at rest, {rested:.0f} s after the last wish",
            "memory at the most: "
            + ", ".join(f"{name} {_mib(peak)}" for name, peak in sorted(workers.items())),
            f"{len(problems)} wrong",
        ]
        return Report(problems=problems, lines=lines)


def _line(happened: Any) -> str:
    """Return an event in one line of a log."""
    what = f"{happened.name}/{happened.resource_name} {happened.action}_{happened.status}"
    where = f"{happened.resource_id} {happened.physical_id or ''}"
    return f"{happened.created_at} {what} {where} {happened.status_reason}"


def _mib(size: int) -> str:
    return f"{size / 2**20:.0f} MiB"


def _say(*lines: str) -> None:
    print("\n".join(lines), flush=True)  # noqa: T201 - a command's answer


def main() -> int:
    """Run it once; return 1 if anything is wrong in the end."""
    parser = argparse.ArgumentParser(prog="python -m tests.cloud.chaos")
    parser.add_argument("--minutes", type=float, default=5.0, help="how long things go wrong")
    parser.add_argument("--seed", type=int, help="what the choices follow from; printed")
    parser.add_argument(
        "--restart", action="store_true", help="restart nova-api and neutron of the dev cloud here, too"
    )
    parser.add_argument("--directory", type=Path, help="where the daemons' logs go (a temporary one)")
    given = parser.parse_args()
    seed = random.SystemRandom().randrange(10**6) if given.seed is None else given.seed
    directory = given.directory or Path(tempfile.mkdtemp(prefix="heatconv-cloud-chaos-"))
    directory.mkdir(parents=True, exist_ok=True)
    again = (
        f"python -m tests.cloud.chaos --minutes {given.minutes:g} --seed {seed}"
        + " --restart" * given.restart
    )
    _say(again, f"logs in {directory}")
    report = play(
        directory, openstack.connect(), seed=seed, seconds=given.minutes * 60, restart=given.restart
    )
    _say(*report.lines, *report.problems, f"again: {again}")
    return 1 if report.problems else 0


if __name__ == "__main__":
    sys.exit(main())
