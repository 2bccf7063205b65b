# SPDX-License-Identifier: Apache-2.0
"""Templates that take parameters, and what they come to with those that they are given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from heatconv.testing.templates import ON, Chosen, Entry, Param, Parameter, Template, Thing, When
from heatconv.testing.trees import Group, Nested


def as_given(template: Template) -> Template:
    """Return the template that somebody would have written who knew what it is given."""
    entries = {name: _entry(entry, template.parameters) for name, entry in template.items()}
    return Template(**{name: entry for name, entry in entries.items() if entry is not None})


def _entry(entry: Entry, given: Mapping[str, Parameter]) -> Entry | None:
    match entry:
        case When(parameter=name, entry=inner):
            return _entry(inner, given) if given[name].value == ON else None
        case Thing() | Nested():
            return replace(entry, **_taken(entry, given))
        case Group(member=member):
            return replace(entry, member=replace(member, **_taken(member, given)))
        case _:
            return entry


def _taken(entry: Thing | Nested, given: Mapping[str, Parameter]) -> dict[str, Any]:
    names = ["value", "flavor"] if isinstance(entry, Thing) else ["value"]
    return {name: _value(getattr(entry, name), given) for name in names}


def _value(value: Any, given: Mapping[str, Parameter]) -> Any:
    match value:
        case Param(name=name):
            return given[name].value
        case Chosen(parameter=name):
            return _value(value.when_on if given[name].value == ON else value.when_off, given)
        case _:
            return value
