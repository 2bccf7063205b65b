# SPDX-License-Identifier: Apache-2.0
"""Rows that a worker holds while nobody acts on them: who waits is in a heap, not in a thread."""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable

from heatconv.model.outcomes import Claimed
from heatconv.model.states import Action
from heatconv.model.steps import Skip, Start, Step
from heatconv.worker.endings import Waiting
from heatconv.worker.release import Release
from heatconv.worker.timer import RETRY_DELAY, Timer
from heatconv.worker.waits import Waits

LOG = logging.getLogger(__name__)


class HeldRows:
    """Actions that go on in the real world, and claims that wait for a thread.

    Concurrency: every method may be called from any thread; what is taken is taken by one.
    """

    def __init__(
        self,
        timer: Timer,
        release: Release,
        *,
        may_act: Callable[[], bool],
        look_again: Callable[[Waiting], None],
    ) -> None:
        """Keep what is handed in.

        Args:
            may_act: whether this worker has heartbeat lately.
            look_again: looks at an action that is waited for.
        """
        self._timer = timer
        self._release = release
        self._may_act = may_act
        self._look_again = look_again
        self._waits = Waits()
        self._deferred: dict[str, Claimed] = {}  # by row

    def defer(
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

    def wait(self, waiting: Waiting, began: float) -> None:
        """Wait for an action that one began to look at then."""
        missed = self._waits.add(waiting, began)
        self._timer.call_later(0 if missed else waiting.delay, lambda: self._come_back(waiting))
        row = waiting.job.resource
        asked = row and self._waits.asked_since(row.id, began)
        if row is not None and asked:
            self.give_up(row.id, *asked)

    def give_up(self, resource_id: str, traversal_id: str | None = None) -> None:
        """Stop waiting for an action on a row that is to be deleted anyway, or that a newer wish overtakes.

        The latter is told by its traversal.  Unless the type need not end what it began, it is
        looked at whether the wish takes another incarnation.
        """
        deferred = self._deferred.get(resource_id)
        if deferred is not None and deferred.job.traversal_id != traversal_id:
            if self._deferred.pop(resource_id, None) is deferred:  # nothing was begun yet
                self._release.let_go(deferred.job.resource)
            return
        waiting = self._waits.give_up(
            resource_id, traversal_id, lambda found: _gives_way(found, traversal_id)
        )
        if waiting is not None:
            LOG.info("stack %s: %s gives way", waiting.job.stack.id, waiting.job.node)
            self._release.let_go(waiting.job.resource)
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
            self._release.let_go(deferred.job.resource)
        for waiting in self._waits.wake(resource_id):
            self._timer.call_later(0, functools.partial(self._come_back, waiting))

    def count(self) -> int:
        """Return how many rows are held."""
        return self._waits.count() + len(self._deferred)

    def hand_back(self) -> None:
        """Let go of every row, and ring, so that another worker goes on."""
        for waiting in self._waits.take_all():
            self._release.let_go(waiting.job.resource)
        for row_id in list(self._deferred):
            claimed = self._deferred.pop(row_id, None)
            self._release.let_go(None if claimed is None else claimed.job.resource)

    def _come_back(self, waiting: Waiting) -> None:
        if not self._may_act():
            self._timer.call_later(RETRY_DELAY, lambda: self._come_back(waiting))
            return
        row = waiting.job.resource
        if row is None or self._waits.take(row.id, lambda found: found is waiting) is None:
            return  # handed back meanwhile, or woken
        self._look_again(waiting)


def _is_deletion(step: Step) -> bool:
    return isinstance(step, Start) and step.attempt.action is Action.DELETE


def _gives_way(waiting: Waiting, traversal_id: str | None) -> bool:
    """Tell whether an action is given up for a deletion, or, if one is named, for a newer traversal."""
    if traversal_id is None:
        return True
    overtaken = waiting.job.traversal_id != traversal_id
    return overtaken and waiting.driver is not None and waiting.driver.plugin.gives_way
