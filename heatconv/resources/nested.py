# SPDX-License-Identifier: Apache-2.0
"""How a plugin gets at the stack that its resource owns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from heatconv.model.records import Child, Member


@dataclass(frozen=True, kw_only=True)
class Inherited:
    """What a nested stack is given by the stack around it, parsed."""

    environment: Mapping[str, Any] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)


class NestedStacks(Protocol):
    """The stacks that the resources of one stack own, each named by its owner's ``uuid``.

    An engine carries out what changes one: it is accepted at once, whatever the
    stack is doing, and its end wakes the owner.  Each call may be repeated.
    """

    def inherited(self, name: str, type_: str) -> Inherited:
        """Return what the stack gives to the one of a resource, by its name and what implements its type."""

    def find(self, owner: str) -> Child | None:
        """Return the stack of an owner as it is now, the last one if it is deleted."""

    def members(self, stack_id: str) -> Sequence[Member]:
        """Return the resources that a stack wants by now, those made first at the start."""

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

    def check_room(self, stack_id: str, size: int) -> None:
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

    def outputs(self, stack_id: str) -> Mapping[str, Any]:
        """Return the values of a stack's outputs by name; None is one that is not known."""

    def member(self, stack_id: str, name: str, attribute: str | None) -> Any:
        """Return an attribute of a stack's resource, or its physical id.

        Raises:
            NotFound: there is no such resource.
        """
