# SPDX-License-Identifier: Apache-2.0
"""The core on a real database, driven by hand: nothing happens but what a test lets happen.

Engines and workers are the real ones; between them there is no bus but a list
of what was rung for, and no clock but a list of what a worker comes back to.
The resource types are those of the fake cloud of this process.

Tables are read as they are and told in few words.  ``C+`` is the update node of
the resource C, ``C-`` its cleanup node, ``stack+`` and ``stack-`` are the
stack's own; a row that takes over from the row C is ``C'``, the next ``C''``.
A join has no row: it is ``join+`` or ``join-``.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import sqlalchemy as sa

from heatconv.assembly import worker as assembly
from heatconv.assembly.engine import Engine, EngineSettings
from heatconv.db.convergence import services
from heatconv.db.convergence.traversals import Started
from heatconv.db.plumbing.places import Opened, sealed_columns
from heatconv.db.plumbing.session import Database
from heatconv.db.tables import (
    event,
    graph_edge,
    raw_template,
    resource,
    stack,
    sync_point,
    sync_point_input,
)
from heatconv.engine.freezer import Freezer
from heatconv.engine.requests import Requests
from heatconv.model.ids import new_id
from heatconv.model.nodes import Direction, Node
from heatconv.resources.registry import Registry
from heatconv.resources.resource import Resource
from heatconv.rpc.context import RequestContext
from heatconv.testing.cloud import IN_PROCESS
from heatconv.testing.doorbell import NotedDoorbell, Ring
from heatconv.testing.keys import KEYRING
from heatconv.testing.templates import Template, Thing, differences

CONTEXT = RequestContext(project_id="tests")
HOUR = 3600.0


class Worker:
    """A worker with connections, an engine id and timers of its own."""

    settings: Callable[..., assembly.WorkerSettings] = assembly.WorkerSettings  #: called with who it is
    spare_capacity = 0  #: how many nodes it takes up that it made ready; it rings for all others
    checks_at_once = 1  #: how many checks it takes itself to be at

    def __init__(self, database: Database, registry: Registry, bell: NotedDoorbell) -> None:
        self.engine_id = new_id()
        self.database = database
        self._later: list[Callable[[], None]] = []
        worker = assembly.Worker(
            database,
            registry,
            bell,
            self,
            self.settings(engine_id=self.engine_id, dead_after=HOUR),
            spare_capacity=lambda _tree: self.spare_capacity,
            checks_at_once=lambda: self.checks_at_once,
        )
        self.checker, self.held = worker.checker, worker.held
        services.heartbeat(
            self.database,
            engine_id=self.engine_id,
            host="here",
            binary="heatconv-worker",
            topic="heatconv-worker",
            interval=60,
        )

    def call_later(self, seconds: float, function: Callable[[], None]) -> None:
        """Keep a call that is due later, for ``come_back``."""
        self._later.append(function)

    def call_engine(self, function: Callable[[], None]) -> None:
        """Call a function at once."""
        function()

    def come_back(self) -> bool:
        """Make the calls that were due later; return whether there were any."""
        due, self._later = self._later, []
        for function in due:
            function()
        return bool(due)

    def watch_for_errors(self) -> list[str]:
        """Return a list to which the errors that the database reports are added from now on."""
        reported: list[str] = []
        sa.event.listen(
            self.database.engine,
            "handle_error",
            lambda context: reported.append(str(context.original_exception)),
        )
        return reported

    def die(self) -> None:
        """Stop to heartbeat."""
        services.forget(self.database, self.engine_id)


class World:
    """One stack, the engines and workers at it, and the tables behind them."""

    def __init__(self, url: str, registry: Registry) -> None:
        IN_PROCESS.reset()
        self.cloud = IN_PROCESS
        self.bell = NotedDoorbell()
        self._url = url
        self._registry = registry
        self._labels: dict[str, str] = {}
        self._opened: list[Database] = []
        self._workers: dict[str, Worker] = {}
        self.database = self._open()
        self.engine = self.new_engine()
        self.worker = self.new_worker()
        self.stack_id = ""
        self.together = 1  #: how many nodes that are rung for together share a message

    def close(self) -> None:
        for database in self._opened:
            database.close()
        IN_PROCESS.reset()

    # -- who is there ------------------------------------------------------------------------

    def plugin_of(self, wanted: Thing) -> type[Resource]:
        """Return the class that makes a resource."""
        return self._registry.get(wanted.type)

    def new_engine(
        self,
        freezer: type[Freezer] = Freezer,
        kind: type[Database] = Database,
        *,
        max_stacks: int = -1,
    ) -> Requests:
        """Return another engine, with connections of its own."""
        settings = EngineSettings(dead_after=HOUR, max_stacks=max_stacks)
        prepared = type("Prepared", (Engine,), {"freezer_type": freezer})
        made: Engine = prepared(self._open(kind), self._registry, self.bell, settings)
        return made.requests

    def new_worker(self, kind: type[Database] = Database) -> Worker:
        """Return another worker."""
        worker = Worker(self._open(kind), self._registry, self.bell)
        self._workers[worker.engine_id] = worker
        return worker

    def _open(self, kind: type[Database] = Database) -> Database:
        self._opened.append(kind.from_url(self._url, KEYRING))
        return self._opened[-1]

    def _ring(self, started: Started) -> None:
        self.bell.ring(started.stack_id, started.traversal_id, started.leaves)

    # -- what a user asks for ------------------------------------------------------------------

    def create(self, template: Template, *, rollback: bool = False, name: str = "web") -> None:
        options = {"disable_rollback": not rollback}
        self.stack_id = self.engine.create_stack(CONTEXT, name, {"template": template.hot()}, options)

    def update(self, template: Template, *, rollback: bool = False, engine: Requests | None = None) -> None:
        options = {"disable_rollback": not rollback}
        source = {"template": template.hot()}
        (engine or self.engine).update_stack(CONTEXT, self.stack_id, source, options, existing=False)

    def delete(self) -> None:
        found = self.engine.find_to_delete(CONTEXT, self.stack_id)
        self.engine.begin_deletion(CONTEXT, found, abandon=False)

    def roll_back(self) -> None:
        self.engine.rollback_stack(CONTEXT, self.stack_id)

    # -- what happens --------------------------------------------------------------------------

    def check(self, label: str, worker: Worker | None = None) -> list[str]:
        """Let a worker check a node of the current traversal; return the nodes that it rings for."""
        self.bell.take()
        node = self.node(label)
        (worker or self.worker).checker.check(self.stack_id, self.stack.current_traversal, node)
        return self.rung()

    def come_back(self, worker: Worker | None = None) -> list[str]:
        """Let a worker look again at everything it waits for; return the nodes that it rings for."""
        self.bell.take()
        (worker or self.worker).come_back()
        return self.rung()

    def rung(self) -> list[str]:
        """Return, in order, the nodes of the current traversal that were rung for."""
        current = self.stack.current_traversal
        return sorted(self.label(node) for _, traversal, node in self.bell.rung if traversal == current)

    def run(self, threads: int = 1, copies: int = 1) -> None:
        """Let everything happen, until nothing is left to happen.

        So many threads check what was rung for; each message comes in so many copies.
        """
        with ThreadPoolExecutor(threads) as pool:
            while rung := self._next_rung():
                messages = [message for message in self._messages(rung) for _ in range(copies)]
                list(pool.map(lambda message: self.worker.checker.check(*message), messages))

    def _messages(self, rung: Sequence[Ring]) -> Iterator[tuple[Any, ...]]:
        for key, rings in itertools.groupby(rung, lambda ring: ring[:2]):
            nodes = [node for *_, node in rings]
            for start in range(0, len(nodes), self.together):
                yield *key, *nodes[start : start + self.together]

    def _next_rung(self) -> list[Ring]:
        """Return the nodes to be checked now; let time pass until there are some, or nothing goes on."""
        while not self.bell.rung:
            while self.bell.preempted:
                engine_id, resource_id, traversal_id = self.bell.preempted.pop()
                self._workers[engine_id].held.give_up(resource_id, traversal_id)
            while self.bell.rollbacks:
                self.engine.prepare_rollback(self.bell.rollbacks.pop())
            came_back = [worker.come_back() for worker in self._workers.values()]
            if not (self.bell.rung or any(came_back)):
                break
        return self.bell.take()

    # -- what the tables say --------------------------------------------------------------------

    @property
    def stack(self) -> Any:
        """The row of the stack."""
        return self.select(stack, stack.c.id == self.stack_id)[0]

    @property
    def state(self) -> str:
        return f"{self.stack.action}_{self.stack.status}"

    def row(self, label: str) -> Any:
        """Return the row of a resource."""
        return self._rows()[label]

    def rows(self) -> dict[str, str]:
        """Return each resource's state, and its version."""
        return {
            label: f"{row.action}_{row.status} v{row.version}" for label, row in sorted(self._rows().items())
        }

    def points(self) -> dict[str, str]:
        """Return each sync point's state, and how many of its required nodes have sent their outputs."""
        self._rows()
        return {
            self._node(row.resource_id, row.is_update): f"{row.state} {row.satisfied}/{row.required}"
            for row in self.select(sync_point)
        }

    def point(self, label: str) -> Any:
        """Return the sync point of a node."""
        return next(
            row for row in self.select(sync_point) if self._node(row.resource_id, row.is_update) == label
        )

    def edges(self) -> set[str]:
        """Return the graph, each edge from the required node to the one that requires it."""
        self._rows()
        return {
            f"{self._node(row[1], row[2])} {self._node(row.needed_by_id, row.needed_by_is_update)}"
            for row in self.select(graph_edge)
        }

    def inputs(self) -> dict[str, dict[str, str | None]]:
        """Return the inputs each node has received: the reference id, by its sender."""
        received: dict[str, dict[str, str | None]] = {}
        for row in self.select(sync_point_input):
            node = self._node(row.resource_id, row.is_update)
            sender = self._node(row.sender_id, row.sender_is_update)
            received.setdefault(node, {})[sender] = row.data["reference_id"]
        return received

    def templates(self) -> set[int]:
        """Return the ids of the templates there are."""
        return {row.id for row in self.select(raw_template)}

    def events(self) -> list[str]:
        """Return what happened, in order."""
        rows = sorted(self.select(event), key=lambda row: row.id)
        return [f"{row.resource_name} {row.action}_{row.status}" for row in rows]

    def everything(self) -> dict[str, list[Any]]:
        """Return every row of every table that a worker writes to."""
        tables = (stack, resource, sync_point, sync_point_input, graph_edge, raw_template, event)
        return {table.name: sorted(self.select(table), key=repr) for table in tables}

    def select(self, table: sa.Table, *where: sa.ColumnElement[bool]) -> Sequence[Any]:
        with self.database.engine.connect() as connection:
            found = connection.execute(sa.select(table).where(*where)).all()
        if not sealed_columns(table):
            return found
        opened = [Opened(table, row) for row in found]
        names = table.c.keys()
        return [SimpleNamespace(**{name: getattr(row, name) for name in names}) for row in opened]

    # -- what the cloud says ---------------------------------------------------------------------

    def differences(self, template: Template) -> list[str]:
        """Return the problems of the world, if this template was asked for."""
        return differences(template, self.cloud.owned())

    def calls(self, since: int = 0) -> list[str]:
        """Return the requests to the cloud that changed it, in order."""
        return [
            f"{entry.op} {entry.owner.rpartition('/')[2]}"
            for entry in self.cloud.audit(since)
            if entry.op in ("create", "update", "delete")
        ]

    # -- names ------------------------------------------------------------------------------------

    def node(self, label: str) -> Node:
        """Return the node of a label."""
        self._rows()
        ids = {name: row_id for row_id, name in self._labels.items()} | {"stack": self.stack_id}
        return Node(ids[label[:-1]], Direction.UPDATE if label[-1] == "+" else Direction.CLEANUP)

    def label(self, node: Node) -> str:
        """Return the label of a node."""
        self._rows()
        return self._node(node.resource_id, node.direction is Direction.UPDATE)

    def _node(self, resource_id: str, is_update: bool) -> str:
        name = "stack" if resource_id == self.stack_id else self._labels.get(resource_id, "join")
        return name + ("+" if is_update else "-")

    def _rows(self) -> dict[str, Any]:
        """Return the resources by label; one seen for the first time gets one, for good."""
        rows = sorted(self.select(resource), key=lambda row: (row.version, row.id))
        for row in rows:
            if row.id not in self._labels:
                label = row.name
                while label in self._labels.values():
                    label += "'"
                self._labels[row.id] = label
        return {self._labels[row.id]: row for row in rows}


def at_once(*functions: Callable[[], object]) -> list[Any]:
    """Call functions in a thread each, as nearly at once as can be; return what they return."""
    barrier = threading.Barrier(len(functions))

    def call(function: Callable[[], object]) -> object:
        barrier.wait()
        return function()

    with ThreadPoolExecutor(len(functions)) as pool:
        return list(pool.map(call, functions))


def interrupt(database: Database, after: int, function: Callable[[], object]) -> None:
    """Call a function once, when so many more transactions that write have been committed."""
    write, count = database.write, itertools.count(1)

    def then_call(transaction: Callable[[Any], Any]) -> Any:
        result = write(transaction)
        if next(count) == after:
            function()
        return result

    database.write = then_call
