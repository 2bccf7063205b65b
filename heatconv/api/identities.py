# SPDX-License-Identifier: Apache-2.0
"""The proof that the name and the id in a URL denote the same stack.

A stack never changes its name, so an engine is asked once, and not at all for a stack that was
made here; that the stack is still there is found out by whatever is then asked about it.
"""

from __future__ import annotations

from heatconv import errors
from heatconv.api.call import Call, Stack
from heatconv.resources import stack_users

_KEPT = 10_000


class Identities:
    """The names of the stacks that were asked for lately, by project and id."""

    def __init__(self) -> None:
        self._names: dict[tuple[str, str], str] = {}

    def prove(self, call: Call, name: str, stack_id: str, resource: str | None = None) -> Stack:
        """Return the stack that has this name and this id.

        Args:
            call: the request.
            name: of the stack.
            stack_id: of the stack.
            resource: of that stack, which the request is about; a stack user knows of no other stack.

        Raises:
            NotFound: none has both.
        """
        key = (call.context.project_id, stack_id)
        if self._names.get(key) != name:
            asks_for = resource if stack_users.ROLE in call.context.roles else None
            identity = call.engine.identify_stack(call.context, stack_id, resource=asks_for)
            if identity != {"name": name, "id": stack_id}:
                raise errors.NotFound(entity="Stack", name=f"{name}/{stack_id}")
            self.note(call, Stack(name, stack_id))
        return Stack(name, stack_id)

    def note(self, call: Call, stack: Stack) -> None:
        """Remember a stack of the project that a request acts in."""
        if len(self._names) >= _KEPT:
            self._names.clear()
        self._names[call.context.project_id, stack.id] = stack.name
