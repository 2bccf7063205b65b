# SPDX-License-Identifier: Apache-2.0
"""The way a ``check_resource`` message takes: claim, act, propagate, ring.

Commit, then ring: every ring may be lost, doubled or late, and every line here
may be a process's last; recovery finds what is READY and rings again.
"""

from __future__ import annotations

import functools
import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Protocol, assert_never

from heatconv.db.convergence import actions, checks, claims, resources, sync_points, traversal_ends
from heatconv.db.plumbing.session import Database
from heatconv.db.software.configs import UNLIMITED, Quotas
from heatconv.model.nodes import Direction, Node
from heatconv.model.outcomes import (
    Busy,
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
from heatconv.model.records import Job, ResourceRow
from heatconv.model.states import Action, Status
from heatconv.model.steps import Skip, Start, Step
from heatconv.resources.registry import Registry
from heatconv.resources.resource import Resource
from heatconv.rpc.engine_client import EngineClient
from heatconv.worker import late
from heatconv.worker.act import Actor
from heatconv.worker.decide import decide
from heatconv.worker.endings import Ending, Failed, Gone, Lost, Made, Passed, Visited, Waiting
from heatconv.worker.plugin_factory import PluginFactory, SignalUrl, no_signal_url
from heatconv.worker.waits import Waits

LOG = logging.getLogger(__name__)

MOST_MET = 10_000  #: nested stacks that a worker knows the root of
RETRY_DELAY = 1.0  #: seconds until a transaction that the database did not take is tried again


class Doorbell(Protocol):
    """How a worker tells others that there is something to do; nothing it rings may matter."""

    def ring(
        self, stack_id: str, traversal_id: str, nodes: Sequence[Node], tree: str | None = None, /
    ) -> None:
        """Ask some worker to check each node; ``tree`` is the root of the stack's tree, if known."""

    def roll_back(self, stack_id: str) -> None:
        """Ask some engine to prepare the rollback that a stack waits for."""

    def wake(self, resource_id: str, engine_id: str | None = None) -> None:
        """Tell a worker, or all, that something happened to a row: whoever waits for that looks at once."""

    def preempt(self, engine_id: str, resource_id: str, traversal_id: str | None = None) -> None:
        """Ask the worker that waits for an action on a row to give it up: see ``Checker.give_up``."""


class Timer(Protocol):
    """How a worker comes back to what it waits for."""

    def call_later(self, seconds: float, function: Callable[[], None]) -> None:
        """Call a function on the worker's pool, not before some seconds have passed."""

    def call_engine(self, function: Callable[[], None]) -> None:
        """Call a function on one of the few threads that may wait for engines, once one is free."""


class Checker:
    """Checks nodes on behalf of one worker."""

    def __init__(  # noqa: PLR0913 - all of them by name
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
        spare_capacity: Callable[[str], int] = lambda _tree: 1,
        signal_url: SignalUrl = no_signal_url,
        software_quotas: Quotas = UNLIMITED,
        engine: EngineClient | None = None,
    ) -> None:
        """Keep what is handed in.

        Args:
            dead_after: seconds after which a silent lock holder is dead.
            retry_limit: how often what a create made broken is made anew.
            client_retry_limit: how often in a row a service may not take a call.
            may_act: whether this worker has heartbeat lately; one that has not
                may have been judged dead, and does nothing until it has.
            spare_capacity: how many nodes of a tree that become ready by the end of a check this worker
                may take up along with it; none if that kept others waiting for their turn.
            signal_url: where a signal to a stack's resource of some name can be sent.
            software_quotas: how many software configs and deployments a project may have.
            engine: who makes nested stacks; None where there are none.
        """
        self._database = database
        factory = PluginFactory(
            database, registry, signal_url=signal_url, software_quotas=software_quotas, engine=engine
        )
        self._actor = Actor(
            database, registry, factory, retry_limit=retry_limit, client_retry_limit=client_retry_limit
        )
        self._may_act = may_act
        self._spare_capacity = spare_capacity
        self._doorbell = doorbell
        self._timer = timer
        self._engine_id = engine_id
        self._dead_after = dead_after
        self._waits = Waits()
        self._trees: OrderedDict[str, str] = OrderedDict()  # by nested stack, its root; those met lately
        self._deferred: dict[str, Claimed] = {}  # by row, what is held and waits for a thread

    def check(self, stack_id: str, traversal_id: str, node: Node) -> None:
        """Check a node: make its resource so, or clear it away, and tell its successors."""
        if not self._may_act():
            LOG.warning("stack %s: %s is left to others: this worker could not heartbeat", stack_id, node)
            return
        if node.resource_id == stack_id:
            self._finish_half(stack_id, traversal_id, node.direction)
            return
        self._claim(stack_id, traversal_id, node, self._claimant())

    def tree_of(self, stack_id: str) -> str:
        """Return the root of the tree that a stack is in, if it was met lately, else the stack."""
        return self._trees.get(stack_id, stack_id)

    def meet(self, stack_id: str, tree: str) -> None:
        """Take in what tree a stack is in."""
        if tree != stack_id and stack_id not in self._trees:
            self._trees[stack_id] = tree
            if len(self._trees) > MOST_MET:
                self._trees.popitem(last=False)

    def _finish_half(self, stack_id: str, traversal_id: str, direction: Direction) -> None:
        half = traversal_ends.finish_half(self._database, stack_id, traversal_id, direction)
        self._tell(half.owner)
        first = half.ready[: min(1, self._spare_capacity(self.tree_of(stack_id)))]
        self._ring(stack_id, traversal_id, half.ready[len(first) :])
        for node in first:
            self.check(stack_id, traversal_id, node)

    def _ring(self, stack_id: str, traversal_id: str, ready: Sequence[Node]) -> None:
        """Ring for nodes that have become ready; go on with that of the stack itself, which has no row."""
        tree = self.tree_of(stack_id)
        own = [node for node in ready if node.resource_id == stack_id and self._spare_capacity(tree)]
        left = [node for node in ready if node not in own]
        self._doorbell.ring(stack_id, traversal_id, left, tree)
        for node in own:
            self._finish_half(stack_id, traversal_id, node.direction)

    def _claimant(self, spare_capacity: int = 1) -> claims.Claimant:
        return claims.Claimant(
            self._engine_id, dead_after=self._dead_after, decide=decide, spare_capacity=spare_capacity
        )

    def _claim(self, stack_id: str, traversal_id: str, node: Node, claimant: claims.Claimant) -> None:
        """Lock a node's row and act on it; tries before this one may have locked it already."""
        try:
            ask = claims.Ask(traversal_id, node, claimant, self.tree_of(stack_id))
            claim = claims.claim(self._database, ask)
        except Exception:
            if not claimant.taken:
                raise  # nothing is held; recovery rings for the node again
            LOG.exception("stack %s: whether %s is held is not known yet", stack_id, node)
            again = functools.partial(self._claim, stack_id, traversal_id, node, claimant)
            self._timer.call_later(RETRY_DELAY, again)
            return
        if not isinstance(claim, Claimed) or isinstance(claim.step, Skip):
            for row in claimant.taken:
                self._let_go(row)
        match claim:
            case Busy(engine_id):
                LOG.info("stack %s: %s is locked by %s, which will ring", stack_id, node, engine_id)
                newer = None if node.direction is Direction.CLEANUP else traversal_id
                self._doorbell.preempt(engine_id, node.resource_id, newer)
            case Idle(why):
                LOG.debug("stack %s: nothing to do for %s: %s", stack_id, node, why)
            case Claimed():
                self._work((claim,))
            case _:
                assert_never(claim)

    def _work(self, claimed: Sequence[Claimed]) -> None:
        """Take the step that was claimed, then one that was claimed with its end, and so on.

        For the others that were, this finds other threads.  One that asks an engine is
        left to those that may wait for one: a thousand of them would hold all threads
        until an engine has answered, for all that they have to do.
        """
        while claimed:
            first, *others = claimed
            for other in others:
                self._defer(other, self._call_soon, lambda claimed: self._work((claimed,)))
            self.meet(first.job.stack.id, first.job.stack.root_id)
            if not isinstance(first.step, Skip) and self._actor.asks_engine(first.job):
                self._defer(first, self._timer.call_engine, lambda claimed: self._work(self._take(claimed)))
                return
            claimed = self._take(first)

    def _defer(
        self,
        claimed: Claimed,
        call: Callable[[Callable[[], None]], None],
        work: Callable[[Claimed], None],
    ) -> None:
        """Let what was claimed wait for a thread, which then works on it unless it was given up meanwhile."""
        row = claimed.job.resource
        if row is None or isinstance(claimed.step, Skip):  # nothing is held
            call(functools.partial(work, claimed))
            return
        self._deferred[row.id] = claimed

        def take_up() -> None:
            still = self._deferred.pop(row.id, None)
            if still is not None:
                work(still)

        call(take_up)

    def _call_soon(self, function: Callable[[], None]) -> None:
        self._timer.call_later(0, function)

    def _take(self, claimed: Claimed) -> Sequence[Claimed]:
        return self._hold(claimed.job, functools.partial(self._actor.take, claimed.job, claimed.step))

    def give_up(self, resource_id: str, traversal_id: str | None = None) -> None:
        """Stop waiting for an action on a row that is to be deleted anyway, or that a newer wish overtakes.

        The latter is told by its traversal.  Unless the type need not end what it began, it is
        looked at whether the wish takes another incarnation.
        """
        deferred = self._deferred.get(resource_id)
        if deferred is not None and deferred.job.traversal_id != traversal_id:
            if self._deferred.pop(resource_id, None) is deferred:  # nothing was begun yet
                self._let_go(deferred.job.resource)
            return
        waiting = self._waits.give_up(
            resource_id, traversal_id, lambda found: _gives_way(found, traversal_id)
        )
        if waiting is not None:
            LOG.info("stack %s: %s gives way", waiting.job.stack.id, waiting.job.node)
            self._let_go(waiting.job.resource)
        elif traversal_id is not None:
            self.wake(resource_id)

    def wake(self, resource_id: str) -> None:
        """Look at once at what waits for something to happen to a row, the row's own action included.

        A deletion that waits for a thread, and may not be wanted any more, is read anew.
        """
        deferred = self._deferred.get(resource_id)
        if (
            deferred is not None
            and _is_deletion(deferred.step)
            and self._deferred.pop(resource_id, None) is deferred
        ):
            self._let_go(deferred.job.resource)
        for waiting in self._waits.wake(resource_id):
            self._timer.call_later(0, functools.partial(self._come_back, waiting))

    def hand_back(self) -> None:
        """Let go of every action that is waited for, and ring, so that another worker goes on."""
        for waiting in self._waits.take_all():
            self._let_go(waiting.job.resource)
        for row_id in list(self._deferred):
            claimed = self._deferred.pop(row_id, None)
            self._let_go(None if claimed is None else claimed.job.resource)

    # -- while a row is held ---------------------------------------------------------------

    def _hold(self, job: Job, act: Callable[[], Ending]) -> Sequence[Claimed]:
        """Act on a row that is held; if that fails through no fault of the resource's, give it back.

        The database may be away, or we may be wrong somewhere: whatever it was,
        a row must not stay locked by a worker that does not act on it.

        Returns what was claimed in the transaction that recorded the end.
        """
        began = time.monotonic()
        spare_capacity = self._spare_capacity(job.stack.root_id)
        then = self._claimant(spare_capacity) if spare_capacity else None
        following: Sequence[Claimed] = ()
        try:
            ending = act()
            job = ending.job  # a replacement is held in place of what it replaces
            following = self._settle(ending, began, then)
        except Exception:
            LOG.exception("stack %s: %s is given back", job.stack.id, job.node)
            self._timer.call_later(RETRY_DELAY, lambda: self._let_go(job.resource))
        if not following and then is not None:
            for row in then.taken:  # the answer to the commit was lost, and with it what was claimed
                self._let_go(row)
        return following

    def _settle(self, ending: Ending, began: float, then: claims.Claimant | None) -> Sequence[Claimed]:
        """Record how an action that began then ended, and ring for whoever that concerns."""
        job = ending.job
        match ending:
            case Waiting():
                self._wait(ending, began)
            case Made():
                return self._ring_after(job, self._finish(ending, then))
            case Visited(action=action, reason=reason):
                visited = checks.finish_visit(
                    self._database, job, action=action, status=Status.COMPLETE, reason=reason, then=then
                )
                return self._ring_after(job, visited)
            case Failed(action=Action.CHECK, reason=reason):
                # It is not well; that is what the check was to find out.
                found = checks.finish_visit(
                    self._database, job, action=Action.CHECK, status=Status.FAILED, reason=reason, then=then
                )
                return self._ring_after(job, found)
            case Gone(action=action):
                gone = checks.finish_cleanup(self._database, job, action=action, then=then)
                return self._ring_after(job, gone)
            case Passed():
                return self._ring_after(job, checks.pass_by(self._database, job, then=then))
            case Failed(
                action=action, reason=reason, definition=definition, refused=refused, overtaken=overtaken
            ):
                failed = checks.fail(
                    self._database,
                    job,
                    action=action,
                    reason=reason,
                    definition=definition,
                    refused=refused,
                    overtaken=overtaken,
                )
                return self._ring_after(job, failed)
            case Lost(orphan=orphan):
                self._let_go(job.resource)
                if orphan is not None:
                    self._disown(job, orphan)
            case _:
                assert_never(ending)
        return ()

    def _finish(self, made: Made, then: claims.Claimant | None) -> Finish:
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
            action=made.action,
            applies_current_definition=as_wanted and attempt.requires == requires,
            then=then,
        )

    def _ring_after(self, job: Job, ended: Finish | Failure) -> Sequence[Claimed]:
        """Ring for whoever the end of a check concerns; return what was claimed with it."""
        match ended:
            case Propagated(ready, following):
                self._ring(job.stack.id, job.traversal_id, ready)
                return following
            case Superseded():
                self._ring_for_row(job.resource)
            case StackFailed(roll_back, owner):
                if roll_back:
                    self._doorbell.roll_back(job.stack.id)
                self._tell(owner)
            case Fenced():
                LOG.warning("stack %s: the lock of %s was broken; its result is void", job.stack.id, job.node)
            case _:
                assert_never(ended)
        return ()

    def _tell(self, owner: Owner | None) -> None:
        """Wake the worker that waits for a nested stack to end."""
        if owner is not None:
            self._doorbell.wake(owner.resource_id, owner.engine_id)

    # -- waiting -------------------------------------------------------------------------------

    def _wait(self, waiting: Waiting, began: float) -> None:
        missed = self._waits.add(waiting, began)
        self._timer.call_later(0 if missed else waiting.delay, lambda: self._come_back(waiting))
        row = waiting.job.resource
        asked = row and self._waits.asked_since(row.id, began)
        if row is not None and asked:
            self.give_up(row.id, *asked)

    def _come_back(self, waiting: Waiting) -> None:
        if not self._may_act():
            self._timer.call_later(RETRY_DELAY, lambda: self._come_back(waiting))
            return
        row = waiting.job.resource
        if row is None or self._waits.take(row.id, lambda found: found is waiting) is None:
            return  # handed back meanwhile, or woken
        self._work(self._hold(waiting.job, lambda: self._actor.poll(waiting)))

    # -- letting go ----------------------------------------------------------------------------

    def _let_go(self, row: ResourceRow | None) -> None:
        """Unlock a row whose action another worker is to take up, and ring for it."""
        if row is None:
            return  # nothing was held; recovery rings for the node again
        try:
            actions.try_release(self._database, row)
            self._ring_for_row(row)
        except Exception:
            LOG.exception("stack %s: %s cannot be given back yet", row.stack_id, row.name)
            self._timer.call_later(RETRY_DELAY, lambda: self._let_go(row))

    def _disown(self, job: Job, orphan: Resource) -> None:
        """Remove what was made after the lock had been broken, unless the next holder found it."""
        row = job.resource and resources.find(self._database, job.resource.id)
        undecided = row is not None and row.physical_id is None and row.status is Status.IN_PROGRESS
        if undecided or not late.remove_orphan(orphan, known=None if row is None else row.physical_id):
            self._timer.call_later(RETRY_DELAY, lambda: self._disown(job, orphan))

    def _ring_for_row(self, row: ResourceRow | None) -> None:
        """Ring for the nodes that are READY for a row in its stack's current traversal.

        They met the lock and went away; this is what they were promised.
        """
        found = row and sync_points.ready_nodes(self._database, row.id)
        if found:
            stack_id, traversal_id, nodes = found
            self._doorbell.ring(stack_id, traversal_id, nodes, self.tree_of(stack_id))


def _is_deletion(step: Step) -> bool:
    return isinstance(step, Start) and step.attempt.action is Action.DELETE


def _gives_way(waiting: Waiting, traversal_id: str | None) -> bool:
    """Tell whether an action is given up for a deletion, or, if one is named, for a newer traversal."""
    if traversal_id is None:
        return True
    overtaken = waiting.job.traversal_id != traversal_id
    return overtaken and waiting.plugin is not None and waiting.plugin.gives_way
