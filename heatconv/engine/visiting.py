# SPDX-License-Identifier: Apache-2.0
"""Start to visit every resource of a stack as it is, or to put it right; what is wanted of it stays."""

from __future__ import annotations

from heatconv import errors
from heatconv.db.convergence.traversal_kinds import PLAIN, Kind
from heatconv.db.convergence.traversals import Started
from heatconv.db.plumbing.session import Database
from heatconv.engine import race
from heatconv.engine.applying import UNPLANNED, Applying
from heatconv.engine.freezer import Freezer
from heatconv.graph.traversal import Order, visit
from heatconv.model.plan import TraversalSpec
from heatconv.model.records import Stack
from heatconv.model.states import Action, Status

#: Who depends on another is suspended before it, and resumed after it.
_ORDERS = {
    Action.SUSPEND: Order.DEPENDENTS_FIRST,
    Action.RESUME: Order.DEPENDENCIES_FIRST,
    Action.CHECK: Order.ANY,
    Action.SNAPSHOT: Order.ANY,
}


class Visiting:
    """Prepares traversals that visit, or put right what has drifted."""

    def __init__(
        self, database: Database, freezer: Freezer, *, default_timeout: int, keep_events: int
    ) -> None:
        """Keep what is handed in; ``default_timeout`` is seconds, a negative number of events is any."""
        self._database = database
        self._freezer = freezer
        self._default_timeout = default_timeout
        self._keep_events = keep_events

    def visit(self, stack: Stack, action: Action, kind: Kind = PLAIN) -> Started:
        """Start to suspend, resume, check or take a snapshot of every resource as it is.

        Raises:
            ActionInProgress: something else is under way.
            NotFound: the stack was deleted meanwhile.
            RequestLimitExceeded: the stack has as many snapshots as it may.
        """

        def decide(now: Stack) -> tuple[TraversalSpec, Kind]:
            if now.status is Status.IN_PROGRESS:
                raise errors.ActionInProgress(name=now.name, action=now.action)
            timeout = self._timeout(now.timeout_mins)
            return TraversalSpec(action=action, timeout_secs=timeout, keep_events=self._keep_events), kind

        order = _ORDERS[action]
        return race.start(self._database, stack, decide, lambda extant: visit(stack.id, extant, order=order))

    def converge(
        self,
        stack: Stack,
        kind: Kind = PLAIN,
        *,
        only_at: str | None = None,
        applying: Applying = UNPLANNED,
    ) -> Started | None:
        """Start to put right what has drifted of a stack, and what depends on that; see ``db.observations``.

        Args:
            stack: as it was found.
            kind: says whose drift counts, if not that of all, and who has this done, if it is no user.
            only_at: the traversal that must not have been overtaken; None is returned if it has.
            applying: refuses what breaks a rule.

        Raises:
            GuardBroken: a rule does not let that happen.
            NotFound: the stack was deleted meanwhile.
            NotSupported: the stack is suspended, or is being deleted.
        """

        def decide(now: Stack) -> tuple[TraversalSpec, Kind]:
            if only_at is not None and now.current_traversal != only_at:
                raise race.NotDue
            if now.action in (Action.SUSPEND, Action.DELETE):
                raise errors.NotSupported(feature=f"Converging stack {now.name} after its {now.action}")
            source = self._freezer.stored(now.raw_template_id)
            wanted = applying.bounded(now, source, self._freezer.freeze(now, source, Action.UPDATE))
            spec = TraversalSpec(
                action=Action.UPDATE,
                targets=wanted.targets,
                timeout_secs=self._timeout(now.timeout_mins),
                keep_events=self._keep_events,
            )
            return spec, kind

        try:
            return race.start(self._database, stack, decide)
        except race.NotDue:
            return None

    def _timeout(self, timeout_mins: int | None) -> int:
        return timeout_mins * 60 if timeout_mins else self._default_timeout
