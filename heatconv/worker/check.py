# SPDX-License-Identifier: Apache-2.0
"""The way a ``check_resource`` message takes: claim, decide, act, end, ring.

Commit, then ring: every ring may be lost, doubled or late, and every line here
may be a process's last; recovery finds what is READY and rings again.
"""

from __future__ import annotations

import functools
import logging
import time
from collections.abc import Callable, Sequence
from typing import assert_never

from heatconv.db.convergence import checks, claims, traversal_ends
from heatconv.db.convergence.claimants import Ask, Claimant, Claimants
from heatconv.db.plumbing.session import Database
from heatconv.model.nodes import Direction, Node
from heatconv.model.outcomes import (
    Busy,
    Claim,
    Claimed,
    Failure,
    Fenced,
    Finish,
    Idle,
    Owner,
    Propagated,
    StackFailed,
    Superseded,
)
from heatconv.model.records import Job
from heatconv.model.steps import Skip
from heatconv.rpc.doorbell import Doorbell
from heatconv.worker.act import Actor
from heatconv.worker.endings import Ending, Lost, Waiting
from heatconv.worker.held import HeldRows
from heatconv.worker.release import Release
from heatconv.worker.stretches import ENOUGH
from heatconv.worker.timer import RETRY_DELAY, Timer
from heatconv.worker.trees import Trees

LOG = logging.getLogger(__name__)


class Checker:
    """Checks nodes on behalf of one worker."""

    def __init__(
        self,
        *,
        database: Database,
        actor: Actor,
        claimants: Claimants,
        doorbell: Doorbell,
        timer: Timer,
        trees: Trees,
        may_act: Callable[[], bool],
        spare_capacity: Callable[[str], int],
    ) -> None:
        """Keep what is handed in.

        Args:
            may_act: whether this worker has heartbeat lately; one that has not
                may have been judged dead, and does nothing until it has.
            spare_capacity: how many nodes of a tree that become ready by the end of a check this worker
                may take up along with it; none if that kept others waiting for their turn.
        """
        self._database = database
        self._actor = actor
        self._claimants = claimants
        self._doorbell = doorbell
        self._timer = timer
        self._trees = trees
        self._may_act = may_act
        self._spare_capacity = spare_capacity
        self._release = Release(database, doorbell, timer, trees)
        self.held = HeldRows(timer, self._release, may_act=may_act, look_again=self._look_again)

    def check(self, stack_id: str, traversal_id: str, *nodes: Node) -> None:
        """Check nodes: make the resource of each so, or clear it away, and tell its successors."""
        if not self._may_act():
            left = ", ".join(map(str, nodes))
            LOG.warning("stack %s: %s left to others: this worker could not heartbeat", stack_id, left)
            return
        tree = self._trees.root_of(stack_id)
        asks = []
        for node in nodes:
            if node.resource_id == stack_id:
                self._end_half(stack_id, traversal_id, node.direction)
            else:
                asks.append(Ask(traversal_id, node, self._claimants.claimant(), tree))
        self._claim(stack_id, asks)

    def _claim(self, stack_id: str, asks: Sequence[Ask]) -> None:
        """Lock the rows of nodes, decide the first steps, and work; a try before may have locked some."""
        came = claims.claim(self._database, asks)
        claimed = [self._claimed(stack_id, ask, claim) for ask, claim in zip(asks, came, strict=True)]
        self._work([each for each in claimed if each is not None])

    def _claimed(self, stack_id: str, ask: Ask, claim: Claim | Exception) -> Claimed | None:
        """Return what was claimed, if anything was; ring for whoever else that concerns.

        Without an answer, the node is claimed later, or, if nothing is held, by whoever recovery rings for.
        """
        traversal_id, node, claimant, _tree = ask
        if isinstance(claim, Exception):
            if not claimant.taken:
                LOG.error(
                    "stack %s: %s could not be claimed; recovery rings for it", stack_id, node, exc_info=claim
                )
                return None
            LOG.error("stack %s: whether %s is held is not known yet", stack_id, node, exc_info=claim)
            self._timer.call_later(RETRY_DELAY, lambda: self._claim(stack_id, [ask]))
            return None
        if not isinstance(claim, Claimed) or isinstance(claim.step, Skip):
            self._give_back(claimant)
        match claim:
            case Busy(engine_id):
                LOG.info("stack %s: %s is locked by %s, which will ring", stack_id, node, engine_id)
                newer = None if node.direction is Direction.CLEANUP else traversal_id
                self._doorbell.preempt(engine_id, node.resource_id, newer)
            case Idle(why):
                LOG.debug("stack %s: nothing to do for %s: %s", stack_id, node, why)
            case Claimed():
                return claim
            case _:
                assert_never(claim)
        return None

    def _work(self, claimed: Sequence[Claimed]) -> None:
        """Take the step that was claimed, then one that was claimed with its end, and so on.

        For the others that were, this finds other threads.  One that asks an engine is
        left to those that may wait for one: a thousand of them would hold all threads
        until an engine has answered, for all that they have to do.
        """
        in_a_row = 0  # nodes that were claimed alone, each with the end of the only one that it waits for
        while claimed:
            first, *others = claimed
            for other in others:
                self.held.defer(other, self._call_soon, lambda claimed: self._work((claimed,)))
            self._trees.meet(first.job.stack.id, first.job.stack.root_id)
            if not isinstance(first.step, Skip) and self._actor.asks_engine(first.job):
                self.held.defer(
                    first, self._timer.call_engine, lambda claimed: self._work(self._take(claimed))
                )
                return
            claimed = self._take(first, in_a_row)
            in_a_row = in_a_row + 1 if len(claimed) == 1 and len(claimed[0].job.inputs) == 1 else 0

    def _take(self, claimed: Claimed, in_a_row: int = 0) -> Sequence[Claimed]:
        take = functools.partial(self._actor.take, claimed.job, claimed.step)
        return self._act(claimed.job, take, in_a_row)

    def _look_again(self, waiting: Waiting) -> None:
        self._work(self._act(waiting.job, lambda: self._actor.poll(waiting)))

    def _act(self, job: Job, act: Callable[[], Ending], in_a_row: int = 0) -> Sequence[Claimed]:
        """Act on a row that is held; if that fails through no fault of the resource's, give it back.

        The database may be away, or we may be wrong somewhere: whatever it was,
        a row must not stay locked by a worker that does not act on it.

        Returns what was claimed in the transaction that recorded the end.
        """
        began = time.monotonic()
        spare_capacity = self._spare_capacity(job.stack.root_id)
        then = self._claimants.claimant(spare_capacity) if spare_capacity else None
        following: Sequence[Claimed] = ()
        try:
            ending = act()
            job = ending.job  # a replacement is held in place of what it replaces
            following = self._end(ending, began, then, in_a_row)
        except Exception:
            LOG.exception("stack %s: %s is given back", job.stack.id, job.node)
            self._timer.call_later(RETRY_DELAY, lambda: self._release.let_go(job.resource))
        if not following and then is not None:
            self._give_back(then)  # the answer to the commit was lost, and with it what was claimed
        return following

    def _end(self, ending: Ending, began: float, then: Claimant | None, in_a_row: int) -> Sequence[Claimed]:
        """Record how an action that began then ended, and ring for whoever that concerns."""
        match ending:
            case Waiting():
                self.held.wait(ending, began)
                return ()
            case Lost(job=job, orphan=orphan):
                self._release.let_go(job.resource)
                if orphan is not None:
                    self._release.disown(job, orphan)
                return ()
            case _:
                after = self._actor.stretches.after(ending) if then and in_a_row >= ENOUGH else ()
                return self._ring_after(ending.job, checks.end(self._database, ending, then, after))

    def _ring_after(self, job: Job, ended: Finish | Failure) -> Sequence[Claimed]:
        """Ring for whoever the end of a check concerns; return what was claimed with it."""
        match ended:
            case Propagated(ready, following):
                self._ring(job.stack.id, job.traversal_id, ready)
                return following
            case Superseded():
                self._release.ring_for(job.resource)
            case StackFailed(roll_back, owner):
                if roll_back:
                    self._doorbell.roll_back(job.stack.id)
                self._wake_owner(owner)
            case Fenced():
                LOG.warning("stack %s: the lock of %s was broken; its result is void", job.stack.id, job.node)
            case _:
                assert_never(ended)
        return ()

    def _ring(self, stack_id: str, traversal_id: str, ready: Sequence[Node]) -> None:
        """Ring for nodes that have become ready; go on with that of the stack itself, which has no row."""
        tree = self._trees.root_of(stack_id)
        own = [node for node in ready if node.resource_id == stack_id and self._spare_capacity(tree)]
        left = [node for node in ready if node not in own]
        self._doorbell.ring(stack_id, traversal_id, left, tree)
        for node in own:
            self._end_half(stack_id, traversal_id, node.direction)

    def _end_half(self, stack_id: str, traversal_id: str, direction: Direction) -> None:
        """End the half of a traversal whose nodes are all done; go on with one node of the next half."""
        half = traversal_ends.finish_half(self._database, stack_id, traversal_id, direction)
        self._wake_owner(half.owner)
        first = half.ready[: min(1, self._spare_capacity(self._trees.root_of(stack_id)))]
        self._ring(stack_id, traversal_id, half.ready[len(first) :])
        for node in first:
            self.check(stack_id, traversal_id, node)

    def _wake_owner(self, owner: Owner | None) -> None:
        """Wake the worker that waits for a nested stack to end."""
        if owner is not None:
            self._doorbell.wake(owner.resource_id, owner.engine_id)

    def _give_back(self, claimant: Claimant) -> None:
        for row in claimant.taken:
            self._release.let_go(row)

    def _call_soon(self, function: Callable[[], None]) -> None:
        self._timer.call_later(0, function)
