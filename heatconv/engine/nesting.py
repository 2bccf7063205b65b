# SPDX-License-Identifier: Apache-2.0
"""Templates as types: what they take and give, and what is wrong with them, before anything is made."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from heatconv import errors, template
from heatconv.model.definition import Definition, canonical, is_template
from heatconv.resources.properties import Schema
from heatconv.resources.registry import Registry
from heatconv.resources.stack_resource import StackResource
from heatconv.resources.template_resource import TemplateResource

if TYPE_CHECKING:
    from heatconv.engine.freezing import Source

#: How a property is declared that becomes a parameter of a type; the nested stack converts it.
_TYPES = {
    "string": Schema.STRING,
    "number": Schema.NUMBER,
    "boolean": Schema.BOOLEAN,
    "comma_delimited_list": Schema.LIST,
    "json": Schema.ANY,
}
_MEMBER_ONLY = {"heat_template_version": "2015-04-30"}  #: the frame of a template, to look a type up in
_ALLOWS_TEXT = ("comma_delimited_list",)

MAX_DESCRIBED = 1000  #: nested templates in one answer


def class_of(type_: str, files: Mapping[str, str]) -> type[TemplateResource]:
    """Return the class of a type that is a template among the files.

    Raises:
        Invalid: it is not there, or is no template.
    """
    if type_ not in files:
        raise errors.Invalid(f"There is no file {type_} among the files that came with the template.")
    try:
        return _declared(files[type_])
    except errors.Invalid as error:
        raise errors.Invalid(f"In {type_}: {error}") from None


@functools.lru_cache(maxsize=256)
def _declared(text: str) -> type[TemplateResource]:
    interface = template.interface(_loaded(text))
    properties = {
        name: Schema(
            _TYPES[schema.type],
            schema.description or None,
            default=schema.default,
            required=schema.default is None,
            allow_conversion=schema.type in _ALLOWS_TEXT,
            update_allowed=True,
        )
        for name, schema in interface.parameters.items()
    }
    return TemplateResource.declared(properties, interface.outputs)


@dataclass(frozen=True, kw_only=True)
class Known:
    """What a type can be: one that is registered, or a file; and what an operator makes of its name."""

    registry: Registry
    files: Mapping[str, str]
    operator: Mapping[str, Any]

    def types_in(
        self, document: Mapping[str, Any], environment: Mapping[str, Any]
    ) -> Iterator[tuple[str, str, str | None]]:
        """Yield each resource of a template by name, what implements its type, and what is wrong with it."""
        for name, type_ in template.types_in(document, environment, self.operator):
            wrong = None
            if is_template(type_):
                wrong = None if type_ in self.files else f"There is no file {type_}."
            elif type_ not in self.registry.names():
                wrong = f"There is no resource type {type_}."
            yield name, type_, wrong


def problems(type_: str, name: str, environment: Mapping[str, Any], known: Known) -> Iterator[str]:
    """Yield what is wrong with the types inside a template that is the type of a resource.

    Each file is looked into once: how deep they include each other is limited
    where they are made.
    """
    yield from _inside(type_, template.inherited(environment, name, type_), known, {type_})


def problems_of_members(
    class_: type[StackResource], definition: Definition, environment: Mapping[str, Any], known: Known
) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with the types that a resource makes in its nested stack, each with its path."""
    inherited = template.inherited(environment, definition.name, definition.implemented_by)
    for path, (member, type_) in class_.types_made(definition.properties).items():
        document = {**_MEMBER_ONLY, "resources": {member: {"type": type_}}}
        place = f"resources.{definition.name}.properties.{path}"
        for _name, found, wrong in known.types_in(document, inherited):
            if wrong is not None:
                yield place, wrong
            elif is_template(found):
                below = template.inherited(inherited, member, found)
                for each in _inside(found, below, known, {found}):
                    yield place, each


def _inside(file: str, environment: Mapping[str, Any], known: Known, seen: set[str]) -> Iterator[str]:
    try:
        types = list(known.types_in(_loaded(known.files[file]), environment))
    except errors.Invalid as error:
        yield f"In {file}: {error}"
        return
    for name, type_, wrong in types:
        if wrong is not None:
            yield f"In {file}: resources.{name}.type: {wrong}"
        elif is_template(type_) and type_ not in seen:
            seen.add(type_)
            yield from _inside(type_, template.inherited(environment, name, type_), known, seen)


@functools.lru_cache(maxsize=256)
def _loaded(text: str) -> Mapping[str, Any]:
    return template.load_template(text, limit=len(text.encode()))


def parameters(source: Source, operator: Mapping[str, Any], room: int = MAX_DESCRIBED) -> dict[str, Any]:
    """Return what the templates inside a source take, by resource, as /validate tells it.

    Raises:
        Invalid: one of them is no template.
        RequestLimitExceeded: there are more than ``room``.
    """
    described, _ = _parameters(source.template, source.environment, operator, source.files, (), room)
    return described


def _parameters(
    document: Mapping[str, Any],
    environment: Mapping[str, Any],
    operator: Mapping[str, Any],
    files: Mapping[str, str],
    around: tuple[str, ...],
    room: int,
) -> tuple[dict[str, Any], int]:
    """Return the descriptions, and how many more there may be; no file is looked for inside itself."""
    told: dict[str, Any] = {}
    for name, type_ in template.types_in(document, environment, operator):
        if not is_template(type_) or type_ not in files or type_ in around:
            continue
        if room == 0:
            raise errors.RequestLimitExceeded(f"There are more than {MAX_DESCRIBED} nested templates.")
        inner, inherited = _loaded(files[type_]), template.inherited(environment, name, type_)
        described = template.describe(inner, inherited | {"parameters": {}})
        del described["Environment"]
        below, room = _parameters(inner, inherited, operator, files, (*around, type_), room - 1)
        told[name] = {"Type": type_, **described} | ({"NestedParameters": below} if below else {})
    return told, room


def digest(source: Source) -> str:
    """Return the digest of all that nested stacks inherit: if it differs, they may."""
    inherited = {
        key: source.environment.get(key) or {}
        for key in ("parameter_defaults", "resource_registry", "event_sinks")
    }
    text = canonical([inherited, dict(source.files)])
    # Not for security: it tells what is unchanged from what is not.
    return hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()
