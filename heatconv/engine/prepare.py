# SPDX-License-Identifier: Apache-2.0
"""Prepare a traversal: create, update, delete and rollback are one operation.

Each makes the stack match a template (delete: nothing at all; rollback: the
last template that reached COMPLETE), on top of whatever is going on.  Losing
the race for the stack's row means to read again and do it again.
"""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from heatconv import errors, template
from heatconv.db.convergence import stacks, traversals, tree_quota
from heatconv.db.convergence.traversals import Planner, Started, TraversalSpec
from heatconv.db.convergence.tree_quota import TreeQuota
from heatconv.db.plumbing import statistics
from heatconv.db.plumbing.session import Database
from heatconv.engine import freezing
from heatconv.engine.freezing import Memory
from heatconv.engine.source import Source, Wanted
from heatconv.graph.traversal import Order, plan, visit
from heatconv.model.plan import Target
from heatconv.model.records import Held, ResourceRow, Stack
from heatconv.model.states import Action, Phase, Status
from heatconv.resources.facts import StackFacts
from heatconv.resources.registry import Registry
from heatconv.sinks.types import effective

LOG = logging.getLogger(__name__)

ATTEMPTS = 100  #: races lost in a row before we believe that something else is wrong


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
        registry: Registry,
        *,
        default_timeout: int,
        max_resources: int = -1,
        keep_events: int = -1,
        operator_environment: Mapping[str, Any] | None = None,
    ) -> None:
        """Keep what is handed in; ``default_timeout`` is seconds, a negative limit is none."""
        self.operator_environment = operator_environment or {}
        self._memory = Memory()
        self._database = database
        self._registry = registry
        self._default_timeout = default_timeout
        self._tree_quota = TreeQuota(limit=max_resources) if max_resources >= 0 else None
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
        max_stacks: int = -1,
        have: Callable[[], str | None] = lambda: None,
    ) -> Started:
        """Store a stack and start to create it, or to adopt what is there already.

        Args:
            adopt: what an abandoned stack's resources were, by name.
            owner: the claim on whose behalf a nested stack is created.
            max_stacks: how many stacks the project may have; any number if negative.
            have: has a user delegate what the stack needs; called when its template is known to be right.

        Raises:
            Invalid: the template cannot be.
            RequestLimitExceeded: there must not be so many resources in its tree, or stacks in the project.
            StackExists: there is a stack of that name.
        """
        wanted = self.freeze(stack, source, stack.action)
        if adopt is not None:
            wanted = replace(wanted, targets=_adopted(wanted.targets, adopt))
        start = replace(
            self._start(stack.action, wanted, settings, tags, stack),
            owner=owner,
            tree_quota=self._tree_quota_of(wanted),
            max_stacks=max_stacks,
            delegation=have(),
        )
        described = _described(stack, wanted)
        planned = plan(stack.id, wanted.targets, ())
        try:
            return self._begun(traversals.create(self._database, described, start, planned))
        except errors.StackExists:
            # It may be this very one, if the answer to the commit was lost and the transaction
            # tried again; then recovery rings for what is READY.
            made = stacks.get(self._database, stack.id)
            if made is None:
                raise
            return Started(
                stack_id=made.id, traversal_id=made.current_traversal, leaves=(), tree=made.root_id
            )

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

        def decide(now: Stack) -> TraversalSpec:
            wanted = self.freeze(now, source(now), Action.UPDATE)
            self._check_immutable(now, wanted)
            changed = settings | {"description": wanted.description}
            start = self._start(Action.UPDATE, wanted, changed, tags, now)
            return replace(start, owner=owner, tree_quota=self._tree_quota_of(wanted))

        return self._race(stack, decide)

    def delete(self, stack: Stack, *, abandon: bool = False) -> Started:
        """Start to delete a stack; its template stays readable.

        ``abandon``: what its resources stand for stays.
        """

        def decide(now: Stack) -> TraversalSpec:
            return TraversalSpec(
                action=Action.DELETE,
                targets={},
                settings={},
                timeout_secs=self._timeout(now.timeout_mins),
                abandon=abandon,
            )

        return self._race(stack, decide)

    def visit(
        self, stack: Stack, action: Action, *, snapshot_name: str | None = None, max_snapshots: int = -1
    ) -> Started:
        """Start to suspend, resume, check or take a snapshot of every resource as it is.

        Raises:
            ActionInProgress: something else is under way.
            NotFound: the stack was deleted meanwhile.
            RequestLimitExceeded: the stack has as many snapshots as it may.
        """

        def decide(now: Stack) -> TraversalSpec:
            if now.status is Status.IN_PROGRESS:
                raise errors.ActionInProgress(name=now.name, action=now.action)
            return TraversalSpec(
                action=action,
                targets={},
                settings={},
                timeout_secs=self._timeout(now.timeout_mins),
                keep_events=self._keep_events,
                snapshot_name=snapshot_name,
                max_snapshots=max_snapshots,
            )

        return self._race(stack, decide, lambda extant: visit(stack.id, extant, order=_ORDERS[action]))

    def restore(self, stack: Stack, wanted: Wanted) -> Started:
        """Start to make a stack what a snapshot of it wants.

        Raises:
            NotFound: the stack was deleted meanwhile.
            RequestLimitExceeded: there must not be so many resources in its tree.
        """

        def decide(now: Stack) -> TraversalSpec:
            start = self._start(Action.RESTORE, wanted, {"description": wanted.description}, None, now)
            return replace(start, tree_quota=self._tree_quota_of(wanted))

        return self._race(stack, decide)

    def converge(
        self,
        stack: Stack,
        *,
        only: Collection[str] | None = None,
        only_at: str | None = None,
        heals: Sequence[ResourceRow] | None = None,
    ) -> Started | None:
        """Start to put right what has drifted of a stack, and what depends on that; see ``db.observations``.

        Args:
            only: the names of the resources whose drift counts; None: all.
            only_at: the traversal that must not have been overtaken; None is returned if it has.
            heals: the rows that are healed, if it is not a user who has this done; see ``db.healing``.

        Raises:
            NotFound: the stack was deleted meanwhile.
            NotSupported: the stack is suspended, or is being deleted.
        """

        def decide(now: Stack) -> TraversalSpec:
            if only_at is not None and now.current_traversal != only_at:
                raise _NotDue
            if now.action in (Action.SUSPEND, Action.DELETE):
                raise errors.NotSupported(feature=f"Converging stack {now.name} after its {now.action}")
            wanted = self.freeze(now, self.stored(now.raw_template_id), Action.UPDATE)
            return TraversalSpec(
                action=Action.UPDATE,
                targets=wanted.targets,
                settings={},
                timeout_secs=self._timeout(now.timeout_mins),
                keep_events=self._keep_events,
                only_drifted=None if only is None else frozenset(only),
                heals=heals,
            )

        try:
            return self._race(stack, decide)
        except _NotDue:
            return None

    def roll_back(self, stack: Stack, *, only_if_due: bool = False) -> Started | None:
        """Start to bring a stack back to the last template that reached COMPLETE.

        ``only_if_due``: not if the rollback that the stack waited for has been
        prepared by another, or overtaken by a newer wish.
        """

        def decide(now: Stack) -> TraversalSpec:
            if only_if_due and now.phase is not Phase.PREPARE:
                raise _NotDue
            wanted = self._last_completed(now)
            start = self._start(Action.ROLLBACK, wanted, {"description": wanted.description}, None, now)
            if now.prev_raw_template_id is None:
                return start
            return replace(start, template=now.prev_raw_template_id)

        try:
            return self._race(stack, decide)
        except _NotDue:
            return None

    def freeze(self, stack: Stack, source: Source, action: Action) -> Wanted:
        """Return what a source wants of a stack."""
        facts = StackFacts(
            id=stack.id,
            name=stack.name,
            project_id=stack.project_id,
            action=action,
            timeout_mins=stack.timeout_mins,
            context=self._registry.context(stack, asking=True),
        )
        return freezing.freeze(source, facts, self._registry, self.operator_environment, self._memory)

    def check_tree_quota(self, stack: Stack, size: int) -> None:
        """Refuse so many resources in a stack if that is too many for the tree that it is in.

        Raises:
            RequestLimitExceeded: it is too many.
        """
        if self._tree_quota is not None:
            tree_quota.check(self._database, stack, size, self._tree_quota)

    def check_fits(self, stack: Stack, wanted: Wanted) -> None:
        """Refuse what is wanted of a stack if that is too many resources for the tree that it is in.

        Raises:
            RequestLimitExceeded: it is too many.
        """
        if (needed := self._tree_quota_of(wanted)) is not None:
            tree_quota.check(self._database, stack, len(wanted.targets), needed)

    def check_size(self, resources: int) -> None:
        """Refuse a tree of so many resources if there must not be as many.

        Raises:
            RequestLimitExceeded: it is too many.
        """
        if self._tree_quota is not None:
            self._tree_quota.check(resources)

    def stored(self, template_id: int) -> Source:
        """Return the source that a stored template was made of."""
        raw = stacks.get_template(self._database, template_id)
        return Source(template=raw.template, environment=raw.environment, files=raw.files)

    def _check_immutable(self, stack: Stack, wanted: Wanted) -> None:
        if any(parameter.schema.immutable for parameter in wanted.parameters.values()):
            before = self.freeze(stack, self.stored(stack.raw_template_id), Action.UPDATE)
            template.check_immutable(before.parameters, wanted.parameters)

    # -- inside ------------------------------------------------------------------------------

    def _last_completed(self, stack: Stack) -> Wanted:
        if stack.prev_raw_template_id is None:
            return freezing.empty()
        return self.freeze(stack, self.stored(stack.prev_raw_template_id), Action.ROLLBACK)

    def _race(
        self, stack: Stack, decide: Callable[[Stack], TraversalSpec], planner: Planner | None = None
    ) -> Started:
        """Decide on the stack as it was found and start; if another was faster, on what it made of it.

        Without a ``planner`` the stack's rows become what the start's targets want.
        """
        now: Stack | None = stack
        for _ in range(ATTEMPTS):
            if now is None or now.deleted_at is not None:
                raise errors.NotFound(entity="Stack", name=stack.name)
            started = self._try(now, decide, planner)
            if started is not None:
                return started
            now = stacks.get(self._database, stack.id)
            LOG.info("stack %s: another request was faster; doing it again on top", stack.id)
        raise errors.ActionInProgress(name=stack.name, action=stack.action)

    def _try(
        self, now: Stack, decide: Callable[[Stack], TraversalSpec], planner: Planner | None
    ) -> Started | None:
        try:
            start = decide(now)
        except errors.StaleWrite:  # of the template that it builds on
            return None
        planner = planner or functools.partial(plan, now.id, start.targets)
        started = traversals.try_start(self._database, now, start, planner)
        return started and self._begun(started)

    def _begun(self, started: Started) -> Started:
        """Let the database know how much there is to do, before it is asked about each of it."""
        if started.nodes > statistics.FEW:
            try:
                statistics.correct(self._database, planned=started.nodes)
            except errors.StorageError:
                LOG.exception("stack %s: PostgreSQL may plan badly for a while", started.stack_id)
        return started

    def _start(
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

    def _tree_quota_of(self, wanted: Wanted) -> TreeQuota | None:
        return self._tree_quota and replace(self._tree_quota, inside=wanted.inside)

    def _timeout(self, timeout_mins: int | None) -> int:
        return timeout_mins * 60 if timeout_mins else self._default_timeout


def _adopted(targets: Mapping[str, Target], found: Mapping[str, Any]) -> dict[str, Target]:
    """Tell each definition what is there already."""
    return {
        name: target._replace(definition=target.definition.changed(adopt=found.get(name) or {}))
        for name, target in targets.items()
    }


def _described(stack: Stack, wanted: Wanted) -> Stack:
    return Stack(**{**stack.__dict__, "description": wanted.description})
