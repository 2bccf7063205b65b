# SPDX-License-Identifier: Apache-2.0
"""Prepare a traversal: create, update, delete and rollback are one operation.

Each makes the stack match a template (delete: nothing at all; rollback: the
last template that reached COMPLETE), on top of whatever is going on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from heatconv import errors
from heatconv.db.convergence import stacks, traversals
from heatconv.db.convergence.traversal_kinds import (
    PLAIN,
    Abandonment,
    Creation,
    Growth,
    Kind,
    NestedGrowth,
)
from heatconv.db.convergence.traversal_stacks import Beginning
from heatconv.db.convergence.traversals import Started
from heatconv.db.convergence.tree_quota import TreeQuota
from heatconv.db.plumbing.session import Database
from heatconv.engine import freezing, race
from heatconv.engine.freezer import Freezer
from heatconv.engine.source import Source, Wanted
from heatconv.engine.stack_quotas import StackQuotas
from heatconv.graph.traversal import Order, plan, visit
from heatconv.model.plan import Target, TraversalSpec
from heatconv.model.records import Held, Stack, changed
from heatconv.model.states import Action, Phase, Status
from heatconv.sinks.types import effective

#: Who depends on another is suspended before it, and resumed after it.
_ORDERS = {
    Action.SUSPEND: Order.DEPENDENTS_FIRST,
    Action.RESUME: Order.DEPENDENCIES_FIRST,
    Action.CHECK: Order.ANY,
    Action.SNAPSHOT: Order.ANY,
}


class _NotDue(Exception):
    """What was to be prepared was overtaken, and is not to be prepared any more."""


class Preparer:
    """Prepares traversals."""

    def __init__(
        self,
        database: Database,
        freezer: Freezer,
        quotas: StackQuotas,
        *,
        default_timeout: int,
        keep_events: int = -1,
    ) -> None:
        """Keep what is handed in; ``default_timeout`` is seconds, a negative number of events is any."""
        self._database = database
        self._freezer = freezer
        self._quotas = quotas
        self._default_timeout = default_timeout
        self._keep_events = keep_events

    def create(
        self,
        stack: Stack,
        source: Source,
        settings: dict[str, Any],
        tags: list[str],
        *,
        adopt: Mapping[str, Any] | None = None,
        owner: Held | None = None,
        have: Callable[[], str | None] = lambda: None,
    ) -> Started:
        """Store a stack and start to create it, or to adopt what is there already.

        Args:
            adopt: what an abandoned stack's resources were, by name.
            owner: the claim on whose behalf a nested stack is created.
            have: has a user delegate what a root stack needs; called when its template is known to be right.

        Raises:
            Invalid: the template cannot be.
            RequestLimitExceeded: there must not be so many resources in its tree, or stacks in the project.
            StackExists: there is a stack of that name.
        """
        new, quota = self.beginning(stack, source, settings, tags, adopt)
        try:
            started = self._store(new, quota, owner, have)
        except errors.StackExists:
            # It may be this very one, if the answer to the commit was lost and the transaction
            # tried again; then recovery rings for what is READY.
            made = stacks.get(self._database, stack.id)
            if made is None:
                raise
            return Started(
                stack_id=made.id, traversal_id=made.current_traversal, leaves=(), tree=made.root_id
            )
        race.correct_statistics(self._database, started)
        return started

    def beginning(
        self,
        stack: Stack,
        source: Source,
        settings: dict[str, Any],
        tags: list[str],
        adopt: Mapping[str, Any] | None = None,
    ) -> tuple[Beginning, TreeQuota]:
        """Return how a new stack begins, and the quota of its tree.

        Raises:
            Invalid: the template cannot be.
        """
        wanted = self._freezer.freeze(stack, source, stack.action)
        if adopt is not None:
            wanted = replace(wanted, targets=_adopted(wanted.targets, adopt))
        spec = self._spec(stack.action, wanted, settings, tags, stack)
        described: Stack = changed(stack, description=wanted.description)
        new = Beginning(stack=described, spec=spec, planned=plan(stack.id, wanted.targets, ()))
        return new, self._quotas.tree_quota(wanted)

    def _store(
        self, new: Beginning, quota: TreeQuota, owner: Held | None, have: Callable[[], str | None]
    ) -> Started:
        """Store a stack with its plan, be it a nested one or a root."""
        if owner is not None:
            (started,) = traversals.create_nested(
                self._database, [(new, NestedGrowth(quota=quota, owner=owner))]
            )
            return started
        creation = Creation(quota=quota, max_stacks=self._quotas.max_stacks, delegation=have())
        return traversals.create(self._database, new, creation)

    def update(
        self,
        stack: Stack,
        source: Callable[[Stack], Source],
        settings: dict[str, Any],
        tags: list[str] | None,
        *,
        owner: Held | None = None,
    ) -> Started:
        """Start to make a stack match another template; ``source`` may build on the stack's own.

        Raises:
            Invalid: the template cannot be.
            NotFound: the stack was deleted meanwhile.
            RequestLimitExceeded: there must not be so many resources in its tree.
        """

        def decide(now: Stack) -> tuple[TraversalSpec, Kind]:
            wanted = self._freezer.freeze(now, source(now), Action.UPDATE)
            self._freezer.check_immutable(now, wanted)
            quota = self._quotas.tree_quota(wanted)
            kind = Growth(quota=quota) if owner is None else NestedGrowth(quota=quota, owner=owner)
            described = settings | {"description": wanted.description}
            return self._spec(Action.UPDATE, wanted, described, tags, now), kind

        return race.start(self._database, stack, decide)

    def delete(self, stack: Stack, *, abandon: bool = False) -> Started:
        """Start to delete a stack; its template stays readable.

        ``abandon``: what its resources stand for stays.
        """

        def decide(now: Stack) -> tuple[TraversalSpec, Kind]:
            spec = TraversalSpec(action=Action.DELETE, timeout_secs=self._timeout(now.timeout_mins))
            return spec, Abandonment() if abandon else PLAIN

        return race.start(self._database, stack, decide)

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

    def restore(self, stack: Stack, wanted: Wanted) -> Started:
        """Start to make a stack what a snapshot of it wants.

        Raises:
            NotFound: the stack was deleted meanwhile.
            RequestLimitExceeded: there must not be so many resources in its tree.
        """

        def decide(now: Stack) -> tuple[TraversalSpec, Kind]:
            spec = self._spec(Action.RESTORE, wanted, {"description": wanted.description}, None, now)
            return spec, Growth(quota=self._quotas.tree_quota(wanted))

        return race.start(self._database, stack, decide)

    def converge(self, stack: Stack, kind: Kind = PLAIN, *, only_at: str | None = None) -> Started | None:
        """Start to put right what has drifted of a stack, and what depends on that; see ``db.observations``.

        Args:
            stack: as it was found.
            kind: says whose drift counts, if not that of all, and who has this done, if it is no user.
            only_at: the traversal that must not have been overtaken; None is returned if it has.

        Raises:
            NotFound: the stack was deleted meanwhile.
            NotSupported: the stack is suspended, or is being deleted.
        """

        def decide(now: Stack) -> tuple[TraversalSpec, Kind]:
            if only_at is not None and now.current_traversal != only_at:
                raise _NotDue
            if now.action in (Action.SUSPEND, Action.DELETE):
                raise errors.NotSupported(feature=f"Converging stack {now.name} after its {now.action}")
            wanted = self._freezer.freeze(now, self._freezer.stored(now.raw_template_id), Action.UPDATE)
            spec = TraversalSpec(
                action=Action.UPDATE,
                targets=wanted.targets,
                timeout_secs=self._timeout(now.timeout_mins),
                keep_events=self._keep_events,
            )
            return spec, kind

        try:
            return race.start(self._database, stack, decide)
        except _NotDue:
            return None

    def roll_back(self, stack: Stack, *, only_if_due: bool = False) -> Started | None:
        """Start to bring a stack back to the last template that reached COMPLETE.

        ``only_if_due``: not if the rollback that the stack waited for has been
        prepared by another, or overtaken by a newer wish.
        """

        def decide(now: Stack) -> tuple[TraversalSpec, Kind]:
            if only_if_due and now.phase is not Phase.PREPARE:
                raise _NotDue
            wanted = self._last_completed(now)
            spec = self._spec(Action.ROLLBACK, wanted, {"description": wanted.description}, None, now)
            if now.prev_raw_template_id is None:
                return spec, PLAIN
            return replace(spec, template=now.prev_raw_template_id), PLAIN

        try:
            return race.start(self._database, stack, decide)
        except _NotDue:
            return None

    def _last_completed(self, stack: Stack) -> Wanted:
        if stack.prev_raw_template_id is None:
            return freezing.empty()
        source = self._freezer.stored(stack.prev_raw_template_id)
        return self._freezer.freeze(stack, source, Action.ROLLBACK)

    def _spec(
        self,
        action: Action,
        wanted: Wanted,
        settings: dict[str, Any],
        tags: list[str] | None,
        stack: Stack,
    ) -> TraversalSpec:
        timeout_mins = settings.get("timeout_mins", stack.timeout_mins)
        return TraversalSpec(
            action=action,
            targets=wanted.targets,
            template=wanted.raw,
            settings=settings,
            tags=tags,
            timeout_secs=self._timeout(timeout_mins),
            keep_events=self._keep_events,
            sinks=effective(wanted.raw.environment),
        )

    def _timeout(self, timeout_mins: int | None) -> int:
        return timeout_mins * 60 if timeout_mins else self._default_timeout


def _adopted(targets: Mapping[str, Target], found: Mapping[str, Any]) -> dict[str, Target]:
    """Tell each definition what is there already."""
    return {
        name: target._replace(definition=target.definition.changed(adopt=found.get(name) or {}))
        for name, target in targets.items()
    }
