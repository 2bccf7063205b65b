# SPDX-License-Identifier: Apache-2.0
"""How a plugin gets at the stack that its resource owns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, Self

from heatconv.model.records import Child, Member


@dataclass(frozen=True, kw_only=True)
class Inherited:
    """What a nested stack is given by the stack around it, parsed."""

    environment: Mapping[str, Any] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Outputs:
    """What the outputs of a stack come to, by name; an output that has no value has an error, or neither."""

    values: Mapping[str, Any] = field(default_factory=dict)
    errors: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, shown: Sequence[Mapping[str, Any]]) -> Self:
        """Take the outputs of a stack as an engine shows them."""
        failed = {each["output_key"]: each["output_error"] for each in shown if "output_error" in each}
        values = {each["output_key"]: each["output_value"] for each in shown}
        return cls({key: value for key, value in values.items() if key not in failed}, failed)


class NestedStacks(Protocol):
    """The stacks that the resources of one stack own, each named by its owner's ``uuid``.

    An engine carries out what changes one: it is accepted at once, whatever the
    stack is doing, and its end wakes the owner.  Each call may be repeated.
    """

    @property
    def secrets(self) -> frozenset[str]:
        """The texts in what they have told so far that must not be shown."""

    def inherited(self, name: str, type_: str) -> Inherited:
        """Return what the stack gives to the one of a resource, by its name and what implements its type."""

    def find(self, owner: str) -> Child | None:
        """Return the stack of an owner as it is now, the last one if it is deleted."""

    def members(self, stack_id: str) -> Sequence[Member]:
        """Return the resources that a stack wants by now, those made first at the start."""

    def files(self, stack_id: str) -> Mapping[str, str]:
        """Return the files that a stack has by now, by name; none if there is no such stack."""

    def create(
        self,
        name: str,
        source: Mapping[str, Any],
        timeout_mins: int | None,
        adopt: Mapping[str, Any] | None = None,
    ) -> str:
        """Start to create the stack of the resource that is held, unless it is there already; return its id.

        ``source``: ``template``, ``parameters``, ``environment``, ``files``.
        ``adopt``: what a stack that was abandoned has left, to be taken over.

        Raises:
            Invalid: the template cannot be.
        """

    def update(self, stack_id: str, source: Mapping[str, Any], timeout_mins: int | None) -> None:
        """Start to make a stack match another source, whatever it is doing.

        Raises:
            Invalid: the template cannot be.
            NotFound: there is no such stack.
        """

    def delete(self, stack_id: str, *, abandon: bool = False) -> None:
        """Start to delete a stack, whatever it is doing, unless it is gone already.

        ``abandon``: but nothing that it stands for.
        """

    def give_up_deletion(self, stack_id: str) -> None:
        """Let a stack's deletion under way go no further, if there is one: what is left of it is left."""

    def check_tree_quota(self, stack_id: str, size: int) -> None:
        """Refuse so many resources in a stack if that is too many for the tree it is in; only an engine can.

        Raises:
            NotFound: there is no such stack.
            RequestLimitExceeded: it is too many.
        """

    def visit(self, stack_id: str, action: str) -> None:
        """Start to suspend, resume or check every resource of a stack.

        Raises:
            ActionInProgress: something else is under way.
            NotFound: there is no such stack.
        """

    def outputs(self, stack_id: str) -> Outputs:
        """Return what a stack's outputs come to."""

    def member(self, stack_id: str, name: str, attribute: str | None) -> Any:
        """Return an attribute of a stack's resource, or its physical id.

        Raises:
            NotFound: there is no such resource.
        """
