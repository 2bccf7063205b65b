# SPDX-License-Identifier: Apache-2.0
"""A worker on the bus: takes ``check_resource`` casts and runs them on one pool of threads."""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any

from heatconv.assembly.serving import Serving
from heatconv.assembly.worker import Worker, WorkerSettings
from heatconv.db.plumbing.session import Database
from heatconv.metrics.declared import BUSY, HELD, QUEUED, THREADS
from heatconv.model.nodes import Direction, Node
from heatconv.resources.registry import Registry
from heatconv.rpc.asking import EngineCaller
from heatconv.rpc.bus import WORKER_TOPIC, Bell, Bus
from heatconv.rpc.engine_client import EngineClient
from heatconv.worker import engine_calls
from heatconv.worker.engines import Engines
from heatconv.worker.fair_queue import Check, FairQueue, TakenCheck
from heatconv.worker.waiting import WaitingRoom

LOG = logging.getLogger(__name__)

#: Threads that hand messages on to the pool; the pool does the work.
RECEIVERS = 2
TOGETHER = 4  #: nodes of a message that a thread claims at once, if there is a thread for each of them
SPARE = 8  #: threads for trees that have none here yet: those of a huge tree may all be busy for long
LAST_SECONDS = 2.5  #: what running checks get to end in when the worker is told to stop


class _OwnBell(Bell):
    """The bell of a worker, which needs no bus to wake itself."""

    def __init__(self, bus: Bus, engine_id: str, wake: Callable[[str], None]) -> None:
        super().__init__(bus)
        self._engine_id = engine_id
        self._wake = wake

    def wake(self, resource_id: str, engine_id: str | None = None) -> None:
        """Wake this worker at once; cast ``wake`` to another one, or to every one."""
        if engine_id == self._engine_id:
            self._wake(resource_id)
        else:
            super().wake(resource_id, engine_id)


class WorkerService:
    """One worker: a server on the bus, a pool, a waiting room."""

    def __init__(
        self,
        *,
        database: Database,
        registry: Registry,
        bus: Bus,
        settings: WorkerSettings,
        serving: Serving,
        may_act: Callable[[], bool],
    ) -> None:
        """Start to take messages.

        Args:
            may_act: whether this worker has heartbeat lately.
        """
        self._bell = _OwnBell(bus, serving.engine_id, functools.partial(self.wake, {}))
        self._queue = FairQueue(serving.threads)
        self._running: set[Future[None]] = set()
        self._pool = ThreadPoolExecutor(max_workers=serving.threads, thread_name_prefix="check")
        self._spare_pool = ThreadPoolExecutor(max_workers=SPARE, thread_name_prefix="spare")
        self._engine_pool = ThreadPoolExecutor(
            max_workers=engine_calls.MOST, thread_name_prefix="engine-call"
        )
        self._engine_calls = engine_calls.EngineCalls(
            lambda function: self._submit(function, self._engine_pool), self.backlog
        )
        self._threads = serving.threads
        self._stopped = False
        self._waiting_room = WaitingRoom(self._submit)
        self._worker = Worker(
            database,
            registry,
            self._bell,
            self,
            settings,
            may_act=may_act,
            spare_capacity=self._spare_capacity,
            checks_at_once=lambda: len(self._running),
            engines=Engines(EngineClient(engine_calls.FewCalls(EngineCaller(bus))), self._take_in),
        )
        QUEUED.read_by(self.backlog)
        HELD.read_by(self._worker.held.count)
        BUSY.read_by(lambda: len(self._running))
        THREADS.read_by(lambda: serving.threads)
        self._server = bus.serve(
            WORKER_TOPIC,
            serving.engine_id,
            {"check_resource": self.check_resource, "give_up": self.give_up, "wake": self.wake},
            threads=RECEIVERS,
            executor=serving.executor,
        )

    def check_resource(
        self,
        _context: Mapping[str, Any],
        stack_id: str,
        traversal_id: str,
        nodes: Sequence[tuple[str, bool]],
        tree: str | None = None,
    ) -> None:
        """Check some nodes, each a resource's id and whether it is its update node, when it is their turn.

        ``tree`` is whose turn that is, if who rang knows it.
        """
        taken = [
            Node(resource_id, Direction.UPDATE if is_update else Direction.CLEANUP)
            for resource_id, is_update in nodes
        ]
        self._take_in(stack_id, traversal_id, taken, tree)

    def _take_in(self, stack_id: str, traversal_id: str, nodes: Sequence[Node], tree: str | None) -> None:
        """Check some nodes when it is their turn."""
        if tree is not None:
            self._worker.trees.meet(stack_id, tree)
        its_tree = self._worker.trees.root_of(stack_id)
        together = 0 < len(nodes) <= min(TOGETHER, self._spare_capacity(its_tree))
        some = [tuple(nodes)] if together else [(node,) for node in nodes]
        checks = [Check(stack_id, traversal_id, each) for each in some]
        needed = self._queue.add(its_tree, checks)
        if needed.spare:
            self._submit(lambda: self._check(self._queue.take_of(its_tree)), self._spare_pool)
        for _ in range(needed.threads):
            self._submit(self._take_turn)
        if self._stopped:
            self._pass_on()

    def _spare_capacity(self, tree: str) -> int:
        """Return how many checks of a tree may be taken up beside those that run.

        The asking thread's is included.  While nodes wait, a tree has what ``FairQueue.keeps`` leaves it.
        """
        if self._stopped:
            return 0
        if self._queue:
            return int(self._queue.keeps(tree))
        return 1 + max(0, self._threads - len(self._running))

    def _take_turn(self) -> None:
        self._check(self._queue.take())

    def _check(self, turn: TakenCheck | None) -> None:
        if turn is None:  # another thread took it, or it was passed on
            return
        try:
            self._worker.checker.check(turn.check.stack_id, turn.check.traversal_id, *turn.check.nodes)
        finally:
            # The next turn is the pool's to give: what came due meanwhile has waited for longer.
            if self._queue.end(turn):
                self._submit(self._take_turn)
            self._engine_calls.go_on()

    def _pass_on(self) -> None:
        """Leave what waits for its turn to other workers."""
        waiting: dict[tuple[str, str, str], list[Node]] = {}
        for tree, check in self._queue.take_all():
            waiting.setdefault((check.stack_id, check.traversal_id, tree), []).extend(check.nodes)
        for (stack_id, traversal_id, tree), nodes in waiting.items():
            self._bell.ring(stack_id, traversal_id, nodes, tree)

    def give_up(self, _context: Mapping[str, Any], resource_id: str, traversal_id: str | None = None) -> None:
        """Stop waiting for an action on a row that is to be deleted, or that a newer wish overtakes."""
        self._submit(lambda: self._worker.held.give_up(resource_id, traversal_id))

    def wake(self, _context: Mapping[str, Any], resource_id: str) -> None:
        """Look at what waits for something to happen to a row."""
        self._worker.held.wake(resource_id)

    def call_later(self, seconds: float, function: Callable[[], None]) -> None:
        """Call a function on the pool once some seconds have passed."""
        self._waiting_room.call_later(seconds, function)

    def call_engine(self, function: Callable[[], None]) -> None:
        """Call a function on one of the threads that may wait for an engine."""
        self._engine_calls.call(function)

    def backlog(self) -> int:
        """Return how many checks were taken and neither are running nor done."""
        return len(self._queue)

    def stop(self) -> None:
        """Take no more messages, hand back what waits and what is queued, let finish what runs.

        What runs gets some seconds; a plugin that takes longer is taken over
        by another worker, as if this one had died.
        """
        self._server.stop()
        self._waiting_room.close()
        self._stopped = True
        self._pool.shutdown(wait=False, cancel_futures=True)
        self._spare_pool.shutdown(wait=False, cancel_futures=True)
        self._engine_pool.shutdown(wait=False, cancel_futures=True)
        self._pass_on()
        self._worker.held.hand_back()
        wait([future for future in list(self._running) if not future.cancelled()], timeout=LAST_SECONDS)
        self._worker.held.hand_back()

    def _submit(self, function: Callable[[], None], pool: ThreadPoolExecutor | None = None) -> None:
        try:
            future = (pool or self._pool).submit(_logged, function)
        except RuntimeError:  # the pool is shut down: recovery, or another worker, goes on
            return
        self._running.add(future)
        future.add_done_callback(self._running.discard)


def _logged(function: Callable[[], None]) -> None:
    """Run a function; what it raises is logged, and recovery rings for its node again."""
    try:
        function()
    except Exception:
        LOG.exception("a check ended in an error of ours; it will be tried again")
