# SPDX-License-Identifier: Apache-2.0
"""What users ask for: create, update, delete, roll back, cancel.  Each is accepted at once."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any

from heatconv import errors
from heatconv.db import nested, stacks, traversals
from heatconv.db.session import Database
from heatconv.db.traversals import Started
from heatconv.engine import freezing, patching
from heatconv.engine.freezing import Source
from heatconv.engine.prepare import Preparer
from heatconv.model.ids import new_id
from heatconv.model.records import Held, Stack
from heatconv.model.states import Action, Phase, Status
from heatconv.rpc.context import RequestContext

LOG = logging.getLogger(__name__)

Json = Mapping[str, Any]
Ring = Callable[[Started], None]


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
    ) -> None:
        """Keep what is handed in; ``ring`` is called after commit, and may be lost."""
        self._database = database
        self._preparer = preparer
        self._ring = ring
        self._max_template_size = max_template_size
        self._max_stacks = max_stacks
        self._max_depth = max_depth

    def create_stack(self, context: RequestContext, name: str, source: Json, options: Json) -> str:
        """Store a stack, start to create it, return its id.

        With ``adopt`` among the options, what an abandoned stack left is taken over.
        With ``owner``, the stack is nested, and one that is there already is returned.
        """
        owner = _owner(options)
        if owner is None:
            self._check_quota(context)
        else:
            existing = nested.child_of(self._database, owner.id)
            if existing is not None and not existing.deleted:
                return existing.id
            self._check_depth(owner)
        stack = self.new_stack(context, name, options)
        adopt = options.get("adopt")
        started = self._preparer.create(
            stack,
            self.create_source(source, options),
            _settings(options),
            list(options.get("tags") or []),
            adopt=None if adopt is None else adopt.get("resources") or {},
            owner=owner,
        )
        LOG.info("stack %s: %s of %s begins (%s)", stack.id, stack.action, name, context.request_id)
        self._ring(started)
        return stack.id

    def update_stack(
        self, context: RequestContext, stack: str, source: Json, options: Json, existing: bool
    ) -> None:
        """Start to make a stack match another template, whatever runs now."""
        found = self.find(context, stack)
        if found.action is Action.SUSPEND:
            raise errors.NotSupported(feature=f"Updating stack {found.name} while it is suspended")
        sources = self.update_source(source, existing=existing)
        tags = options.get("tags", None if existing else [])
        started = self._preparer.update(found, sources, _settings(options), tags, owner=_owner(options))
        LOG.info("stack %s: update begins (%s)", found.id, context.request_id)
        self._ring(started)

    def delete_stack(self, context: RequestContext, stack: str) -> None:
        """Start to delete a stack, whatever runs now."""
        found = self.find(context, stack)
        started = self._preparer.delete(found)
        LOG.info("stack %s: delete begins (%s)", found.id, context.request_id)
        self._ring(started)

    def rollback_stack(self, context: RequestContext, stack: str) -> None:
        """Start to bring a stack back to the last template that reached COMPLETE."""
        self._roll_back(self.find(context, stack), only_if_due=False)

    def cancel_stack(self, context: RequestContext, stack: str, rollback: bool) -> None:
        """Stop a running update, with rollback, or a create or update, without."""
        found = self.find(context, stack)
        allowed = (Action.UPDATE,) if rollback else (Action.UPDATE, Action.CREATE)
        if found.status is not Status.IN_PROGRESS or found.action not in allowed:
            what = " or ".join(allowed).lower()
            raise errors.NotSupported(feature=f"Cancelling stack {found.name} when no {what} is in progress")
        if rollback:
            self._roll_back(found, only_if_due=False)
            return
        reason = f"Stack {found.action} cancelled"
        traversals.fail(self._database, found.id, found.current_traversal, reason, may_roll_back=False)

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

    def parse(self, source: Json) -> Source:
        """Parse what a user posted to describe a stack."""
        return freezing.parse(source, max_template_size=self._max_template_size)

    def create_source(self, source: Json, options: Json) -> Source:
        """Return what a user posted to describe a stack, laid over what is to be adopted if anything is."""
        adopt = options.get("adopt")
        if adopt is None:
            return self.parse(source)
        before = self.parse({key: adopt.get(key) for key in ("template", "environment", "files")})
        return patching.lay_over(before, source, max_template_size=self._max_template_size)

    def update_source(self, source: Json, *, existing: bool) -> Callable[[Stack], Source]:
        """Return how to get at what an update wants, given the stack it is for."""
        if not existing:
            parsed = self.parse(source)
            return lambda _stack: parsed

        def build(stack: Stack) -> Source:
            before = self._preparer.stored(stack.raw_template_id)
            return patching.lay_over(before, source, max_template_size=self._max_template_size)

        return build

    def new_stack(self, context: RequestContext, name: str, options: Json) -> Stack:
        """Return the record of a stack that is not stored yet."""
        return Stack(
            id=new_id(),
            name=name,
            project_id=context.project_id,
            user_id=context.user_id,
            user_name=context.user_name,
            owner_resource_id=owner.id if (owner := _owner(options)) else None,
            raw_template_id=0,
            current_traversal="",
            action=Action.CREATE if options.get("adopt") is None else Action.ADOPT,
            status=Status.IN_PROGRESS,
            phase=Phase.PREPARE,
            disable_rollback=options.get("disable_rollback", True),
            timeout_mins=options.get("timeout_mins"),
            tags=tuple(options.get("tags") or ()),
        )

    def _check_depth(self, owner: Held) -> None:
        if nested.depth(self._database, owner.id, self._max_depth) > self._max_depth:
            raise errors.RequestLimitExceeded(f"Recursion depth exceeds {self._max_depth}.")

    def _check_quota(self, context: RequestContext) -> None:
        if self._max_stacks < 0:
            return
        if stacks.count(self._database, context.project_id, stacks.Page()) >= self._max_stacks:
            raise errors.RequestLimitExceeded(
                f"You have reached the maximum stacks per project, {self._max_stacks}."
                " Delete some stacks, or have the limit raised."
            )


def _owner(options: Json) -> Held | None:
    """Return the claim of the worker that asks for a nested stack."""
    return Held(**options["owner"]) if options.get("owner") else None


def _settings(options: Json) -> dict[str, Any]:
    """Return the columns of a stack that a request's options change."""
    return {key: options[key] for key in ("disable_rollback", "timeout_mins") if key in options}
