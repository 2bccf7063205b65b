# SPDX-License-Identifier: Apache-2.0
"""A worker on the bus: takes ``check_resource`` casts and runs them on one pool of threads."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from heatconv.db.session import Database
from heatconv.model.nodes import Direction, Node
from heatconv.resources.registry import Registry
from heatconv.rpc.bus import WORKER_TOPIC, Bell, Bus
from heatconv.worker.check import Checker
from heatconv.worker.waiting import WaitingRoom

LOG = logging.getLogger(__name__)

#: Threads that hand messages on to the pool; the pool does the work.
RECEIVERS = 2


class WorkerService:
    """One worker: a server on the bus, a pool, a waiting room."""

    def __init__(
        self,
        *,
        database: Database,
        registry: Registry,
        bus: Bus,
        engine_id: str,
        dead_after: float,
        retry_limit: int,
        threads: int,
        executor: str,
    ) -> None:
        self._pool = ThreadPoolExecutor(max_workers=threads, thread_name_prefix="check")
        self._room = WaitingRoom(self._submit)
        self._checker = Checker(
            database=database,
            registry=registry,
            doorbell=Bell(bus),
            timer=self._room,
            engine_id=engine_id,
            dead_after=dead_after,
            retry_limit=retry_limit,
        )
        self._server = bus.serve(
            WORKER_TOPIC,
            engine_id,
            {"check_resource": self.check_resource},
            threads=RECEIVERS,
            executor=executor,
        )

    def check_resource(
        self, context: Mapping[str, Any], stack_id: str, resource_id: str, is_update: bool, traversal_id: str
    ) -> None:
        """Check a node, soon."""
        node = Node(resource_id, Direction.UPDATE if is_update else Direction.CLEANUP)
        self._submit(lambda: self._checker.check(stack_id, traversal_id, node))

    def stop(self) -> None:
        """Take no more messages, finish what runs, hand back what waits."""
        self._server.stop()
        self._room.close()
        self._pool.shutdown(wait=True, cancel_futures=True)
        self._checker.hand_back()
        self._server.wait()

    def _submit(self, function: Callable[[], None]) -> None:
        try:
            self._pool.submit(_logged, function)
        except RuntimeError:  # the pool is shut down: recovery, or another worker, goes on
            LOG.debug("not taken any more: %s", function)


def _logged(function: Callable[[], None]) -> None:
    """Run a function; what it raises is logged, and recovery rings for its node again."""
    try:
        function()
    except Exception:
        LOG.exception("a check ended in an error of ours; it will be tried again")
