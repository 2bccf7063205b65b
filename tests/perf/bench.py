# SPDX-License-Identifier: Apache-2.0
"""Time stacks of several shapes and sizes on heatconv's real daemons, driven by REST.

python -m tests.perf.bench --database URL --transport URL
    [--shape wide,layers] [--size 100,1000] [--member none|test] [--wait-secs S]
    [--engines 1] [--workers 2] [--rounds 3] [--ceiling] [--metrics]

Each operation gives a line of JSON when it has ended; at the end there is a
Markdown table of medians.  The README says what each figure means.
"""

from __future__ import annotations

import argparse
import itertools
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from heatconv.client.http import Client
from heatconv.db.tables import stack
from tests.perf import report
from tests.perf.ceiling import THREADS, WARM_UP, Ceiling
from tests.perf.deployment import Measured
from tests.perf.machine import facts
from tests.perf.measuring import Record
from tests.perf.shapes import SCALED, SHAPES, Member, Wish, more

TICK = 0.01  #: seconds between two looks at a stack's row
PATIENCE = 1800.0  #: seconds that an operation may take
COMPARED = ("wide", "layers")  #: the shapes whose creation is held against the ceiling


class Bench:
    """A running heatconv, asked by REST; whether it is done is read in the database, at no daemon's cost."""

    def __init__(self, daemons: Measured, database_url: str, patience: float = PATIENCE) -> None:
        self._daemons = daemons
        self._patience = patience  # seconds that an operation may take
        self._client = Client(daemons.endpoint, timeout=patience)
        engine = sa.create_engine(database_url, poolclass=sa.NullPool, isolation_level="AUTOCOMMIT")
        self.connection = engine.connect()
        self._ids: dict[str, str] = {}
        self._names = (f"perf-{os.getpid()}-{number}" for number in itertools.count(1))

    def close(self) -> None:
        self._client.close()
        self.connection.close()

    def life(self, shape: str, size: int, member: Member | None = None) -> Iterator[Record]:
        """Take a stack from its creation to its deletion; yield what each operation took."""
        name, member = next(self._names), member or Member()
        make = SHAPES[shape]
        wish = make(size, member, "x")
        changed = make(size, member, "y")
        count = wish.count

        def update(wanted: Wish) -> Callable[[], str]:
            return lambda: self.update(name, wanted.body)

        yield self.operation("create", count, lambda: self.start(name, wish.body))
        yield self.operation("no-op", 0, update(wish))
        yield self.operation("change", wish.changed, update(changed))
        if shape in SCALED:
            scaled = make(more(size), member, "y")
            count = scaled.count
            yield self.operation("scale", count - wish.count, update(scaled))
        yield self.operation("delete", count, lambda: self.delete(name))

    def start(self, name: str, body: Mapping[str, Any]) -> str:
        """Ask for a stack and return its id."""
        self._ids[name] = self._client.create_stack({"stack_name": name, **body})
        return self._ids[name]

    def update(self, name: str, body: Mapping[str, Any]) -> str:
        """Ask for a stack to be otherwise and return its id."""
        self._client.update_stack(self._path(name), dict(body))
        return self._ids[name]

    def delete(self, name: str) -> str:
        """Ask for a stack to be deleted and return its id."""
        self._client.delete_stack(self._path(name))
        return self._ids[name]

    def _path(self, name: str) -> str:
        """Return a stack's name and id, as the answer to its creation has them: nobody has to be asked."""
        return f"{name}/{self._ids[name]}"

    def create(self, name: str, body: Mapping[str, Any]) -> float:
        """Create a stack; return the seconds from the request until it is complete."""
        began = time.monotonic()
        self._await_end(self.start(name, body))
        return time.monotonic() - began

    def operation(self, name: str, concerned: int, request: Callable[[], str]) -> Record:
        """Carry out a request, which returns a stack's id, that is about so many resources."""
        asked: list[str] = []
        return self._daemons.watch.measure(
            name, concerned, lambda: asked.append(request()), lambda: self._await_end(asked[0])
        )

    def is_in_progress(self, stack_id: str) -> bool:
        """Tell whether something goes on in a stack."""
        status = self.connection.scalar(sa.select(stack.c.status).where(stack.c.id == stack_id))
        return bool(status == "IN_PROGRESS")

    def _await_end(self, stack_id: str) -> None:
        """Wait until a stack is COMPLETE.

        Raises:
            RuntimeError: it failed, or takes too long.
        """
        deadline = time.monotonic() + self._patience
        look = sa.select(stack.c.status, stack.c.action, stack.c.status_reason).where(stack.c.id == stack_id)
        while True:
            status, action, reason = self.connection.execute(look).one()
            if status == "COMPLETE":
                return
            if status == "FAILED" or time.monotonic() > deadline:
                raise RuntimeError(f"{action}_{status}: {reason}\n{self._daemons.logs()[-4000:]}")
            time.sleep(TICK)


def main() -> None:
    """Measure and print."""
    arguments = _arguments()
    report.say({"facts": facts(arguments.database), "arguments": report.given(arguments)})
    records = []
    for record in _measured(arguments):
        report.say(record)
        records.append(record)
    print(f"\n{report.table(records)}", flush=True)
    if arguments.ceiling:
        print(f"\n{report.ratios(records)}", flush=True)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--database", required=True)
    parser.add_argument("--transport", required=True)
    parser.add_argument("--shape", type=_shapes, default=list(SHAPES), help="some of " + ",".join(SHAPES))
    parser.add_argument("--size", type=_sizes, default=[300])
    parser.add_argument("--member", choices=("none", "test"), default="none")
    parser.add_argument("--wait-secs", type=float, default=0, help="what each action takes; needs test")
    parser.add_argument("--engines", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--threads", type=int, help="of a worker; with one nobody shares a transaction")
    parser.add_argument("--executor", choices=("threading", "eventlet"), default="threading")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--metrics", action="store_true", help="have the daemons count for Prometheus")
    parser.add_argument("--ceiling", action="store_true", help="measure the bare ceiling beside, in turn")
    parser.add_argument("--ceiling-threads", type=int, default=THREADS)
    arguments = parser.parse_args()
    if arguments.wait_secs and arguments.member != "test":
        parser.error("--wait-secs needs --member test")
    return arguments


def _shapes(text: str) -> list[str]:
    names = text.split(",")
    if unknown := set(names) - set(SHAPES):
        raise argparse.ArgumentTypeError(f"there is no {', '.join(sorted(unknown))}")
    return names


def _sizes(text: str) -> list[int]:
    return [int(size) for size in text.split(",")]


def _measured(arguments: argparse.Namespace) -> Iterator[Record]:
    """Yield what each operation of each shape, size and round took, and what the ceiling did in between."""
    member = Member(arguments.member, arguments.wait_secs)
    servers = {"database_url": arguments.database, "transport_url": arguments.transport}
    with ExitStack() as until:
        directory = Path(until.enter_context(tempfile.TemporaryDirectory(prefix="heatconv-perf-")))
        fleet = {
            "engines": arguments.engines,
            "workers": arguments.workers,
            "threads": arguments.threads,
            "executor": arguments.executor,
            "metrics": arguments.metrics,
        }
        bench = Bench(until.enter_context(Measured(directory, **servers, **fleet)), arguments.database)
        until.callback(bench.close)
        ceiling = None
        if arguments.ceiling:
            processes, threads = arguments.workers, arguments.ceiling_threads
            ceiling = until.enter_context(Ceiling(**servers, processes=processes, threads=threads))
        _warm_up(bench, ceiling)
        for shape, size, number in itertools.product(
            arguments.shape, arguments.size, range(1, arguments.rounds + 1)
        ):
            common = {"shape": shape, "size": size, "round": number, "member": arguments.member}
            for record in bench.life(shape, size, member):
                yield common | record
            if ceiling is not None and shape in COMPARED:
                yield common | ceiling.run(shape, size)


def _warm_up(bench: Bench, ceiling: Ceiling | None) -> None:
    """Have every process connect, and compile what it sends, before anything counts."""
    for _ in bench.life("wide", WARM_UP):
        pass
    if ceiling is not None:
        ceiling.run("wide", WARM_UP)


if __name__ == "__main__":
    main()
