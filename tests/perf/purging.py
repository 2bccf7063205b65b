# SPDX-License-Identifier: Apache-2.0
"""Time the creation of stacks alone and beside a purge: ``python -m tests.perf.purging``.

python -m tests.perf.purging --database URL --transport URL [--rows 1000000] [--size 300] [--rounds 5]

Deleted stacks that have so many rows together, events most of them, are put into the database at once.
Then a stack of ``--size`` independent resources is created, by turns alone and while ``heatconv-manage
purge_deleted 0`` runs, which is killed in the end and goes on in the next round.
"""

from __future__ import annotations

import argparse
import signal
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from heatconv.db.plumbing import migration
from heatconv.db.plumbing.places import placed
from heatconv.db.plumbing.session import Database
from heatconv.db.tables import event, raw_template, stack
from heatconv.model.ids import new_id
from heatconv.testing.keys import KEYRING
from tests.functional.api.planted import BEGIN
from tests.functional.servers.processes import program
from tests.perf import report
from tests.perf.bench import Bench
from tests.perf.deployment import Measured
from tests.perf.machine import facts
from tests.perf.shapes import SHAPES, Member

OF_STACK = 1000  #: rows of each stack
TOGETHER = 10  #: stacks that are put in together
BEGINS = 30.0  #: seconds that the purge may take until the first rows have gone

Row = dict[str, Any]


def main() -> None:
    """Plant, measure and print."""
    arguments = _arguments()
    report.say({"facts": facts(arguments.database), "arguments": report.given(arguments)})
    database = Database.from_url(arguments.database, KEYRING)
    migration.upgrade(database)
    plant(database, arguments.rows)
    servers = {"database_url": arguments.database, "transport_url": arguments.transport}
    with (
        tempfile.TemporaryDirectory(prefix="heatconv-perf-") as directory,
        Measured(Path(directory), **servers, engines=1, workers=arguments.workers) as daemons,
    ):
        bench = Bench(daemons, arguments.database)
        for _ in bench.life("wide", arguments.size):
            pass  # warms up
        ratios = []
        for number in range(1, arguments.rounds + 1):
            seconds = {}
            for how in ("alone", "beside a purge") if number % 2 else ("beside a purge", "alone"):
                before = _left(database)
                with _purging(daemons, database) if how != "alone" else _nothing() as purge:
                    record = _create(bench, arguments.size, f"{how}-{number}".replace(" ", "-"))
                    if purge is not None and purge.poll() is not None:
                        raise SystemExit("The purge was over before the stack was there: give more --rows.")
                gone = before - _left(database)
                report.say({"round": number, "how": how, "rows_purged": gone * OF_STACK, **record})
                seconds[how] = record["seconds"]
            ratios.append(seconds["beside a purge"] / seconds["alone"])
        bench.close()
    database.close()
    report.say({"beside/alone": [round(ratio, 3) for ratio in ratios], "median": statistics.median(ratios)})


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--database", required=True)
    parser.add_argument("--transport", required=True)
    parser.add_argument("--rows", type=int, default=1_000_000, help="that the purge has to drop")
    parser.add_argument("--size", type=int, default=300, help="resources of a stack")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--workers", type=int, default=2)
    return parser.parse_args()


def plant(database: Database, rows: int) -> None:
    """Put deleted stacks into a database that have so many rows together."""
    stacks = max(rows // OF_STACK, 1)
    for first in range(0, stacks, TOGETHER):
        _plant_some(database, [new_id() for _ in range(min(TOGETHER, stacks - first))])


def _plant_some(database: Database, ids: list[str]) -> None:
    with database.engine.begin() as connection:
        connection.execute(sa.insert(stack), [_stack(each) for each in ids])
        connection.execute(sa.insert(raw_template), [placed(raw_template, _template(each)) for each in ids])
        its_template = sa.select(raw_template.c.id).where(raw_template.c.stack_id == stack.c.id)
        named = {"raw_template_id": its_template.scalar_subquery()}
        connection.execute(sa.update(stack).where(stack.c.id.in_(ids)).values(named))
        connection.execute(sa.insert(event), [_event(each) for each in ids for _ in range(OF_STACK - 2)])


def _stack(stack_id: str) -> Row:
    return {
        "id": stack_id,
        "name": f"deleted-{stack_id}",
        "project_id": "perf",
        "root_stack_id": stack_id,
        "description": "",
        "raw_template_id": 0,
        "current_traversal": new_id(),
        "action": "DELETE",
        "status": "COMPLETE",
        "status_reason": "Stack DELETE completed successfully",
        "phase": "DONE",
        "disable_rollback": True,
        "atomic_key": 1,
        "created_at": BEGIN,
        "deleted_at": BEGIN,
    }


def _template(stack_id: str) -> Row:
    text = {"heat_template_version": "2021-04-16", "description": "x" * 1000}
    return {
        "uuid": new_id(),
        "stack_id": stack_id,
        "template": text,
        "environment": {},
        "files": {},
        "outputs": {},
        "parameters": {},
    }


def _event(stack_id: str) -> Row:
    return {
        "uuid": new_id(),
        "stack_id": stack_id,
        "resource_name": "resource",
        "resource_type": "OS::Heat::None",
        "action": "CREATE",
        "status": "COMPLETE",
        "status_reason": "state changed",
        "created_at": BEGIN,
    }


def _create(bench: Bench, size: int, name: str) -> dict[str, Any]:
    wish = SHAPES["wide"](size, Member(), "x")
    record = bench.operation("create", wish.count, lambda: bench.start(name, wish.body))
    return {"size": size, **record}


@contextmanager
def _nothing() -> Iterator[None]:
    yield None


@contextmanager
def _purging(daemons: Measured, database: Database) -> Iterator[subprocess.Popen[bytes]]:
    """Let a purge run that has begun to drop rows, and kill it in the end."""
    before = _left(database)
    command = [program("heatconv-manage"), "--config-file", str(daemons.config_file), "purge_deleted", "0"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as purge:
        try:
            deadline = time.monotonic() + BEGINS
            while _left(database) == before:
                if time.monotonic() > deadline or purge.poll() is not None:
                    raise SystemExit("The purge drops nothing.")
                time.sleep(0.05)
            yield purge
        finally:
            if purge.poll() is None:
                purge.send_signal(signal.SIGKILL)


def _left(database: Database) -> int:
    """Return how many deleted stacks are left; it is in an index, and costs next to nothing to ask for."""
    mine = sa.select(sa.func.count()).select_from(stack).where(stack.c.deleted_at <= BEGIN)
    with database.engine.connect() as connection:
        return int(connection.scalar(mine) or 0)


if __name__ == "__main__":
    main()
