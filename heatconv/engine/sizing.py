# SPDX-License-Identifier: Apache-2.0
"""How many resources there will be in the stacks inside a stack, counted from what is written.

Nothing is evaluated and nothing built, so that it costs the same whatever the
numbers are.  What depends on a parameter, a condition or another resource does
not count: there will be as many at least.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heatconv import errors
from heatconv.engine.nesting import MEMBER_ONLY, Inheritance, Known, loaded
from heatconv.model.definition import is_template
from heatconv.resources.stack_resource import StackResource

_DEEP = 20  # levels that are looked into, more than there can be
_MOST = 1000  # templates that are looked into, each once for every registry that it has

Json = Mapping[str, Any]


class Sizes:
    """Counts for one stack; each template inside it is looked into once."""

    def __init__(self, known: Known) -> None:
        self._known = known
        self._files: dict[tuple[str, str], int] = {}
        self._inheritance = Inheritance()

    def inside(self, name: str, type_: str, properties: Json, environment: Json, depth: int = 0) -> int:
        """Return how many there will be in the stack of a resource; 0 if it owns none.

        ``type_`` is what implements its type, ``environment`` that of the stack that it is in.
        """
        if depth > _DEEP:
            return 0
        if is_template(type_):
            return self._in_file(name, type_, environment, depth)
        class_ = self._class(type_)
        size = 0 if class_ is None else class_.size_made(properties)
        if class_ is None or size == 0:
            return 0
        below, _registry = self._inheritance.below(environment, name, type_)
        given = class_.properties_made(properties)
        made = [
            sum(
                self.inside(member, found, given, below, depth + 1)
                for _name, found, _wrong in self._known.types_in(_only(member, its_type), below)
            )
            for member, its_type in class_.types_made(properties).values()
        ]
        # A type for each, or one for all.
        return size + (sum(made) if len(made) != 1 else size * made[0])

    def _class(self, type_: str) -> type[StackResource] | None:
        try:
            class_ = self._known.registry.get(type_)
        except errors.NotFound:
            return None
        return class_ if issubclass(class_, StackResource) else None

    def _in_file(self, name: str, file: str, environment: Json, depth: int) -> int:
        below, registry = self._inheritance.below(environment, name, file)
        if (file, registry) not in self._files:
            if len(self._files) >= _MOST:
                return 0
            self._files[file, registry] = 0  # of one that has itself inside
            self._files[file, registry] = self._count(file, below, depth)
        return self._files[file, registry]

    def _count(self, file: str, environment: Json, depth: int) -> int:
        try:
            document = loaded(self._known.files[file])
            types = list(self._known.types_in(document, environment))
        except (errors.Invalid, KeyError):  # and is refused elsewhere
            return 0
        snippets = document.get("resources") or document.get("Resources") or {}
        size = 0
        for name, type_, _wrong in types:
            snippet = snippets[name]
            if not snippet.keys() & {"condition", "Condition"}:
                written = snippet.get("properties") or snippet.get("Properties")
                given: Json = written if isinstance(written, dict) else {}
                size += 1 + self.inside(name, type_, given, environment, depth + 1)
        return size


def _only(member: str, type_: str) -> Json:
    return {**MEMBER_ONLY, "resources": {member: {"type": type_}}}
