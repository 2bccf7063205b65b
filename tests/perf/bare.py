# SPDX-License-Identifier: Apache-2.0
"""The transactions of one check with nothing around them: ``python -m tests.perf.bare --database URL ...``.

What a worker sends to create a resource of a stack is sent here too: the same
statements on the same tables, in the same transactions, each after one message
was taken, and followed by one message for each node that became ready.  There
is no ORM, no retry of anything but a deadlock, no encryption, no plugin and no
decision.  ``test_bench`` counts on both sides that it stays so.
"""

from __future__ import annotations

import argparse
import functools
import threading
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from heatconv import conf as configuration
from heatconv.db.plumbing.session import Database
from heatconv.rpc.bus import Bus
from tests.perf import bare_sql
from tests.perf.tally import SharedTally

TOPIC = "heatconv-perf-bare"
DEADLOCKS = 20  #: in a row after which something else is wrong

Run = Callable[..., Any]  #: runs a statement of a transaction and returns its rows


class Bare:
    """Converges nodes with no thought."""

    def __init__(self, engine: sa.Engine, tally: SharedTally, cast: Callable[[str, str, str], None]) -> None:
        self._engine = engine
        self._tally = tally
        self._cast = cast
        self._me = str(uuid.uuid4())
        self._own = threading.local()
        self._conflict: type[Exception] = engine.dialect.loaded_dbapi.OperationalError
        statements = self._statements = bare_sql.Statements(engine.dialect)
        self._begin = "BEGIN IMMEDIATE" if engine.dialect.name == "sqlite" else None
        self._read, self._read_inputs = (
            statements.spelt(bare_sql.READ),
            statements.spelt(bare_sql.READ_INPUTS),
        )
        self._lock, self._add_event = statements.spelt(bare_sql.LOCK), statements.spelt(bare_sql.ADD_EVENT)
        self._write_physical_id = statements.spelt(bare_sql.WRITE_PHYSICAL_ID)
        self._finish_row, self._finish_node = (
            statements.spelt(bare_sql.FINISH_ROW),
            statements.spelt(bare_sql.FINISH_NODE),
        )
        self._lock_successors = statements.spelt(bare_sql.LOCK_SUCCESSORS)

    def check(self, stack_id: str, traversal_id: str, resource_id: str) -> None:
        """Do for a node what a worker does, and cast those that are ready then."""
        held = self._transaction(lambda run: self._claim(run, stack_id, traversal_id, resource_id))
        key = {"key_id": resource_id, "key_engine_id": self._me, "key_atomic_key": held["atomic_key"]}
        self._transaction(lambda run: run(self._write_physical_id, physical_id=resource_id, **key))
        ready = self._transaction(
            lambda run: self._finish(run, stack_id, traversal_id, resource_id, held["desired"], key)
        )
        for ready_id in ready:
            if ready_id != stack_id:  # that is the end
                self._tally.add("messages")
                self._cast(stack_id, traversal_id, ready_id)

    def _claim(self, run: Run, stack_id: str, traversal_id: str, resource_id: str) -> Mapping[str, Any]:
        node = _node(traversal_id, resource_id)
        (row,) = run(self._read, **node)
        atomic_key, desired = row[bare_sql.ATOMIC_KEY], row[bare_sql.DESIRED]
        if row[bare_sql.REQUIRED]:
            run(self._read_inputs, **node)
        mine = {"type": "OS::Heat::None", "engine_id": self._me, "atomic_key": atomic_key + 1}
        seen = {"key_id": resource_id, "key_atomic_key": atomic_key}
        run(self._lock, progress=desired, **mine, **seen)
        run(self._add_event, **_event(stack_id, resource_id, "IN_PROGRESS"))
        return {"atomic_key": atomic_key + 1, "desired": desired}

    def _finish(
        self,
        run: Run,
        stack_id: str,
        traversal_id: str,
        resource_id: str,
        desired: str,
        key: Mapping[str, Any],
    ) -> list[str]:
        run(self._finish_row, applied=desired, reference_id=bare_sql.SEALED, **key)
        run(self._add_event, **_event(stack_id, resource_id, "COMPLETE"))
        run(self._finish_node, **_node(traversal_id, resource_id))
        return self._propagate(run, stack_id, traversal_id, resource_id, says=True)

    def _propagate(self, run: Run, stack_id: str, traversal_id: str, sender: str, *, says: bool) -> list[str]:
        """Count a node in at its successors, and a full join at its own; return the nodes that are ready."""
        successors = run(self._lock_successors, **_node(traversal_id, sender))
        receivers = sorted({join or successor for successor, join, *_ in successors} - {stack_id})
        if says and receivers:
            names = {f"receiver_{number}": receiver for number, receiver in enumerate(receivers)}
            statement = self._statements.give(len(receivers))
            run(statement, traversal=traversal_id, stack=stack_id, sender=sender, **names)
        if successors:
            ids = {f"successor_{number}": row[0] for number, row in enumerate(successors)}
            counted = self._statements.count_in(len(successors))
            run(counted, key_traversal_id=traversal_id, key_is_update=True, **ids)
        ready = []
        for successor, join, required, satisfied in successors:
            if satisfied + 1 < required:
                continue
            if join is None:
                ready.append(successor)
            else:
                run(self._finish_node, **_node(traversal_id, successor))
                ready += self._propagate(run, stack_id, traversal_id, successor, says=False)
        return ready

    # -- transactions -------------------------------------------------------------------------

    def _transaction(self, work: Callable[[Run], Any]) -> Any:
        """Run a transaction, once more for each deadlock; return what it returns."""
        for attempt in range(DEADLOCKS):
            try:
                with self._cursor() as cursor:
                    return work(functools.partial(self._run, cursor))
            except self._conflict:
                if attempt == DEADLOCKS - 1:
                    raise
        return None

    def _run(self, cursor: Any, statement: Callable[..., tuple[str, Any]], **values: Any) -> Any:
        cursor.execute(*statement(**values))
        self._tally.add("statements")
        return cursor.fetchall() if cursor.description else None

    @contextmanager
    def _cursor(self) -> Iterator[Any]:
        if not hasattr(self._own, "connection"):
            self._own.connection = self._engine.raw_connection()  # kept: each thread has its own
        connection = self._own.connection
        cursor = connection.cursor()
        try:
            if self._begin:
                cursor.execute(self._begin)
                self._tally.add("statements")
            yield cursor
        except BaseException:
            connection.rollback()
            raise
        connection.commit()
        self._tally.add("commits")


def _node(traversal_id: str, resource_id: str) -> dict[str, Any]:
    return {"key_traversal_id": traversal_id, "key_resource_id": resource_id, "key_is_update": True}


def _event(stack_id: str, resource_id: str, status: str) -> dict[str, Any]:
    return {
        "uuid": str(uuid.uuid4()),
        "stack_id": stack_id,
        "resource_id": resource_id,
        "physical_id": None if status == "IN_PROGRESS" else resource_id,
        "status": status,
    }


def main() -> None:
    """Take messages until killed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--database", required=True)
    parser.add_argument("--transport", required=True)
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--tally", type=Path, required=True)
    parser.add_argument("--name", required=True)
    arguments = parser.parse_args()
    database = Database(connection=arguments.database, max_pool_size=arguments.threads)
    bus = Bus(configuration.load([], prog="perf", default_config_files=[]), arguments.transport)
    client = bus.client(TOPIC)

    def cast(stack_id: str, traversal_id: str, resource_id: str) -> None:
        client.cast({}, "check", stack_id=stack_id, traversal_id=traversal_id, resource_id=resource_id)

    bare = Bare(database.engine, SharedTally(arguments.tally), cast)
    methods = {"check": lambda _context, **ids: bare.check(**ids)}
    bus.serve(TOPIC, arguments.name, methods, threads=arguments.threads, executor="threading")
    print(f"{arguments.name} is up", flush=True)
    threading.Event().wait()


if __name__ == "__main__":
    main()
