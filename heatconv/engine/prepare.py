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
from heatconv.engine.applying import UNPLANNED, Applying
from heatconv.engine.freezer import Freezer
from heatconv.engine.source import NO_SOURCE, Source, Wanted
from heatconv.engine.stack_quotas import StackQuotas
from heatconv.engine.visiting import Visiting
from heatconv.graph.traversal import clear, plan
from heatconv.model.plan import TraversalSpec
from heatconv.model.records import Held, Stack, changed
from heatconv.model.states import Action, Phase
from heatconv.sinks.types import effective


class Preparer(Visiting):
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
        super().__init__(database, freezer, default_timeout=default_timeout, keep_events=keep_events)
        self._quotas = quotas

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
        applying: Applying = UNPLANNED,
    ) -> Started:
        """Store a stack and start to create it, or to adopt what is there already.

        Args:
            adopt: what an abandoned stack's resources were, by name.
            owner: the claim on whose behalf a nested stack is created.
            applying: the plan by which that is done.
            have: has a user delegate what a root stack needs; called when its template is known to be right.

        Raises:
            Invalid: the template cannot be.
            RequestLimitExceeded: there must not be so many resources in its tree, or stacks in the project.
            StackExists: there is a stack of that name.
        """
        new, quota = self.beginning(stack, source, settings, tags, adopt, applying=applying)
        try:
            started = self._store(new, quota, owner, have, applying.plan_id)
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
        *,
        applying: Applying = UNPLANNED,
    ) -> tuple[Beginning, TreeQuota]:
        """Return how a new stack begins, and the quota of its tree.

        Raises:
            Invalid: the template cannot be.
        """
        wanted = self._freezer.freeze(stack, source, stack.action).adopting(adopt)
        wanted = applying.bounded(stack, source, wanted)
        spec = replace(self._spec(stack.action, wanted, settings, tags, stack), changed_by=race.asker())
        described: Stack = changed(stack, description=wanted.description)
        new = Beginning(stack=described, spec=spec, planned=plan(stack.id, wanted.targets, ()))
        return new, self._quotas.tree_quota(wanted)

    def _store(
        self,
        new: Beginning,
        quota: TreeQuota,
        owner: Held | None,
        have: Callable[[], str | None],
        plan_id: str | None,
    ) -> Started:
        """Store a stack with its plan, be it a nested one or a root."""
        if owner is not None:
            (started,) = traversals.create_nested(
                self._database, [(new, NestedGrowth(quota=quota, owner=owner))]
            )
            return started
        most = self._quotas.max_stacks
        creation = Creation(quota=quota, max_stacks=most, delegation=have(), plan_id=plan_id)
        return traversals.create(self._database, new, creation)

    def update(
        self,
        stack: Stack,
        source: Callable[[Stack], Source],
        settings: dict[str, Any],
        tags: list[str] | None,
        *,
        owner: Held | None = None,
        applying: Applying = UNPLANNED,
    ) -> Started:
        """Start to make a stack match another template; ``source`` may build on the stack's own.

        Raises:
            Invalid: the template cannot be.
            NotFound: the stack was deleted meanwhile.
            PlanStale: the plan that is applied does not hold any more.
            RequestLimitExceeded: there must not be so many resources in its tree.
        """

        def decide(now: Stack) -> tuple[TraversalSpec, Kind]:
            sent = source(now)
            wanted = self._freezer.freeze(now, sent, Action.UPDATE)
            self._freezer.check_immutable(now, wanted)
            wanted = applying.bounded(now, sent, wanted)
            quota = self._quotas.tree_quota(wanted)
            kind = (
                Growth(quota=quota, plan_id=applying.plan_id)
                if owner is None
                else NestedGrowth(quota=quota, owner=owner)
            )
            described = settings | {"description": wanted.description}
            return self._spec(Action.UPDATE, wanted, described, tags, now), kind

        return race.start(self._database, stack, decide)

    def delete(self, stack: Stack, *, abandon: bool = False, applying: Applying = UNPLANNED) -> Started:
        """Start to delete a stack; its template stays readable.

        ``abandon``: what its resources stand for stays.

        Raises:
            NotFound: the stack was deleted meanwhile.
            PlanStale: the plan that is applied does not hold any more.
        """

        def decide(now: Stack) -> tuple[TraversalSpec, Kind]:
            applying.bounded(now, NO_SOURCE, freezing.empty())
            spec = TraversalSpec(action=Action.DELETE, timeout_secs=self._timeout(now.timeout_mins))
            return spec, Abandonment() if abandon else Kind(plan_id=applying.plan_id)

        return race.start(self._database, stack, decide, lambda extant: clear(stack.id, extant))

    def restore(self, stack: Stack, source: Source, wanted: Wanted, applying: Applying) -> Started:
        """Start to make a stack what a snapshot of it wants, and came of a source.

        Raises:
            GuardBroken: a rule does not let that happen.
            NotFound: the stack was deleted meanwhile.
            RequestLimitExceeded: there must not be so many resources in its tree.
        """

        def decide(now: Stack) -> tuple[TraversalSpec, Kind]:
            applying.bounded(now, source, wanted)
            spec = self._spec(Action.RESTORE, wanted, {"description": wanted.description}, None, now)
            return spec, Growth(quota=self._quotas.tree_quota(wanted))

        return race.start(self._database, stack, decide)

    def roll_back(
        self, stack: Stack, *, only_if_due: bool = False, applying: Applying = UNPLANNED
    ) -> Started | None:
        """Start to bring a stack back to the last template that reached COMPLETE.

        ``only_if_due``: not if the rollback that the stack waited for has been
        prepared by another, or overtaken by a newer wish.

        Raises:
            PlanStale: the plan that is applied does not hold any more.
        """

        def decide(now: Stack) -> tuple[TraversalSpec, Kind]:
            if only_if_due and now.phase is not Phase.PREPARE:
                raise race.NotDue
            source, wanted = self.last_completed(now)
            wanted = applying.bounded(now, source, wanted)
            spec = self._spec(Action.ROLLBACK, wanted, {"description": wanted.description}, None, now)
            kind = Kind(plan_id=applying.plan_id)
            if now.prev_raw_template_id is None:
                return spec, kind
            return replace(spec, template=now.prev_raw_template_id), kind

        try:
            return race.start(self._database, stack, decide)
        except race.NotDue:
            return None

    def last_completed(self, stack: Stack) -> tuple[Source, Wanted]:
        """Return what a rollback makes of a stack: what it was when it last reached COMPLETE, or nothing.

        Raises:
            StaleWrite: that was replaced, and then dropped, meanwhile.
        """
        if stack.prev_raw_template_id is None:
            return NO_SOURCE, freezing.empty()
        source = self._freezer.stored(stack.prev_raw_template_id)
        return source, self._freezer.freeze(stack, source, Action.ROLLBACK)

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
            settings=settings | {"guarded": bool(wanted.raw.environment.get("guards"))},
            tags=tags,
            timeout_secs=self._timeout(timeout_mins),
            keep_events=self._keep_events,
            sinks=effective(wanted.raw.environment),
        )
