# SPDX-License-Identifier: Apache-2.0
"""What users ask for: create, update, delete, roll back, cancel.  Each is accepted at once."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from heatconv import errors
from heatconv.db.convergence import nested, stacks, traversal_ends
from heatconv.db.convergence.traversals import Started
from heatconv.db.plumbing.requests import answer_with
from heatconv.db.plumbing.session import Database
from heatconv.engine import freezing, patching
from heatconv.engine.delegating import Delegating
from heatconv.engine.prepare import Preparer
from heatconv.engine.source import Source
from heatconv.model.ids import new_id
from heatconv.model.permission import check_types
from heatconv.model.records import Held, Stack, changed
from heatconv.model.states import Action, Phase, Status, cancelled
from heatconv.rpc.context import RequestContext
from heatconv.sinks.types import SinkTypes

LOG = logging.getLogger(__name__)

Json = Mapping[str, Any]
Ring = Callable[[Started], None]
Wake = Callable[[str, str], None]  #: the worker of an id, which holds a row
LookOver = Callable[..., None]  #: as ``Observer.look_over``


def nobody_looks(_stack: Stack, _name: str | None, **_to: bool) -> None:
    """Refuse, where there is no observer."""
    raise errors.NotSupported(feature="Comparing with the real world before an update ('converge') here")


class Requests:
    """Carries out what users ask for; rings for what that makes ready."""

    def __init__(
        self,
        *,
        database: Database,
        preparer: Preparer,
        ring: Ring,
        max_template_size: int,
        max_stacks: int,
        max_depth: int = 5,
        wake: Wake | None = None,
        look_over: LookOver = nobody_looks,
        sink_types: SinkTypes | None = None,
        delegating: Delegating | None = None,
    ) -> None:
        """Keep what is handed in; ``ring`` and ``wake`` are called after commit, and may be lost."""
        self._database = database
        self._preparer = preparer
        self._ring = ring
        self._max_template_size = max_template_size
        self._max_stacks = max_stacks
        self._max_depth = max_depth
        self._wake = wake
        self._look_over = look_over
        self._sink_types = sink_types or SinkTypes()
        self._delegating = delegating or Delegating(database, None)

    def create_stack(self, context: RequestContext, name: str, source: Json, options: Json) -> str:
        """Store a stack, start to create it, return its id.

        With ``adopt`` among the options, what an abandoned stack left is taken over.
        With ``owner``, the stack is nested, and one that is there already is returned.
        """
        owner = _owner(options)
        stack = self.new_stack(context, name, options)
        if owner is None:
            self._check_quota(stack)
        else:
            existing = self._nested_of(owner)
            if existing is not None:
                return existing
            stack = self._placed(stack, owner)
        adopt = options.get("adopt")
        wanted = self.create_source(context, source, options)
        answer_with(lambda started: started.stack_id)
        try:
            with self._delegating.to_new(context, stack) as have:
                started = self._preparer.create(
                    stack,
                    wanted,
                    _settings(options, wanted),
                    list(options.get("tags") or []),
                    adopt=None if adopt is None else adopt.get("resources") or {},
                    owner=owner,
                    max_stacks=self._max_stacks if owner is None else -1,
                    have=have,
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

    def _nested_of(self, owner: Held) -> str | None:
        """Return the id of the stack that is there for an owner."""
        existing = nested.child_of(self._database, owner.id)
        return None if existing is None or existing.deleted else existing.id

    def update_stack(
        self, context: RequestContext, stack: str, source: Json, options: Json, *, existing: bool = False
    ) -> None:
        """Start to make a stack match another template, whatever runs now."""
        found = self.find_to_change(context, stack)
        if found.action is Action.SUSPEND:
            raise errors.NotSupported(feature=f"Updating stack {found.name} while it is suspended")
        sources = self.update_source(context, source, existing=existing)
        self._delegating.renew(context, found)
        if options.get("converge"):
            self._look_over(found, None, to_converge=True)
        tags = options.get("tags", None if existing else [])
        # What a PATCH says nothing about stays as it was said last, wherever that was.
        settings = _settings(options, None if existing else sources(found))
        started = self._preparer.update(found, sources, settings, tags, owner=_owner(options))
        LOG.info("stack %s: update begins (%s)", found.id, context.request_id)
        self._ring(started)

    def find_to_delete(self, context: RequestContext, stack: str) -> Stack:
        """Return a stack as ``find`` does; if it can act by nothing any more, who asks may delegate that."""
        found = self.find_to_change(context, stack)
        try:
            self._delegating.renew(context, found)
        except (errors.Forbidden, errors.TransportError) as error:
            LOG.warning("stack %s: it is deleted with what it has: %s", found.id, error)
        return found

    def begin_deletion(self, context: RequestContext, stack: str, *, abandon: bool) -> None:
        """Start to delete a stack, whatever runs now; ``abandon``: but nothing that it stands for."""
        found = self.find_to_change(context, stack)
        started = self._preparer.delete(found, abandon=abandon)
        LOG.info("stack %s: delete begins (%s)", found.id, context.request_id)
        self._ring(started)

    def rollback_stack(self, context: RequestContext, stack: str) -> None:
        """Start to bring a stack back to the last template that reached COMPLETE."""
        self._roll_back(self.find_to_change(context, stack), only_if_due=False)

    def cancel_stack(self, context: RequestContext, stack: str, *, rollback: bool) -> None:
        """Stop a running update, with rollback, or a create or update, without; in nested stacks as well.

        With rollback those are turned back by their owners.  Without, a nested stack that
        was just about to begin, or that a dying engine did not come to, is stopped by recovery.
        The deletion of a nested stack can be stopped as well: what is left of it is left.
        """
        found = self.find_to_change(context, stack)
        allowed = (Action.UPDATE,) if rollback else (Action.UPDATE, Action.CREATE)
        if found.action is Action.DELETE and found.owner_resource_id is not None and not rollback:
            self._give_up_deletion(found)
            return
        if found.status is not Status.IN_PROGRESS or found.action not in allowed:
            what = " or ".join(allowed).lower()
            raise errors.NotSupported(feature=f"Cancelling stack {found.name} when no {what} is in progress")
        if rollback:
            self._roll_back(found, only_if_due=False)
            return
        self._stop(found.id, found.current_traversal, found.action)
        inside = [found.id]
        while inside:
            under_way = nested.under_way(self._database, inside)
            for below in under_way:
                self._stop(below.id, below.traversal_id, below.action)
            inside = [below.id for below in under_way]

    def _stop(self, stack_id: str, traversal_id: str, action: Action) -> None:
        failed = traversal_ends.fail(
            self._database, stack_id, traversal_id, cancelled(action), may_roll_back=False
        )
        if failed is not None and failed.owner is not None and self._wake is not None:
            self._wake(failed.owner.resource_id, failed.owner.engine_id)

    def _give_up_deletion(self, stack: Stack) -> None:
        held = traversal_ends.give_up_deletion(self._database, stack.id, stack.current_traversal)
        LOG.info("stack %s: its deletion is given up", stack.id)
        for resource_id, engine_id in held:
            if self._wake is not None:
                self._wake(resource_id, engine_id)

    def prepare_rollback(self, stack_id: str) -> None:
        """Prepare the rollback that a stack waits for, if it still does."""
        stack = stacks.get(self._database, stack_id)
        if stack is not None and stack.phase is Phase.PREPARE:
            self._roll_back(stack, only_if_due=True)

    def _roll_back(self, stack: Stack, *, only_if_due: bool) -> None:
        started = self._preparer.roll_back(stack, only_if_due=only_if_due)
        if started is not None:
            LOG.info("stack %s: rollback begins", stack.id)
            self._ring(started)

    # -- what requests have in common --------------------------------------------------------

    def find(self, context: RequestContext, stack: str) -> Stack:
        """Return a living stack of the caller's project by name or id.

        Raises:
            NotFound: there is none.
        """
        found = stacks.find(self._database, context.project_id, stack)
        if found is None or found.deleted_at is not None:
            raise errors.NotFound(entity="Stack", name=stack)
        return found

    def find_to_change(self, context: RequestContext, stack: str) -> Stack:
        """Return what ``find`` does, if the caller may use every type that there is in it and below.

        Raises:
            Forbidden: it is not the caller's to change.
            NotFound: there is none.
        """
        found = self.find(context, stack)
        if context.refused_types:
            check_types(nested.types_in_tree(self._database, found.root_id), context.refused_types)
        return found

    def parse(self, context: RequestContext, source: Json) -> Source:
        """Parse what a user posted to describe a stack."""
        parsed = freezing.parse(source, max_template_size=self._max_template_size)
        return replace(parsed, refused_types=context.refused_types or ())

    def create_source(self, context: RequestContext, source: Json, options: Json) -> Source:
        """Return what a user posted to describe a stack, laid over what is to be adopted if anything is.

        What a nested stack is made of comes from its owner in any case.
        """
        adopt = options.get("adopt")
        if _owner(options) is not None:
            return self.parse(context, source)
        if adopt is None:
            return self.check_sinks(self.parse(context, source))
        before = self.parse(context, {key: adopt.get(key) for key in ("template", "environment", "files")})
        return self.check_sinks(patching.lay_over(before, source, max_template_size=self._max_template_size))

    def update_source(
        self, context: RequestContext, source: Json, *, existing: bool
    ) -> Callable[[Stack], Source]:
        """Return how to get at what an update wants, given the stack it is for."""
        if not existing:
            parsed = self.parse(context, source)
            # What a nested stack inherits has been checked, whatever the operator may have said since.
            return lambda stack: parsed if stack.owner_resource_id else self.check_sinks(parsed)

        def build(stack: Stack) -> Source:
            stored = self._preparer.stored(stack.raw_template_id)
            before = replace(stored, refused_types=context.refused_types or ())
            after = patching.lay_over(before, source, max_template_size=self._max_template_size)
            kept = after.environment["event_sinks"] == before.environment.get("event_sinks")
            return after if kept else self.check_sinks(after)

        return build

    def check_sinks(self, source: Source) -> Source:
        """Return a source if its events can be delivered as it says.

        Raises:
            Invalid: they cannot.
        """
        self._sink_types.check(source.environment)
        return source

    def new_stack(self, context: RequestContext, name: str, options: Json) -> Stack:
        """Return the record of a stack that is not stored yet."""
        stack_id = new_id()
        return Stack(
            id=stack_id,
            name=name,
            project_id=context.project_id,
            user_id=context.user_id,
            user_name=context.user_name,
            owner_resource_id=owner.id if (owner := _owner(options)) else None,
            root_id=stack_id,
            raw_template_id=0,
            current_traversal="",
            action=Action.CREATE if options.get("adopt") is None else Action.ADOPT,
            status=Status.IN_PROGRESS,
            phase=Phase.PREPARE,
            disable_rollback=options.get("disable_rollback", True),
            timeout_mins=options.get("timeout_mins"),
            tags=tuple(options.get("tags") or ()),
        )

    def check_tree_quota(self, context: RequestContext, stack: str, size: int) -> None:
        """Refuse so many resources in a stack if that is too many for the tree it is in."""
        self._preparer.check_tree_quota(self.find(context, stack), size)

    def _placed(self, stack: Stack, owner: Held) -> Stack:
        """Return a stack as it is nested."""
        place = nested.place(self._database, owner.id)
        if place is None:
            raise errors.ResourceLocked(name=owner.id)  # the owner is gone, and so is its claim
        root_id, depth = place
        self.check_depth(depth)
        placed: Stack = changed(stack, root_id=root_id, depth=depth)
        return placed

    def check_depth(self, depth: int) -> None:
        """Refuse a stack that is nested so deep, if it is deeper than may be."""
        if depth > self._max_depth:
            raise errors.RequestLimitExceeded(f"Recursion depth exceeds {self._max_depth}.")

    def _check_quota(self, stack: Stack) -> None:
        """Refuse what there is no room for before any work goes into it: what counts is how it is stored."""
        if self._max_stacks >= 0:
            stacks.check_quota(self._database, stack.project_id, stack.id, self._max_stacks)


def _owner(options: Json) -> Held | None:
    """Return the claim of the worker that asks for a nested stack."""
    return Held(**options["owner"]) if options.get("owner") else None


def _settings(options: Json, source: Source | None = None) -> dict[str, Any]:
    """Return the columns of a stack that a request changes by its options, or else by its environment."""
    settings = {key: options[key] for key in ("disable_rollback", "timeout_mins") if key in options}
    policy = options.get("convergence")
    if policy is None and source is not None and _owner(options) is None:
        policy = source.environment.get("convergence")
    return settings if policy is None else settings | {"policy": policy}
