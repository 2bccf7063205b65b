# SPDX-License-Identifier: Apache-2.0
"""heatconv on one thread, over a real database: engines, workers, a bus that is a queue.

Nothing is left to chance: messages are delivered in the order they were sent,
timers when no message is left, recovery when nothing else is due for a while,
and the observers' turns, of a stack that is observed, together with that.
What one process does between two of those is done in one go, what an engine does
for a worker that asks it included, so a run can be repeated exactly, up to the
boundary where a process dies or stops for a while (``mortal``).
"""

from __future__ import annotations

import heapq
import itertools
import json
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import greenlet  # type: ignore[import-untyped]
import sqlalchemy as sa

from heatconv import errors
from heatconv.assembly.engine import Engine, EngineSettings
from heatconv.assembly.worker import Worker, WorkerSettings
from heatconv.db.convergence import services
from heatconv.db.plumbing.session import Database
from heatconv.db.plumbing.types import utcnow
from heatconv.db.tables import restored_stack, service, stack, stack_observed
from heatconv.model.nodes import Node
from heatconv.model.states import Status
from heatconv.resources.registry import Registry
from heatconv.rpc.context import RequestContext
from heatconv.rpc.engine_client import EngineClient
from heatconv.worker.engines import Engines
from tests.chaos.mortal import Boundaries, Fate

DEAD_AFTER = 600  #: seconds; a run is over long before
TICK = 0.002  #: seconds; the resolution of SQLite's clock is one millisecond
RECOVERY = 30.0  #: seconds by the timers' clock between two recovery ticks
PATIENCE = 40  #: recovery ticks after which a world that is not quiet never will be
NUMBER = "00000000-0000-4000-8000-{:012}"
LONG_AGO: sa.ColumnElement[Any] = sa.literal_column("'2000-01-01 00:00:00'")

Do = Callable[[], object]


@dataclass(eq=False)
class Process:
    """A daemon, and its fate."""

    engine_id: str
    fate: Fate = field(default_factory=Fate)
    stopped: bool = False  #: for now: it takes nothing, and its timers wait

    @property
    def runs(self) -> bool:
        return not (self.fate.dead or self.stopped)


class Stage:
    """The processes and what goes on between them."""

    def __init__(
        self,
        database: Database,
        registry: Registry,
        boundaries: Boundaries,
        *,
        is_observed: bool = False,
        first: int = 1,
    ) -> None:
        """Keep what is handed in; ``first``: the number of the first daemon that joins."""
        self.is_observed = is_observed
        self.database = database
        self.registry = registry
        self.boundaries = boundaries
        self.history: list[str] = []  #: what happened, for whoever looks for a cause
        self._workers: list[tuple[Process, Worker]] = []
        self._engines: list[_Engine] = []
        self._numbers = itertools.count(first)
        self._order = itertools.count()
        self._now = 0.0  # the timers' clock: it jumps to the next one when there is nothing else to do
        self._timers: list[tuple[float, int, Process, Do]] = []
        self._messages: deque[Do] = deque()
        self._main = greenlet.getcurrent()
        self._stopped: list[tuple[Process, greenlet.greenlet]] = []

    # -- who is there ------------------------------------------------------------------------

    def add_worker(self, last: int | None = None, *, pauses: bool = False) -> Process:
        """Let a worker join; a message goes to the first that runs, in the order they joined."""
        process = self._process(last, pauses=pauses)
        worker = Worker(
            self.database,
            self.registry,
            _Bell(self),
            _Timer(self, process),
            WorkerSettings(engine_id=process.engine_id, dead_after=DEAD_AFTER, retry_limit=5),
            engines=Engines(EngineClient(_Caller(self)), _Bell(self).ring),
        )
        self._workers.append((process, worker))
        return process

    def add_engine(self, last: int | None = None) -> Process:
        """Let an engine join; a request goes to the first that runs."""
        process = self._process(last, pauses=False)
        self._engines.append(_Engine(self, process))
        return process

    def add_engine_first(self, last: int) -> Process:
        """Let an engine join that takes the next request, and dies at some boundary."""
        process = self.add_engine(last)
        self._engines.insert(0, self._engines.pop())
        return process

    def add_worker_first(self, last: int) -> Process:
        """Let a worker join that takes the next message, and dies at some boundary."""
        process = self.add_worker(last)
        self._workers.insert(0, self._workers.pop())
        return process

    def _process(self, last: int | None, *, pauses: bool) -> Process:
        process = Process(NUMBER.format(next(self._numbers)))
        process.fate = Fate(last, partial(self._stop, process) if pauses else None)
        with self.boundaries.of_nobody():
            services.heartbeat(
                self.database,
                engine_id=process.engine_id,
                host="stage",
                binary="heatconv",
                topic="heatconv",
                interval=DEAD_AFTER,
            )
        return process

    def _beat(self, process: Process, when: Any) -> None:
        mine = sa.update(service).where(service.c.engine_id == process.engine_id)
        with self.boundaries.of_nobody(), self.database.engine.begin() as connection:
            connection.execute(mine.values(updated_at=when))

    def let_turns_be_due(self) -> None:
        """Let as much time pass that everything observed is to be looked at, whoever has taken its turn."""
        with self.boundaries.of_nobody(), self.database.engine.begin() as connection:
            connection.execute(sa.update(stack_observed).values(due_at=LONG_AGO))
            connection.execute(sa.update(restored_stack).values(due_at=LONG_AGO))

    # -- what is asked -----------------------------------------------------------------------

    def ask(self, method: str, *arguments: Any, retry: bool = True, **options: Any) -> Exception | None:
        """Ask an engine for something as a client does: again, if no answer came and ``retry``.

        Returns the refusal, if that was the answer.
        """
        context = RequestContext(project_id="stage")
        while True:
            answer: list[Exception | None] = []
            engine = self._engine()
            call = partial(engine.methods[method], context, *arguments, **options)
            self._perform(engine.process, method, partial(_answer, call, answer))
            if engine.process.runs:
                return answer[0]
            if not retry:
                return None

    def call(self, context: RequestContext, method: str, arguments: dict[str, Any]) -> Any:
        """Let an engine do something for a worker, which waits.

        Raises:
            TransportError: it died before it could answer.
        """
        engine = self._engine()
        returned: list[Any] = []
        carried = json.loads(json.dumps(arguments))
        call = partial(engine.methods[method], context, **carried)
        self.history.append(f"{engine.process.engine_id[-1]} {method} for a worker")
        self._live(engine.process, lambda: returned.append(call()))
        if not engine.process.runs:
            raise errors.TransportError(reason="no engine answered in time")
        return json.loads(json.dumps(returned[0]))

    def send(self, message: Do) -> None:
        """Put a message on the bus, behind those that are there."""
        self._messages.append(message)

    # -- time passes -------------------------------------------------------------------------

    def run(self) -> None:
        """Let everything happen until nothing is left to happen, recovery included.

        Raises:
            AssertionError: that does not come to an end.
        """
        quiet = 0
        for _ in range(PATIENCE):
            self._drain()
            quiet = 0 if self._in_progress() or self._is_waited_for() else quiet + 1
            if quiet > 1:
                if not self._stopped:
                    return
                self._go_on()
                quiet = 0
                continue
            # Nodes that became READY up to now have to be older than now, by the database's clock.
            time.sleep(TICK)
            engine = self._engine()
            self._perform(engine.process, "recovery", engine.recovery.tick)
            if self.is_observed:
                engine = self._engine()
                self._perform(engine.process, "observer", engine.tick)
        raise AssertionError("no end: " + " | ".join(self.history[-30:]))

    def _drain(self) -> None:
        """Deliver everything, until no timer is due before the next recovery tick."""
        late, until = [], self._now + RECOVERY
        while self._messages or (self._timers and self._timers[0][0] <= until):
            if self._messages:
                self._messages.popleft()()
                continue
            timer = heapq.heappop(self._timers)
            self._now, _, process, function = timer
            if process.stopped:
                late.append(timer)
            else:
                self._perform(process, "a timer", function)
        for timer in late:
            heapq.heappush(self._timers, timer)
        self._now = until

    def _is_waited_for(self) -> bool:
        return any(process.runs for _, _, process, _ in self._timers)

    def _in_progress(self) -> bool:
        query = sa.select(sa.func.count()).select_from(stack).where(stack.c.status == Status.IN_PROGRESS)
        with self.boundaries.of_nobody(), self.database.engine.connect() as connection:
            return bool(connection.scalar(query))

    # -- what a process does, until it dies or stops -------------------------------------------

    def _perform(self, process: Process, what: str, function: Do) -> None:
        """Let a process do something in one go."""
        if process.runs:
            self.history.append(f"{process.engine_id[-1]} {what}")
            greenlet.greenlet(partial(self._live, process, function), self._main).switch()

    def _live(self, process: Process, function: Do) -> None:
        try:
            with self.boundaries.of(process.fate):
                function()
        except BaseException:
            # Libraries that clean up after a death may turn it into an error of theirs.
            if not process.fate.dead:
                raise
        if process.fate.dead:
            self.history.append(f"{process.engine_id[-1]} dies {process.fate.passed[-1]}")
            self._beat(process, LONG_AGO)

    def _stop(self, process: Process) -> None:
        """Stop the process that runs now; before it goes on it will have counted as dead."""
        self.history.append(f"{process.engine_id[-1]} stops {process.fate.passed[-1]}")
        self._beat(process, LONG_AGO)
        process.stopped = True
        self._stopped.append((process, greenlet.getcurrent()))
        with self.boundaries.of_nobody():
            self._main.switch()

    def _go_on(self) -> None:
        process, task = self._stopped.pop()
        self.history.append(f"{process.engine_id[-1]} goes on")
        process.stopped = False
        self._beat(process, utcnow())
        task.switch()

    # -- the bus and the timers ------------------------------------------------------------------

    def ring(self, stack_id: str, traversal_id: str, nodes: Sequence[Node], tree: str | None = None) -> None:
        """Send a message for each pair of nodes; whoever rings may die before each."""
        for start in range(0, len(nodes), 2):
            self.boundaries.at("before a cast")
            self.send(partial(self._check, stack_id, traversal_id, *nodes[start : start + 2]))
        self.boundaries.at("after the casts")

    def _check(self, stack_id: str, traversal_id: str, *nodes: Node) -> None:
        process, worker = next(each for each in self._workers if each[0].runs)
        check = partial(worker.checker.check, stack_id, traversal_id, *nodes)
        self._perform(process, f"checks {' and '.join(map(str, nodes))}", check)

    def ask_to_give_up(self, engine_id: str, resource_id: str, traversal_id: str | None) -> None:
        """Send a worker the message that a row it waits for is wanted otherwise."""
        self.boundaries.at("before a cast")
        self.send(partial(self._give_up, engine_id, resource_id, traversal_id))

    def _give_up(self, engine_id: str, resource_id: str, traversal_id: str | None) -> None:
        for process, worker in self._workers:
            if process.engine_id == engine_id:
                give_up = partial(worker.held.give_up, resource_id, traversal_id)
                self._perform(process, f"gives up {resource_id}", give_up)

    def send_wake(self, resource_id: str, engine_id: str | None) -> None:
        """Send a worker, or each, the message that something happened to a row."""
        self.boundaries.at("before a cast")
        self.send(partial(self._wake, resource_id, engine_id))

    def _wake(self, resource_id: str, engine_id: str | None) -> None:
        for process, worker in self._workers:
            if engine_id in (None, process.engine_id):
                self._perform(process, f"is woken for {resource_id}", partial(worker.held.wake, resource_id))

    def ask_to_roll_back(self, stack_id: str) -> None:
        """Send an engine the message that a stack waits for its rollback."""
        self.boundaries.at("before a cast")
        self.send(partial(self._roll_back, stack_id))

    def _roll_back(self, stack_id: str) -> None:
        engine = self._engine()
        self._perform(engine.process, "rolls back", partial(engine.requests.prepare_rollback, stack_id))

    def call_later(self, process: Process, seconds: float, function: Do) -> None:
        """Let a process do something later."""
        heapq.heappush(self._timers, (self._now + seconds, next(self._order), process, function))

    def _engine(self) -> _Engine:
        return next(engine for engine in self._engines if engine.process.runs)


class _Engine:
    """What an engine is made of."""

    def __init__(self, stage: Stage, process: Process) -> None:
        self.process = process
        settings = EngineSettings(dead_after=DEAD_AFTER, default_timeout=DEAD_AFTER)
        engine = Engine(stage.database, stage.registry, _Bell(stage), settings)
        self.requests, self.recovery, self._observer = engine.requests, engine.recovery, engine.observer
        self._purging, self._restored = engine.purging, engine.restored
        lifecycle = engine.lifecycle
        self._stage = stage

        def delete_snapshots(context: RequestContext, name: str) -> None:
            for each in lifecycle.list_snapshots(context, name):
                lifecycle.delete_snapshot(context, name, each["id"])

        self.methods: dict[str, Callable[..., Any]] = {
            "create_stack": self.requests.create_stack,
            "create_nested_stacks": engine.nested_creation.create_nested_stacks,
            "update_stack": self.requests.update_stack,
            "rollback_stack": self.requests.rollback_stack,
            "delete_stack": lifecycle.delete_stack,
            "abandon_stack": lifecycle.abandon_stack,
            "cancel_stack": self.requests.cancel_stack,
            "suspend_stack": lifecycle.suspend_stack,
            "resume_stack": lifecycle.resume_stack,
            "check_stack": lifecycle.check_stack,
            "create_snapshot": lifecycle.create_snapshot,
            "restore_last": lambda context, name: lifecycle.restore_snapshot(
                context, name, lifecycle.list_snapshots(context, name)[-1]["id"]
            ),
            "delete_snapshots": delete_snapshots,
            "signal_resource": engine.signals.signal_resource,
            "show_stack": engine.reads.show_stack,
            "show_resource": engine.resource_reads.show_resource,
            "create_plan": engine.plans.create_plan,
            "show_plan": engine.plans.show_plan,
            "apply_plan": engine.plans.apply_plan,
            "observe_stack": engine.drift_requests.observe_stack,
            "converge_stack": engine.drift_requests.converge_stack,
            "tick": lambda _context: self.tick(),
        }

    def tick(self) -> None:
        """Look at the observed stacks, it is time for all of them; and drop what nobody needs, once."""
        self._stage.let_turns_be_due()
        self._observer.tick()
        self._restored.tick()
        self._purging.tick()


@dataclass(frozen=True)
class _Caller:
    """How a worker asks an engine for something."""

    stage: Stage

    def call(self, context: RequestContext, method: str, **arguments: Any) -> Any:
        """Let an engine do it; the worker may die before and after."""
        self.stage.boundaries.at("before a call")
        answer = self.stage.call(context, method, arguments)
        self.stage.boundaries.at("after a call")
        return answer


@dataclass(frozen=True)
class _Bell:
    """The workers' and the engines' ``Doorbell``."""

    stage: Stage

    def ring(self, stack_id: str, traversal_id: str, nodes: Sequence[Node], tree: str | None = None) -> None:
        self.stage.ring(stack_id, traversal_id, nodes)

    def roll_back(self, stack_id: str) -> None:
        self.stage.ask_to_roll_back(stack_id)

    def wake(self, resource_id: str, engine_id: str | None = None) -> None:
        self.stage.send_wake(resource_id, engine_id)

    def preempt(self, engine_id: str, resource_id: str, traversal_id: str | None = None) -> None:
        self.stage.ask_to_give_up(engine_id, resource_id, traversal_id)


@dataclass(frozen=True)
class _Timer:
    """A process's ``Timer``."""

    stage: Stage
    process: Process

    def call_later(self, seconds: float, function: Callable[[], None]) -> None:
        self.stage.call_later(self.process, seconds, function)

    def call_engine(self, function: Callable[[], None]) -> None:
        function()


def _answer(call: Do, answer: list[Exception | None]) -> None:
    try:
        call()
    except Exception as refusal:  # noqa: BLE001 - whoever asked judges it
        answer.append(refusal)
    else:
        answer.append(None)
