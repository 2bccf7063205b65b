# SPDX-License-Identifier: Apache-2.0
"""Print how many resources a second these servers can take at the most.

python -m tests.perf.ceiling --database URL --transport URL
    [--shape wide,layers] [--size 1000] [--processes 2] [--threads 16] [--rounds 3]

A stack is prepared as heatconv does it, which is not timed.  Then processes
without any logic (``tests.perf.bare``) do for each of its resources what a worker
sends to create it; timed is from the first message until the last resource has
told the stack that it is done.
"""

from __future__ import annotations

import argparse
import itertools
import logging
import os
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Self

import sqlalchemy as sa

from heatconv import conf as configuration
from heatconv.assembly.engine import Engine, EngineSettings
from heatconv.db.convergence.traversals import Started
from heatconv.db.plumbing import migration
from heatconv.db.plumbing.session import Database
from heatconv.db.tables import metadata, sync_point
from heatconv.resources.registry import Registry
from heatconv.rpc.bus import Bus
from heatconv.rpc.context import RequestContext
from heatconv.testing.doorbell import NotedDoorbell
from heatconv.testing.keys import KEYRING
from tests.functional.servers.databases import Kind, MariaDB, PostgreSQL, Sqlite
from tests.functional.servers.processes import Process
from tests.perf import report
from tests.perf.bare import TOPIC
from tests.perf.machine import ROOT, facts
from tests.perf.measuring import Record, Watch
from tests.perf.shapes import SHAPES, Member
from tests.perf.tally import SharedTally

THREADS = 16  #: of each process: as many as heatconv's have connections
TICK = 0.005  #: seconds between two looks at whether all is done
WARM_UP = 100  #: resources that are converged before anything counts
PATIENCE = 600.0  #: seconds that a stack may take

_ON_SERVER: Mapping[str, Callable[[str], Kind]] = {
    "postgresql": PostgreSQL,
    "mysql": MariaDB,
    "mariadb": MariaDB,
}


class Ceiling:
    """Processes that do what has to be done, in a database of their own beside the one they are told of."""

    def __init__(self, *, database_url: str, transport_url: str, processes: int, threads: int) -> None:
        self._servers = (database_url, transport_url)
        self._processes, self._threads = processes, threads
        self._numbers = itertools.count(1)
        self._watch = Watch()
        self._bare: list[Process] = []
        self._exit = ExitStack()

    def __enter__(self) -> Self:
        with ExitStack() as until:
            database_url, transport_url = self._servers
            directory = Path(until.enter_context(tempfile.TemporaryDirectory(prefix="heatconv-perf-")))
            backend = sa.make_url(database_url).get_backend_name()
            kind = _ON_SERVER[backend](database_url) if backend in _ON_SERVER else Sqlite(directory)
            url = kind.create()
            until.callback(kind.drop, url)
            self._database = Database.from_url(url, KEYRING)
            until.callback(self._database.close)
            migration.upgrade(self._database)
            conf = configuration.load([], prog="perf", default_config_files=[])
            logging.getLogger("heatconv").setLevel(logging.WARNING)
            self._client = Bus(conf, transport_url).client(TOPIC)
            self._tally = SharedTally(directory / "driver.tally")
            self._watch.add("driver", os.getpid(), directory / "driver.tally")
            for number in range(1, self._processes + 1):
                self._start(f"bare-{number}", directory, url, until)
            self._exit = until.pop_all()
        return self

    def __exit__(self, *exception: object) -> None:
        self._exit.close()

    def _start(self, name: str, directory: Path, url: str, until: ExitStack) -> None:
        tally = directory / f"{name}.tally"
        command = [sys.executable, "-m", "tests.perf.bare", "--database", url, "--tally", str(tally)]
        more = ["--transport", self._servers[1], "--threads", str(self._threads), "--name", name]
        process = Process([*command, *more], directory / f"{name}.log", {"PYTHONPATH": str(ROOT)})
        until.callback(process.kill)
        self._bare.append(process)
        process.wait_for("is up")
        self._watch.add(name, process.pid, tally)

    def run(self, shape: str, size: int) -> Record:
        """Converge a stack; return what it took."""
        started, count = self._prepare(shape, size)
        ids = {"stack_id": started.stack_id, "traversal_id": started.traversal_id}

        def cast() -> None:
            for node in started.leaves:
                self._tally.add("messages")
                self._client.cast({}, "check", resource_id=node.resource_id, **ids)

        record = self._watch.measure(report.CEILING, count, cast, lambda: self._await_end(started))
        with self._database.engine.begin() as connection:
            for table in metadata.sorted_tables:
                connection.execute(sa.delete(table))
        return record

    def _prepare(self, shape: str, size: int) -> tuple[Started, int]:
        wish = SHAPES[shape](size, Member(), "x")
        started: list[Started] = []
        settings = EngineSettings(dead_after=PATIENCE, max_template_size=1 << 28)
        engine = Engine(self._database, Registry.load(), NotedDoorbell(), settings, ring=started.append)
        name = f"ceiling-{next(self._numbers)}"
        engine.requests.create_stack(RequestContext(project_id="perf"), name, wish.body, {})
        return started[0], wish.count

    def _await_end(self, started: Started) -> None:
        deadline = time.monotonic() + PATIENCE
        look = sa.select(sync_point.c.state).where(
            sync_point.c.traversal_id == started.traversal_id,
            sync_point.c.resource_id == started.stack_id,
            sync_point.c.is_update == sa.true(),
        )
        with self._database.engine.connect() as connection:
            while connection.scalar(look) != "READY":
                connection.rollback()
                if time.monotonic() > deadline:
                    said = "\n".join(process.output for process in self._bare)
                    raise RuntimeError(f"it takes more than {PATIENCE} seconds\n{said}")
                time.sleep(TICK)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--database", required=True)
    parser.add_argument("--transport", required=True)
    parser.add_argument("--shape", type=lambda text: text.split(","), default=["wide", "layers"])
    parser.add_argument("--size", type=int, default=1000)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--threads", type=int, default=THREADS)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    report.say({"facts": facts(arguments.database), "arguments": report.given(arguments)})
    records: list[dict[str, Any]] = []
    servers = {"database_url": arguments.database, "transport_url": arguments.transport}
    with Ceiling(**servers, processes=arguments.processes, threads=arguments.threads) as ceiling:
        ceiling.run("wide", WARM_UP)
        for shape, number in itertools.product(arguments.shape, range(1, arguments.rounds + 1)):
            common = {"shape": shape, "size": arguments.size, "round": number, "member": "none"}
            records.append(common | ceiling.run(shape, arguments.size))
            report.say(records[-1])
    print(f"\n{report.table(records)}")


if __name__ == "__main__":
    main()
