# SPDX-License-Identifier: Apache-2.0
"""Templates as types: what they take and give, and what is wrong with them, before anything is made."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from heatconv import errors, template
from heatconv.engine.source import Source
from heatconv.model.definition import Definition, canonical, is_template
from heatconv.model.permission import check_types
from heatconv.resources.properties import Schema
from heatconv.resources.registry import Registry
from heatconv.resources.resource import Resource
from heatconv.resources.stack_resource import StackResource
from heatconv.resources.template_resource import TemplateResource

#: How a property is declared that becomes a parameter of a type; the nested stack converts it.
_TYPES = {
    "string": Schema.STRING,
    "number": Schema.NUMBER,
    "boolean": Schema.BOOLEAN,
    "comma_delimited_list": Schema.LIST,
    "json": Schema.ANY,
}
#: How a property of a type is declared that a template takes as a parameter.
_DECLARED = {Schema.INTEGER: Schema.NUMBER, Schema.MAP: Schema.ANY}
MEMBER_ONLY = {"heat_template_version": "2015-04-30"}  #: the frame of a template, to look a type up in
_TEXTS = "comma_delimited_list"
_ALLOWS_TEXT = (_TEXTS,)


def class_of(type_: str, files: Mapping[str, str], defaults: Collection[str] = ()) -> type[TemplateResource]:
    """Return the class of a type that is a template among the files.

    ``defaults``: the parameters that environments have a default for; those need not be given.

    Raises:
        Invalid: it is not there, or is no template.
    """
    if type_ not in files:
        raise errors.Invalid(f"There is no file {type_} among the files that came with the template.")
    try:
        return _declared(files[type_], frozenset(defaults))
    except errors.Invalid as error:
        raise errors.Invalid(f"In {type_}: {error}") from None


@functools.lru_cache(maxsize=256)
def _declared(text: str, defaults: frozenset[str]) -> type[TemplateResource]:
    interface = template.interface(loaded(text))
    properties = {
        name: Schema(
            _TYPES[schema.type],
            schema.description or None,
            default=schema.default,
            required=schema.default is None and name not in defaults,
            allow_conversion=schema.type in _ALLOWS_TEXT,
            update_allowed=True,
        )
        for name, schema in interface.parameters.items()
    }
    return TemplateResource.declared(properties, interface.outputs)


def as_texts(parameters: Mapping[str, Any], document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of a nested stack, with texts for the maps in lists that have to be of texts.

    The texts are Heat's: a property of the type that a template stands in for may be a list of maps.
    """
    found = {name: value for name, value in parameters.items() if _is_of_maps(value)}
    if not found:
        return dict(parameters)
    taken = template.interface(document).parameters
    lists = {name: value for name, value in found.items() if name in taken and taken[name].type == _TEXTS}
    texts = {
        name: [
            f".member.{index}.{key}={each}" for index, item in enumerate(value) for key, each in item.items()
        ]
        for name, value in lists.items()
    }
    return {**parameters, **texts}


def _is_of_maps(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, dict) for item in value)


@dataclass(frozen=True, kw_only=True)
class Known:
    """What a type can be: one that is registered, or a file; and what an operator makes of its name."""

    registry: Registry
    files: Mapping[str, str]
    operator: Mapping[str, Any]
    refused_types: Collection[str] = ()

    def defaults(self, environment: Mapping[str, Any]) -> list[str]:
        """Return the parameters that an environment, or the operator's, has a default for."""
        layers = (environment.get("parameter_defaults"), self.operator.get("parameter_defaults"))
        return [name for layer in layers for name, value in (layer or {}).items() if value is not None]

    def facade(self, definition: Definition, environment: Mapping[str, Any]) -> type[Resource] | None:
        """Return the class of the type that the template behind a resource stands in for, if there is one.

        What itself only stands for another type is no such type: users know it as little as its properties.
        """
        if definition.type in self.registry.stand_for:
            return None
        facade = template.facade_of(environment, self.operator, definition.name, definition.type)
        if is_template(facade):
            return class_of(facade, self.files) if facade in self.files else None
        return self.registry.get(facade) if facade in self.registry.names() else None

    def types_in(
        self, document: Mapping[str, Any], environment: Mapping[str, Any]
    ) -> Iterator[tuple[str, str, str | None]]:
        """Yield each resource of a template by name, what implements its type, and what is wrong with it.

        Raises:
            Forbidden: one is of a type that must not be used.
        """
        for name, type_ in template.types_in(document, environment, self.operator):
            check_types({type_}, self.refused_types)
            wrong = None
            if is_template(type_):
                wrong = None if type_ in self.files else f"There is no file {type_}."
            elif type_ not in self.registry.names():
                wrong = f"There is no resource type {type_}."
            yield name, type_, wrong


class Inheritance:
    """The environments of the stacks inside a stack, each worked out once."""

    def __init__(self) -> None:
        self._below: dict[tuple[int, str, str], tuple[Mapping[str, Any], Mapping[str, Any], str]] = {}

    def below(self, environment: Mapping[str, Any], name: str, type_: str) -> tuple[Mapping[str, Any], str]:
        """Return the environment below a resource, and the text of its registry."""
        by_name = "resources" in (environment.get("resource_registry") or {})
        key = (id(environment), type_, name if by_name else "")
        if key not in self._below:
            below: Mapping[str, Any] = template.inherited(environment, name, type_)
            # Kept with the environment itself, so that no other one gets its id.
            self._below[key] = (environment, below, canonical(below["resource_registry"]))
        return self._below[key][1:]


def facade_problem(provider: type[Resource], facade: type[Resource], type_: str) -> str | None:
    """Return what keeps a template from standing in for a type; None if it can.

    It has to take each property that the type requires, as the same kind of value, to require
    no other, and to have each attribute.  Heat's clients look for these sentences.
    """
    taken, wanted = provider.properties_schema, facade.properties_schema
    for name, schema in wanted.items():
        if schema.required and name not in taken:
            return f"Required property {name} for facade {type_} missing in provider"
        declared = _DECLARED.get(schema.type, schema.type)
        if name in taken and taken[name].type != declared:
            return (
                f"Property {name} type mismatch between facade {type_} ({declared})"
                f" and provider ({taken[name].type})"
            )
    for name, schema in taken.items():
        if schema.required and name not in wanted:
            return f"Provider requires property {name} unknown in facade {type_}"
    for name in facade.attributes_schema:
        if name not in provider.attributes_schema:
            return f"Attribute {name} for facade {type_} missing in provider"
    return None


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
        document = {**MEMBER_ONLY, "resources": {member: {"type": type_}}}
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
        types = list(known.types_in(loaded(known.files[file]), environment))
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
def loaded(text: str) -> Mapping[str, Any]:
    """Return the template that a file is.

    Raises:
        Invalid: it is none.
    """
    return template.load_template(text, limit=len(text.encode()))


def digest(source: Source) -> str:
    """Return the digest of all that nested stacks inherit: if it differs, they may."""
    inherited = {
        key: source.environment.get(key) or {}
        for key in ("parameter_defaults", "resource_registry", "event_sinks")
    }
    if hidden := source.environment.get("encrypted_param_names"):
        inherited["encrypted_param_names"] = sorted(hidden)
    text = canonical([inherited, dict(source.files)])
    # Not for security: it tells what is unchanged from what is not.
    return hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()
