# SPDX-License-Identifier: Apache-2.0
"""A stack that two users have a half of each: neither's refers to the other's."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from heatconv.testing.templates import Attribute, Template, Thing, When
from heatconv.testing.trees import Group, Nested


def both(hers: Template, his: Template) -> Template:
    return Template(**hers, **his).given({**hers.parameters, **his.parameters})


def apart(template: Template, prefix: str, *, back: bool = False) -> Template:
    """Let all names begin with a prefix, those of files too; with ``back``, let them do without it."""

    def named(name: str) -> str:
        return name.removeprefix(prefix) if back else f"{prefix}{name}"

    def used(value: Any) -> Any:
        words = ("resource",) if isinstance(value, Attribute) else ("name", "parameter")
        of = {word: named(getattr(value, word)) for word in words if hasattr(value, word)}
        return replace(value, **of) if of else value

    def moved(entry: Any) -> Any:
        match entry:
            case When():
                return When(named(entry.parameter), moved(entry.entry))
            case Group():
                return replace(entry, member=moved(entry.member))
            case Thing():
                uses = tuple(map(named, entry.uses))
                return replace(entry, value=used(entry.value), flavor=used(entry.flavor), uses=uses)
            case Nested():
                return replace(entry, value=used(entry.value), file=named(entry.file))
            case _:
                return entry

    entries = {named(name): moved(entry) for name, entry in template.items()}
    return Template(**entries).given({named(name): each for name, each in template.parameters.items()})


def let_go(template: Template) -> Template:
    """Let nothing stay when it is not wanted any more, here or inside."""

    def gone(entry: Any) -> Any:
        match entry:
            case When():
                return replace(entry, entry=gone(entry.entry))
            case Group():
                return replace(entry, member=gone(entry.member))
            case Nested():
                return replace(entry, template=let_go(entry.template), policy=None)
            case _:
                return replace(entry, policy=None)

    return template.but(**{name: gone(entry) for name, entry in template.items()})
