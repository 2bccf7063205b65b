# SPDX-License-Identifier: Apache-2.0
"""Many open pages: ``python -m tests.perf.open_pages --database URL --transport URL [--pages 1000]``.

An API of ``--processes`` (2), an engine and two workers.  By turns there is no page, so many idle
connections, and so many pages on one stack, while that does not change (``quiet``) and while it is updated
every ``--every`` (1) seconds (``changing``).  Meanwhile somebody else asks for another stack, and for a list
of stacks, every 20 ms; then both as fast as they are answered.  *times* is the median beside that of no
page.  ``--how explain`` has each page ask for the explanation too, as it does after a change.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import sqlalchemy as sa

from tests.perf import report
from tests.perf.deployment import ROOT, Measured
from tests.perf.machine import facts
from tests.perf.measuring import cpu_of
from tests.perf.watching import Connection, Stack, make

PAUSE = 0.02  #: seconds between two requests of somebody else
SHARE = 3  #: of the time, one part is for the rate
SETTLED = 3.0  #: seconds from when pages are open to when anything counts
TEMPLATE = "2021-04-16"
LISTED = 10  #: stacks besides the one that the pages show

Record = dict[str, Any]


class Pages:
    """A process with open pages."""

    def __init__(self, endpoint: str, how: str, count: int, stack: str) -> None:
        command = [sys.executable, "-m", "tests.perf.followers", endpoint, how, str(count), stack]
        self._process = subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._asks, self._answers = self._process.stdin, self._process.stdout
        self._line()

    def take(self) -> Record:
        """Return what they have received since this was asked last.

        Raises:
            RuntimeError: a page has failed.
        """
        self._asks.write("\n")
        self._asks.flush()
        return self._line()

    def close(self) -> None:
        """Close them."""
        self._process.kill()
        self._process.wait()

    def _line(self) -> Record:
        line = self._answers.readline()
        if not line:
            raise RuntimeError("the figures are void: a page has failed")
        return dict(json.loads(line))


class Changer(threading.Thread):
    """Updates one resource of a stack by the clock, and notes when each update was there."""

    def __init__(self, endpoint: str, stack: Stack, every: float) -> None:
        super().__init__(daemon=True)
        self._connection = Connection(endpoint)
        self._stack = stack
        self._every = every
        self._ended = threading.Event()
        self.updates = 0

    def run(self) -> None:
        """Update."""
        due = time.monotonic()
        while not self._ended.wait(max(0.0, due - time.monotonic())):
            body = {"template": of_stack(f"{time.time_ns()}")}
            self._connection.send("PUT", self._stack.path, body)
            self.updates += 1
            due = max(due + self._every, time.monotonic())

    def stop(self) -> None:
        """Update no more."""
        self._ended.set()
        self.join()


def of_stack(value: str) -> Record:
    """Return the template of the stack that is shown: a hundred resources, of which one has a value."""
    one = {"type": "OS::Heat::TestResource", "properties": {"value": value}}
    others = {f"r{each}": {"type": "OS::Heat::None"} for each in range(99)}
    return {"heat_template_version": TEMPLATE, "resources": {**others, "changed": one}}


class Deployment:
    """The processes whose cost is asked for."""

    def __init__(self, daemons: Measured, database: str) -> None:
        self._daemons = daemons
        self._database = sa.make_url(database).database

    def of_api(self) -> list[psutil.Process]:
        """Return the processes that serve."""
        parent = psutil.Process(self._daemons.processes["api"].pid)
        return parent.children() or [parent]

    def cpu(self) -> dict[str, float]:
        """Return the seconds worked up to now, by kind."""
        spent = {"api": sum(cpu_of(each.pid) for each in self.of_api())}
        for name, process in self._daemons.processes.items():
            kind = name.partition("-")[0]
            if kind not in ("api", "manage"):
                spent[kind] = spent.get(kind, 0) + cpu_of(process.pid)
        return spent | {"database": sum(cpu_of(each.pid) for each in self._backends())}

    def _backends(self) -> Iterator[psutil.Process]:
        """Yield the processes of PostgreSQL that have a connection to the database."""
        for each in psutil.process_iter(["cmdline"]):
            words = " ".join(each.info["cmdline"] or ()).split()
            if words[:1] == ["postgres:"] and self._database in words:
                yield each


def ask(connection: Connection, what: str, seconds: float, pause: float) -> list[float]:
    """Return how long each request took, of those that fit into a time."""
    took = []
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        began = time.monotonic()
        connection.send("GET", what)
        took.append(time.monotonic() - began)
        time.sleep(pause)
    return took


def seen_after(ends: dict[str, list[float]]) -> Record:
    """Return how much later than the first page that saw the end of an update the others did."""
    late = sorted(each - min(of_one) for of_one in ends.values() for each in of_one)
    if not late:
        return {}
    return {"median": round(late[len(late) // 2], 3), "most_of_95": round(late[int(len(late) * 0.95)], 3)}


@contextmanager
def changing(endpoint: str, stack: Stack, every: float | None) -> Iterator[Changer | None]:
    """Have a stack updated meanwhile, unless ``every`` is None."""
    changer = None if every is None else Changer(endpoint, stack, every)
    if changer is None:
        yield None
        return
    changer.start()
    try:
        yield changer
    finally:
        changer.stop()


def measure(
    daemons: Measured, deployment: Deployment, stacks: list[Stack], how: str | None, every: float | None,
    arguments: argparse.Namespace,
) -> Record:  # fmt: skip
    """Open pages in one way, and return what that costs, and what it is to others."""
    shown, other, *_ = stacks
    pages = None if how is None else Pages(daemons.endpoint, how, arguments.pages, shown.path)
    connection = Connection(daemons.endpoint)
    part = arguments.seconds / SHARE
    asked = {"show": other.path, "list": "/stacks"}
    with changing(daemons.endpoint, shown, every) as changer:
        time.sleep(SETTLED)
        if pages:
            pages.take()
        load = os.getloadavg()[0]
        worked, sent, begun = deployment.cpu(), daemons.watch.counts(), time.monotonic()
        updates = changer.updates if changer else 0
        took = {name: ask(connection, what, part, PAUSE) for name, what in asked.items()}
        passed = time.monotonic() - begun
        spent = {kind: after - worked[kind] for kind, after in deployment.cpu().items()}
        sent = daemons.watch.counts() - sent
        updates = changer.updates - updates if changer else 0
        got = pages.take() if pages else {}
        rates = {name: len(ask(connection, what, part / 2, 0)) / (part / 2) for name, what in asked.items()}
        memory = sum(each.memory_info().rss for each in deployment.of_api())
        threads = sum(each.num_threads() for each in deployment.of_api())
        after = pages.take() if pages else {}
    if pages:
        pages.close()
    connection.close()
    return {
        "pages": how,
        "stack": "quiet" if every is None else "changing",
        "updates": updates,
        "median_ms": {name: round(1000 * statistics.median(each), 2) for name, each in took.items()},
        "most_of_95_ms": {
            name: round(1000 * statistics.quantiles(each, n=20)[-1], 2) for name, each in took.items()
        },
        "a_second": {name: round(rate, 1) for name, rate in rates.items()},
        "cpu_ms_per_second": {kind: round(1000 * each / passed, 1) for kind, each in spent.items()},
        "api_mib": round(memory / 2**20, 1),
        "api_threads": threads,
        "sent_per_second": {what: round(count / passed, 1) for what, count in sent.items()},
        "answers_per_second": {
            what: round(number / passed, 1) for what, number in got.get("answers", {}).items()
        },
        "median_bytes": got.get("median_bytes", {}),
        "seen_later_seconds": seen_after(got.get("ends", {})),
        "pages_cpu_ms_per_second": round(1000 * (after["cpu"] - got["cpu"]) / part, 1) if pages else 0,
        "load_before": round(load, 2),
    }


def times(before: Record, after: Record) -> Record:
    """Return how many times as slow others are, with pages, as without."""
    return {
        "pages": after["pages"],
        "stack": after["stack"],
        "times_as_long": {
            name: round(each / before["median_ms"][name], 2) for name, each in after["median_ms"].items()
        },
        "times_as_few": {
            name: round(before["a_second"][name] / each, 2) for name, each in after["a_second"].items()
        },
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--database", required=True)
    parser.add_argument("--transport", required=True)
    parser.add_argument("--pages", type=int, default=1000)
    parser.add_argument("--processes", type=int, default=2, help="of the API")
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--every", type=float, default=1.0)
    parser.add_argument("--how", choices=("follow", "explain"), default="follow")
    parser.add_argument("--rounds", type=int, default=1)
    arguments = parser.parse_args()
    report.say({"facts": facts(arguments.database), "arguments": report.given(arguments)})
    servers = {"database_url": arguments.database, "transport_url": arguments.transport}
    with tempfile.TemporaryDirectory(prefix="heatconv-perf-") as directory:
        daemons = Measured(Path(directory), **servers, engines=1, workers=2)
        # The kernel spreads connections over the processes: any of them may get more than its share.
        room = 4 * arguments.pages + 200
        daemons.configuration.setdefault("api", {}).update(
            workers=arguments.processes,
            max_connections=room,
            max_connections_per_address=0,
            max_waiting=room,
        )
        daemons.configure(max_stacks_per_tenant=-1)
        with daemons:
            stacks = make(daemons.endpoint, LISTED)
            Connection(daemons.endpoint).send("PUT", stacks[0].path, {"template": of_stack("x")})
            deployment = Deployment(daemons, arguments.database)
            for _ in range(arguments.rounds):
                for every in (None, arguments.every):
                    before: Record | None = None
                    for how in (None, "idle", arguments.how):
                        found = measure(daemons, deployment, stacks, how, every, arguments)
                        report.say(found)
                        if before is None:
                            before = found
                        else:
                            report.say(times(before, found))


if __name__ == "__main__":
    main()
