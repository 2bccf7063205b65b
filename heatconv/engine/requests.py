# SPDX-License-Identifier: Apache-2.0
"""What users ask for: create, update, delete, roll back, cancel.  Each is accepted at once."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any

from heatconv import errors
from heatconv.db.convergence import nested, resources, stacks, traversal_ends
from heatconv.db.convergence.traversals import Started
from heatconv.db.plumbing.requests import answer_with
from heatconv.db.plumbing.session import Database
from heatconv.engine.applying import UNPLANNED, Applying, Guard, of_options, unguarded
from heatconv.engine.delegating import Delegating
from heatconv.engine.lookup import find_living, find_to_change
from heatconv.engine.options import new_stack, owner_of, settings_of
from heatconv.engine.posted_sources import PostedSources
from heatconv.engine.prepare import Preparer
from heatconv.engine.source import Source
from heatconv.engine.stack_quotas import StackQuotas
from heatconv.model.records import Held, Stack
from heatconv.model.states import Action, Phase, Status, cancelled
from heatconv.rpc.context import RequestContext

LOG = logging.getLogger(__name__)

Json = Mapping[str, Any]
Ring = Callable[[Started], None]
Wake = Callable[[str, str], None]  #: the worker of an id, which holds a row
LookOver = Callable[..., None]  #: as ``Observer.look_over``


class Requests:
    """Carries out what users ask for; rings for what that makes ready."""

    def __init__(
        self,
        *,
        database: Database,
        preparer: Preparer,
        sources: PostedSources,
        quotas: StackQuotas,
        ring: Ring,
        wake: Wake,
        look_over: LookOver,
        delegating: Delegating,
    ) -> None:
        """Keep what is handed in; ``ring`` and ``wake`` are called after commit, and may be lost."""
        self._database = database
        self._preparer = preparer
        self._sources = sources
        self._quotas = quotas
        self._ring = ring
        self._wake = wake
        self._look_over = look_over
        self._delegating = delegating
        self.guard: Guard = unguarded  #: of whoever is above, who makes plans

    def create_stack(self, context: RequestContext, name: str, source: Json, options: Json) -> str:
        """Store a stack, start to create it, return its id; see ``begin_creation``."""
        return self.begin_creation(context, name, source, options)

    def begin_creation(
        self,
        context: RequestContext,
        name: str,
        source: Json,
        options: Json,
        applying: Applying | None = None,
    ) -> str:
        """Store a stack, start to create it, by a plan perhaps, return its id.

        With ``adopt`` among the options, what an abandoned stack left is taken over.
        With ``owner``, the stack is nested, and one that is there already is returned.
        So is the one that has the ``stack_id``: the message came twice.
        """
        owner = owner_of(options)
        stack = new_stack(context, name, options)
        if owner is None:
            self._quotas.check_project(stack)
        else:
            existing = self._nested_of(owner)
            if existing is not None:
                return existing
            stack = self._placed(stack, owner)
        adopt = options.get("adopt")
        wanted = self._sources.create_source(context, source, options)
        answer_with(lambda _begun: stack.id)
        try:
            with self._delegating.to_new(context, stack) as have:
                started = self._preparer.create(
                    stack,
                    wanted,
                    settings_of(options, wanted),
                    list(options.get("tags") or []),
                    adopt=None if adopt is None else adopt.get("resources") or {},
                    owner=owner,
                    have=have,
                    applying=applying or of_options(options),
                )
        except errors.StackExists:
            # Who holds the owner may have asked twice, and the other call was faster.
            twin = None if owner is None else self._nested_of(owner)
            if twin is None:
                raise
            return twin
        LOG.info("stack %s: %s of %s begins (%s)", stack.id, stack.action, name, context.request_id)
        self._ring(started)
        return stack.id

    def _placed(self, stack: Stack, owner: Held) -> Stack:
        """Return a stack as it is nested."""
        place = nested.places(self._database, [owner.id]).get(owner.id)
        if place is None:
            raise errors.ResourceLocked(name=owner.id)  # the owner is gone, and so is its claim
        return self._quotas.placed(stack, place)

    def _nested_of(self, owner: Held) -> str | None:
        """Return the id of the stack that is there for an owner."""
        existing = nested.child_of(self._database, owner.id)
        return None if existing is None or existing.deleted else existing.id

    def update_stack(
        self, context: RequestContext, stack: str, source: Json, options: Json, *, existing: bool = False
    ) -> None:
        """Start to make a stack match another template, whatever runs now."""
        found = find_to_change(self._database, context, stack)
        sources = self._sources.update_source(context, source, existing=existing)
        self.begin_update(context, found, sources, options, existing=existing)

    def begin_update(
        self,
        context: RequestContext,
        found: Stack,
        sources: Callable[[Stack], Source],
        options: Json,
        *,
        existing: bool,
        applying: Applying | None = None,
    ) -> None:
        """Start to make a stack match what comes of its sources, by a plan perhaps."""
        if found.action is Action.SUSPEND:
            raise errors.NotSupported(feature=f"Updating stack {found.name} while it is suspended")
        self._delegating.renew(context, found)
        if options.get("converge"):
            self._look_over(found, None, to_converge=True)
        tags = options.get("tags", None if existing else [])
        # What a PATCH says nothing about stays as it was said last, wherever that was.
        settings = settings_of(options, None if existing else sources(found))
        owner = owner_of(options)
        if applying is None:
            applying = of_options(options) if owner is not None else self.guard(context, "update")
        started = self._preparer.update(found, sources, settings, tags, owner=owner, applying=applying)
        LOG.info("stack %s: update begins (%s)", found.id, context.request_id)
        self._ring(started)

    def find_to_delete(self, context: RequestContext, stack: str) -> Stack:
        """Return what ``find_to_change`` does.

        If the stack can act by nothing any more, whoever asks may delegate that.
        """
        found = find_to_change(self._database, context, stack)
        try:
            self._delegating.renew(context, found)
        except (errors.Forbidden, errors.TransportError) as error:
            LOG.warning("stack %s: it is deleted with what it has: %s", found.id, error)
        return found

    def guard_of_deletion(self, context: RequestContext, found: Stack) -> Applying:
        """Return what refuses the deletion of a stack that breaks a rule.

        Of a nested stack the worker asks that deletes its owner; that was allowed before.
        """
        if found.owner_resource_id is not None:
            owner = resources.get_many(self._database, [found.owner_resource_id])
            if not owner or owner[0].action is Action.DELETE:
                return UNPLANNED
        return self.guard(context, "delete")

    def begin_deletion(
        self, context: RequestContext, found: Stack, *, abandon: bool, applying: Applying = UNPLANNED
    ) -> None:
        """Start to delete a stack that ``find_to_delete`` has found, whatever runs now, by a plan perhaps.

        ``abandon``: but nothing that it stands for.
        """
        started = self._preparer.delete(found, abandon=abandon, applying=applying)
        LOG.info("stack %s: delete begins (%s)", found.id, context.request_id)
        self._ring(started)

    def rollback_stack(self, context: RequestContext, stack: str) -> None:
        """Start to bring a stack back to the last template that reached COMPLETE."""
        found = find_to_change(self._database, context, stack)
        self.begin_rollback(found, only_if_due=False, applying=self.guard(context, "rollback"))

    def cancel_stack(self, context: RequestContext, stack: str, *, rollback: bool) -> None:
        """Stop a running update, with rollback, or a create or update, without; in nested stacks as well.

        With rollback those are turned back by their owners; a rule may be against that.  Without,
        a nested stack that was just about to begin, or that a dying engine did not come to, is
        stopped by recovery.
        The deletion of a nested stack can be stopped as well: what is left of it is left.
        """
        found = find_to_change(self._database, context, stack)
        allowed = (Action.UPDATE,) if rollback else (Action.UPDATE, Action.CREATE)
        if found.action is Action.DELETE and found.owner_resource_id is not None and not rollback:
            self._give_up_deletion(found)
            return
        if found.status is not Status.IN_PROGRESS or found.action not in allowed:
            what = " or ".join(allowed).lower()
            raise errors.NotSupported(feature=f"Cancelling stack {found.name} when no {what} is in progress")
        if rollback:
            self.begin_rollback(found, only_if_due=False, applying=self.guard(context, "rollback"))
            return
        self._stop(found.id, found.current_traversal, cancelled(found.action))
        inside = [found.id]
        while inside:
            under_way = nested.under_way(self._database, inside)
            for below in under_way:
                self._stop(below.id, below.traversal_id, cancelled(below.action))
            inside = [below.id for below in under_way]

    def _stop(self, stack_id: str, traversal_id: str, reason: str) -> None:
        failed = traversal_ends.fail(self._database, stack_id, traversal_id, reason, may_roll_back=False)
        if failed is not None and failed.owner is not None:
            self._wake(failed.owner.resource_id, failed.owner.engine_id)

    def _give_up_deletion(self, stack: Stack) -> None:
        held = traversal_ends.give_up_deletion(self._database, stack.id, stack.current_traversal)
        LOG.info("stack %s: its deletion is given up", stack.id)
        for resource_id, engine_id in held:
            self._wake(resource_id, engine_id)

    def prepare_rollback(self, stack_id: str) -> None:
        """Prepare the rollback that a stack waits for, if it still does; fail it if there is no way back."""
        stack = stacks.get(self._database, stack_id)
        if stack is None or stack.phase is not Phase.PREPARE:
            return
        try:
            self.begin_rollback(stack, only_if_due=True)
        except errors.UserError as error:
            LOG.warning("stack %s: no rollback: %s", stack_id, error)
            self._stop(stack_id, stack.current_traversal, f"The rollback could not begin: {error}")

    def begin_rollback(self, stack: Stack, *, only_if_due: bool, applying: Applying = UNPLANNED) -> None:
        """Start to bring a stack back, by a plan perhaps; see ``Preparer.roll_back``."""
        started = self._preparer.roll_back(stack, only_if_due=only_if_due, applying=applying)
        if started is not None:
            LOG.info("stack %s: rollback begins", stack.id)
            self._ring(started)

    def check_tree_quota(self, context: RequestContext, stack: str, size: int) -> None:
        """Refuse so many resources in a stack if that is too many for the tree it is in."""
        self._quotas.check_grown(find_living(self._database, context, stack), size)
