# SPDX-License-Identifier: Apache-2.0
"""What is wrong with the values that the templates inside a template write out.

Such a mistake is told at once, rather than when the stack inside is made.  What
functions make, what a condition may leave out and what only a service can judge
waits for that.  The paths are Heat's: clients look for them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from heatconv import errors
from heatconv.engine.nesting import MEMBER_ONLY, Inheritance, Known, loaded
from heatconv.model.definition import Definition, is_template
from heatconv.resources.resource import Resource
from heatconv.resources.schema import Problem, Schema
from heatconv.resources.stack_resource import StackResource

_DEEP = 20  # levels that are looked into, more than there can be

#: What no translation makes of anything else.
_LITERAL = (Schema.BOOLEAN, Schema.INTEGER, Schema.NUMBER)

Json = Mapping[str, Any]


class Written:
    """Looks for one stack; each template inside it is looked into until nothing is wrong with it once."""

    def __init__(self, known: Known) -> None:
        self._known = known
        self._inheritance = Inheritance()
        self._sound: set[tuple[str, str]] = set()

    def problems(self, definition: Definition, environment: Json) -> Iterator[Problem]:
        """Yield the mistakes in the stack that a resource would own; none if it owns none."""
        place = f"resources.{definition.name}"
        type_ = definition.implemented_by
        yield from self._inside(place, definition.name, type_, definition.properties, environment, 0)

    def _inside(
        self, place: str, name: str, type_: str, properties: Json, environment: Json, depth: int
    ) -> Iterator[Problem]:
        if depth > _DEEP:
            return
        below, registry = self._inheritance.below(environment, name, type_)
        if is_template(type_):
            if (type_, registry) not in self._sound:
                self._sound.add((type_, registry))  # also while it is looked into: it may have itself inside
                found = list(self._in_file(f"{place}<{type_}>", type_, below, depth))
                if found:
                    self._sound.discard((type_, registry))
                yield from found
            return
        class_ = self._class(type_)
        if class_ is None or not issubclass(class_, StackResource) or not class_.size_made(properties):
            return
        for member, its_type in class_.types_made(properties).values():
            document = {**MEMBER_ONLY, "resources": {member: {"type": its_type}}}
            for _name, found_type, _wrong in self._known.types_in(document, below):
                path = f"{place}<nested_stack>.resources.{member}"
                yield from self._inside(path, member, found_type, {}, below, depth + 1)

    def _in_file(self, place: str, file: str, environment: Json, depth: int) -> Iterator[Problem]:
        try:
            document = loaded(self._known.files[file])
            types = list(self._known.types_in(document, environment))
        except (errors.Invalid, KeyError):  # and is refused elsewhere
            return
        for name, type_, _wrong in types:
            snippet = (document.get("resources") or {}).get(name)
            if not isinstance(snippet, Mapping) or "condition" in snippet:
                continue
            written = snippet.get("properties")
            given: Json = written if isinstance(written, Mapping) else {}
            path = f"{place}.resources.{name}"
            class_ = None if is_template(type_) else self._class(type_)
            if class_ is not None:
                yield from _mistakes(class_, given, path)
            yield from self._inside(path, name, type_, given, environment, depth + 1)

    def _class(self, type_: str) -> type[Resource] | None:
        try:
            return self._known.registry.get(type_)
        except errors.NotFound:
            return None


def _mistakes(class_: type[Resource], given: Json, path: str) -> Iterator[Problem]:
    translates = class_.translation_rules is not Resource.translation_rules
    for name, value in given.items():
        schema = class_.properties_schema.get(name)
        if schema is None or schema.asks_others or not _is_written_out(value):
            continue
        if translates and schema.type not in _LITERAL:
            continue
        for where, sentence in schema.problems(value, name):
            yield f"{path}: ", f"{sentence} ({where})"


def _is_written_out(value: Any) -> bool:
    """Tell whether nothing inside can be a function: those are maps of one key."""
    if isinstance(value, Mapping):
        return len(value) != 1 and all(map(_is_written_out, value.values()))
    return not isinstance(value, list) or all(map(_is_written_out, value))
