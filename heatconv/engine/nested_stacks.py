# SPDX-License-Identifier: Apache-2.0
"""The nested stacks of a stack, for plugins in an engine: of those who are signalled or looked at."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Never

from heatconv import errors, template
from heatconv.db.convergence import nested, stacks
from heatconv.db.plumbing.session import Database
from heatconv.engine.reads import Reads
from heatconv.engine.requests import Requests
from heatconv.engine.source import Source
from heatconv.model.records import Child, Member, Stack
from heatconv.model.secrets import masked
from heatconv.resources.nested import Inherited, Outputs
from heatconv.rpc.context import RequestContext


class ReadStacks:
    """Implements ``heatconv.resources.nested.NestedStacks`` as far as that is reading what is there."""

    secrets: frozenset[str] = frozenset()  # what they tell here is shown: it has none

    def __init__(self, database: Database, stack: Stack) -> None:
        self._database = database
        self._stack = stack
        self._context = RequestContext(
            project_id=stack.project_id, user_id=stack.user_id, user_name=stack.user_name
        )

    def inherited(self, name: str, type_: str) -> Inherited:
        """Return what the stack gives to what is nested in it below a resource."""
        environment, files = stacks.get_environment(self._database, self._stack.raw_template_id)
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
        """Refuse."""
        _refuse()

    def update(self, stack_id: str, source: Mapping[str, Any], timeout_mins: int | None) -> None:
        """Refuse."""
        _refuse()

    def delete(self, stack_id: str, *, abandon: bool = False) -> None:
        """Refuse."""
        _refuse()

    def give_up_deletion(self, stack_id: str) -> None:
        """Refuse."""
        _refuse()

    def check_tree_quota(self, stack_id: str, size: int) -> None:
        """Refuse."""
        _refuse()

    def visit(self, stack_id: str, action: str) -> None:
        """Refuse."""
        _refuse()

    def outputs(self, stack_id: str) -> Outputs:
        """Refuse."""
        _refuse()

    def member(self, stack_id: str, name: str, attribute: str | None) -> Any:
        """Refuse."""
        _refuse()


class PlannedStacks(ReadStacks):
    """Those of a stack as it would be: it gives them what is not stored."""

    def __init__(self, database: Database, stack: Stack, source: Source) -> None:
        super().__init__(database, stack)
        self._source = source

    def inherited(self, name: str, type_: str) -> Inherited:
        """Return what the stack would give to what is nested in it below a resource."""
        environment = template.inherited(self._source.environment, name, type_)
        return Inherited(environment=environment, files=self._source.files)


class SignalledStacks(ReadStacks):
    """Those of a stack whose resources take signals: these may change what is wanted."""

    def __init__(self, database: Database, requests: Requests, stack: Stack) -> None:
        super().__init__(database, stack)
        self._requests = requests

    def update(self, stack_id: str, source: Mapping[str, Any], timeout_mins: int | None) -> None:
        """Start to make a stack match another source."""
        options = {"timeout_mins": timeout_mins}
        self._requests.update_stack(self._context, stack_id, source, options, existing=False)

    def check_tree_quota(self, stack_id: str, size: int) -> None:
        """Refuse so many resources in a stack if that is too many for the tree it is in."""
        self._requests.check_tree_quota(self._context, stack_id, size)


class ShownStacks(ReadStacks):
    """Those of a stack whose resources are shown."""

    def __init__(self, database: Database, stack: Stack, get_attribute: Callable[..., Any]) -> None:
        """Keep what is handed in; ``get_attribute`` is that of ``ResourceReads``."""
        super().__init__(database, stack)
        self._reads = Reads(database, dead_after=0)
        self._get_attribute = get_attribute

    def outputs(self, stack_id: str) -> Outputs:
        """Return what a stack's outputs come to."""
        shown = self._reads.show_stack(self._context, stack_id, resolve_outputs=True)
        return Outputs.of(shown["outputs"])

    def member(self, stack_id: str, name: str, attribute: str | None) -> Any:
        """Return an attribute of a stack's resource, or its physical id, without secrets."""
        answer = self._get_attribute(self._context, stack_id, name, attribute)
        return masked(answer["value"], answer["secrets"])


def _refuse() -> Never:
    raise errors.NotSupported(feature="Doing this to a nested stack here")
