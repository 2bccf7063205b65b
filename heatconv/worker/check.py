# SPDX-License-Identifier: Apache-2.0
"""The way a ``check_resource`` message takes: claim, act, propagate, ring.

Commit, then ring: every ring may be lost, doubled or late, and every line here
may be a process's last; recovery finds what is READY and rings again.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Protocol, assert_never

from heatconv.db import checks, claims, resources, sync_points, traversals
from heatconv.db.session import Database
from heatconv.model.nodes import Direction, Node
from heatconv.model.outcomes import (
    Busy,
    Claimed,
    Failure,
    Fenced,
    Finish,
    Idle,
    Propagated,
    StackFailed,
    Superseded,
)
from heatconv.model.records import Job
from heatconv.model.states import Status
from heatconv.resources.registry import Registry
from heatconv.resources.resource import Resource
from heatconv.worker.act import Actor
from heatconv.worker.decide import decide
from heatconv.worker.endings import Ending, Failed, Gone, Lost, Made, Passed, Waiting

LOG = logging.getLogger(__name__)

RETRY_DELAY = 1.0  #: seconds until a transaction that the database did not take is tried again


class Doorbell(Protocol):
    """How a worker tells others that there is something to do; nothing it rings may matter."""

    def ring(self, stack_id: str, traversal_id: str, nodes: Sequence[Node]) -> None:
        """Ask some worker to check each node."""

    def roll_back(self, stack_id: str) -> None:
        """Ask some engine to prepare the rollback that a stack waits for."""

    def preempt(self, engine_id: str, resource_id: str) -> None:
        """Ask the worker that waits for an action on a row to give it up: the row is to go."""


class Timer(Protocol):
    """How a worker comes back to what it waits for."""

    def call_later(self, seconds: float, function: Callable[[], None]) -> None:
        """Call a function on the worker's pool, not before some seconds have passed."""


class Checker:
    """Checks nodes on behalf of one worker."""

    def __init__(
        self,
        *,
        database: Database,
        registry: Registry,
        doorbell: Doorbell,
        timer: Timer,
        engine_id: str,
        dead_after: float,
        retry_limit: int,
        client_retry_limit: int = 30,
        may_act: Callable[[], bool] = lambda: True,
    ) -> None:
        """Keep what is handed in.

        Args:
            dead_after: seconds after which a silent lock holder is dead.
            retry_limit: how often what a create made broken is made anew.
            client_retry_limit: how often in a row a service may not take a call.
            may_act: whether this worker has heartbeat lately; one that has not
                may have been judged dead, and does nothing until it has.
        """
        self._database = database
        self._actor = Actor(
            database, registry, retry_limit=retry_limit, client_retry_limit=client_retry_limit
        )
        self._may_act = may_act
        self._doorbell = doorbell
        self._timer = timer
        self._engine_id = engine_id
        self._dead_after = dead_after
        self._waiting: dict[str, Waiting] = {}

    def check(self, stack_id: str, traversal_id: str, node: Node) -> None:
        """Check a node: make its resource so, or clear it away, and tell its successors."""
        if not self._may_act():
            LOG.warning("stack %s: %s is left to others: this worker could not heartbeat", stack_id, node)
            return
        if node.resource_id == stack_id:
            ready = traversals.finish_half(self._database, stack_id, traversal_id, node.direction)
            self._doorbell.ring(stack_id, traversal_id, ready)
            return
        claim = claims.claim(
            self._database,
            traversal_id,
            node,
            me=self._engine_id,
            dead_after=self._dead_after,
            decide=decide,
        )
        match claim:
            case Busy(engine_id):
                LOG.info("stack %s: %s is locked by %s, which will ring", stack_id, node, engine_id)
                if node.direction is Direction.CLEANUP:
                    self._doorbell.preempt(engine_id, node.resource_id)
            case Idle(why):
                LOG.debug("stack %s: nothing to do for %s: %s", stack_id, node, why)
            case Claimed(job, step):
                self._hold(job, lambda: self._actor.take(job, step))
            case _:
                assert_never(claim)

    def give_up(self, resource_id: str) -> None:
        """Stop waiting for an action on a row that is to be deleted anyway."""
        waiting = self._waiting.pop(resource_id, None)
        if waiting is not None:
            LOG.info("stack %s: %s gives way to its deletion", waiting.job.stack.id, waiting.job.node)
            self._let_go(waiting.job)

    def hand_back(self) -> None:
        """Let go of every action that is waited for, and ring, so that another worker goes on."""
        while self._waiting:
            _, waiting = self._waiting.popitem()
            self._let_go(waiting.job)

    # -- while a row is held ---------------------------------------------------------------

    def _hold(self, job: Job, act: Callable[[], Ending]) -> None:
        """Act on a row that is held; if that fails through no fault of the resource's, give it back.

        The database may be away, or we may be wrong somewhere: whatever it was,
        a row must not stay locked by a worker that does not act on it.
        """
        try:
            ending = act()
            job = ending.job  # a replacement is held in place of what it replaces
            self._settle(ending)
        except Exception:
            LOG.exception("stack %s: %s is given back", job.stack.id, job.node)
            self._timer.call_later(RETRY_DELAY, lambda: self._let_go(job))

    def _settle(self, ending: Ending) -> None:
        """Record how an action ended, then ring for whoever that concerns."""
        job = ending.job
        match ending:
            case Waiting():
                self._wait(ending)
            case Made():
                self._ring_after(job, self._finish(ending))
            case Gone(action=action):
                self._ring_after(job, checks.finish_cleanup(self._database, job, action=action))
            case Passed():
                self._ring_after(job, checks.pass_by(self._database, job))
            case Failed(action=action, reason=reason, definition=definition):
                failed = checks.fail(self._database, job, action=action, reason=reason, definition=definition)
                self._ring_after(job, failed)
            case Lost(orphan=orphan):
                self._let_go(job)
                if orphan is not None:
                    self._disown(job, orphan)
            case _:
                assert_never(ending)

    def _finish(self, made: Made) -> Finish:
        job, attempt = made.job, made.attempt
        row = job.resource
        as_wanted = row is not None and attempt.sha1 == row.desired_sha1
        requires = {data.resource_id: data.output_version for data in job.inputs}
        return checks.finish_update(
            self._database,
            job,
            applied=attempt.definition,
            sha1=attempt.sha1,
            requires=attempt.requires,
            output=made.output,
            physical_id=made.physical_id,
            metadata=made.metadata,
            action=made.action,
            told=as_wanted and attempt.requires == requires,
        )

    def _ring_after(self, job: Job, ended: Finish | Failure) -> None:
        match ended:
            case Propagated(ready):
                self._doorbell.ring(job.stack.id, job.traversal_id, ready)
            case Superseded():
                self._ring_for_row(job)
            case StackFailed(roll_back):
                if roll_back:
                    self._doorbell.roll_back(job.stack.id)
            case Fenced():
                LOG.warning("stack %s: the lock of %s was broken; its result is void", job.stack.id, job.node)
            case _:
                assert_never(ended)

    # -- waiting -------------------------------------------------------------------------------

    def _wait(self, waiting: Waiting) -> None:
        row = waiting.job.resource
        assert row is not None  # noqa: S101 - only rows wait
        self._waiting[row.id] = waiting
        self._timer.call_later(waiting.delay, lambda: self._come_back(row.id, waiting))

    def _come_back(self, row_id: str, waiting: Waiting) -> None:
        if self._waiting.get(row_id) is not waiting:
            return  # handed back meanwhile
        if not self._may_act():
            self._timer.call_later(RETRY_DELAY, lambda: self._come_back(row_id, waiting))
            return
        del self._waiting[row_id]
        self._hold(waiting.job, lambda: self._actor.poll(waiting))

    # -- letting go ----------------------------------------------------------------------------

    def _let_go(self, job: Job) -> None:
        """Unlock a row whose action another worker is to take up, and ring for it."""
        row = job.resource
        if row is None:
            return  # nothing was held; recovery rings for the node again
        try:
            checks.try_release(self._database, row)
            self._ring_for_row(job)
        except Exception:
            LOG.exception("stack %s: %s cannot be given back yet", job.stack.id, job.node)
            self._timer.call_later(RETRY_DELAY, lambda: self._let_go(job))

    def _disown(self, job: Job, orphan: Resource) -> None:
        """Remove what was made after the lock had been broken, unless the next holder found it."""
        row = job.resource and resources.find(self._database, job.resource.id)
        if row is not None and row.physical_id == orphan.resource_id:
            return
        if row is not None and row.physical_id is None and row.status is Status.IN_PROGRESS:
            self._timer.call_later(RETRY_DELAY, lambda: self._disown(job, orphan))
            return
        self._actor.remove_orphan(orphan)

    def _ring_for_row(self, job: Job) -> None:
        """Ring for the nodes that are READY for a row in its stack's current traversal.

        They met the lock and went away; this is what they were promised.
        """
        row = job.resource
        found = row and sync_points.ready_nodes(self._database, row.id)
        if found:
            stack_id, traversal_id, nodes = found
            self._doorbell.ring(stack_id, traversal_id, nodes)
