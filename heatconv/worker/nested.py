# SPDX-License-Identifier: Apache-2.0
"""The nested stacks of a job's stack: read from the database, changed by an engine."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from typing import Any

from heatconv import errors, template
from heatconv.db.convergence import nested, stacks
from heatconv.db.plumbing.session import Database
from heatconv.model.records import Child, Job, Member, ResourceRow, Stack
from heatconv.resources.nested import Inherited, Outputs
from heatconv.rpc.context import RequestContext
from heatconv.worker.engines import Creation, Engines


class Beside:
    """What is beside the templates of stacks: all that is nested in a stack inherits the same of it.

    Concurrency: safe to share between threads.
    """

    MOST = 32  #: templates of which it is remembered

    def __init__(self, database: Database) -> None:
        self._database = database
        self._remembered = functools.lru_cache(self.MOST)(self._read)

    def of(self, stack: Stack) -> tuple[Mapping[str, Any], Mapping[str, str]]:
        """Return the environment and the files of what a stack wants.

        Raises:
            StaleWrite: the stack wants something else by now.
        """
        return self._remembered(stack.raw_template_id, stack.current_traversal)

    def _read(self, template_id: int, _traversal: str) -> tuple[Mapping[str, Any], Mapping[str, str]]:
        # By the traversal as well: a database that was restored gives an id out again.
        return stacks.get_environment(self._database, template_id)


class OwnedStacks:
    """Implements ``heatconv.resources.nested.NestedStacks`` for whoever holds the row of a job.

    What an engine starts for it counts only while the row is held: each call
    carries the claim, and an engine that finds it broken changes nothing.
    """

    def __init__(self, database: Database, engines: Engines, job: Job, beside: Beside) -> None:
        self._database = database
        self._engines = engines
        self._engine = engines.client
        self._stack = job.stack
        self._beside = beside
        row = job.resource
        self.secrets: frozenset[str] = frozenset()  #: in what the nested stacks have told, not to be shown
        #: among the options of a nested stack: the claim that it is asked for by, and the plan's part of it
        self._mine: dict[str, Any] = {"owner": None}
        if row is not None:
            claim = {"id": row.id, "engine_id": row.engine_id, "atomic_key": row.atomic_key}
            self._mine = {"owner": claim, **handed_down(row)}

    @cached_property
    def _context(self) -> RequestContext:
        return RequestContext(
            project_id=self._stack.project_id, user_id=self._stack.user_id, user_name=self._stack.user_name
        )

    def inherited(self, name: str, type_: str) -> Inherited:
        """Return what the stack gives to what is nested in it below a resource."""
        environment, files = self._beside.of(self._stack)
        return Inherited(environment=template.inherited(environment, name, type_), files=files)

    def find(self, owner: str) -> Child | None:
        """Return the stack of an owner."""
        return nested.child_of(self._database, owner)

    def members(self, stack_id: str) -> Sequence[Member]:
        """Return the resources that a stack wants."""
        return nested.members_of(self._database, stack_id)

    def files(self, stack_id: str) -> Mapping[str, str]:
        """Return the files that a stack has by now."""
        return nested.files_of(self._database, stack_id)

    def create(
        self,
        name: str,
        source: Mapping[str, Any],
        timeout_mins: int | None,
        adopt: Mapping[str, Any] | None = None,
    ) -> str:
        """Start to create the stack of the row's, or return the id of the one that is there."""
        options = {"disable_rollback": True, "timeout_mins": timeout_mins, **self._mine}
        if adopt is not None:
            options["adopt"] = dict(adopt)
        wanted = Creation(
            context=self._context, tree=self._stack.root_id, name=name, source=source, options=options
        )
        with _held():
            return self._engines.create(wanted)

    def update(self, stack_id: str, source: Mapping[str, Any], timeout_mins: int | None) -> None:
        """Start to make a stack match another source."""
        options = {"timeout_mins": timeout_mins, **self._mine}
        with _held():
            self._engine.update_stack(self._context, stack_id, dict(source), options)

    def delete(self, stack_id: str, *, abandon: bool = False) -> None:
        """Start to delete a stack, unless it is gone already."""
        with suppress(errors.NotFound):
            self._engine.delete_stack(self._context, stack_id, abandon=abandon)

    def give_up_deletion(self, stack_id: str) -> None:
        """Let a stack's deletion under way go no further, if there is one: what is left of it is left."""
        with suppress(errors.NotFound, errors.NotSupported):
            self._engine.cancel_stack(self._context, stack_id, rollback=False)

    def check_tree_quota(self, stack_id: str, size: int) -> None:  # noqa: ARG002 - as the protocol has it
        """Refuse to tell: an engine finds out when it is asked to make them."""
        raise errors.NotSupported(feature="Counting the resources of a tree in a worker")

    def visit(self, stack_id: str, action: str) -> None:
        """Start to suspend, resume or check every resource of a stack."""
        visits = {
            "SUSPEND": self._engine.suspend_stack,
            "RESUME": self._engine.resume_stack,
            "CHECK": self._engine.check_stack,
        }
        visits[action](self._context, stack_id)

    def outputs(self, stack_id: str) -> Outputs:
        """Return what a stack's outputs come to."""
        shown = self._engine.show_stack(self._context, stack_id, resolve_outputs=True)
        return Outputs.of(shown["outputs"])

    def member(self, stack_id: str, name: str, attribute: str | None) -> Any:
        """Return an attribute of a stack's resource, or its physical id."""
        answer = self._engine.get_attribute(self._context, stack_id, name, attribute)
        self.secrets |= frozenset(answer["secrets"])
        return answer["value"]


def handed_down(row: ResourceRow) -> dict[str, Any]:
    """Return what a plan says of the stack that a row owns, as an option of it."""
    if row.foreseen is None or row.foreseen.inside is None:
        return {}
    return {"foreseen": {name: each.to_json() for name, each in row.foreseen.inside.items()}}


@contextmanager
def _held() -> Iterator[None]:
    """Tell a claim that is broken from what a user did wrong."""
    try:
        yield
    except errors.ResourceLocked as error:
        raise errors.StaleWrite(entity="the owner of a nested stack") from error
