# SPDX-License-Identifier: Apache-2.0
"""What nobody knows yet, as a value: it goes wherever a known one goes, and says what it hangs on.

A worker never meets one: what it acts on is there.  Who plans meets them: the id of what is yet to
be made, an attribute of what is yet to be changed.  Whatever is made of one is one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

Place = tuple[str, ...]  #: the names that lead from a stack to a resource in it, or in those nested in it


class Hang(NamedTuple):
    """What is to be known before something else is: a resource's reference id, or one of its attributes."""

    place: Place
    attribute: str | None = None


class Unknown:
    """A value that is not known yet; no two are equal, nor is one equal to anything that is known.

    ``never`` are texts that it will not turn out to be.
    """

    __slots__ = ("hangs_on", "never")

    def __init__(self, hangs_on: Iterable[Hang] = (), never: Iterable[str] = ()) -> None:
        self.hangs_on = frozenset(hangs_on)
        self.never = frozenset(never)

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON data."""
        hangs = [[list(hang.place), hang.attribute] for hang in sorted(self.hangs_on, key=str)]
        return {"on": hangs, "never": sorted(self.never)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Unknown:
        """Return the value that ``to_json`` made ``data`` of."""
        return cls([Hang(tuple(place), attribute) for place, attribute in data["on"]], data["never"])


def unknowns_in(value: Any) -> Iterator[Unknown]:
    """Yield each unknown value that a value is, or anywhere contains."""
    if isinstance(value, Unknown):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from unknowns_in(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from unknowns_in(item)


def contains_unknown(value: Any) -> bool:
    """Tell whether a value is, or anywhere contains, one that is not known yet."""
    return next(unknowns_in(value), None) is not None


def hangs_of(value: Any) -> frozenset[Hang]:
    """Return what a value hangs on: nothing, if all of it is known."""
    return frozenset[Hang]().union(*(each.hangs_on for each in unknowns_in(value)))


def unknown_like(value: Any) -> Unknown:
    """Return the unknown value that comes of one which contains some."""
    return Unknown(hangs_of(value))


def may_be(value: Any, known: Any) -> bool:
    """Tell whether a value that contains unknown ones may turn out to be one that is known."""
    if isinstance(value, Unknown):
        return not (isinstance(known, str) and known in value.never)
    if isinstance(value, dict):
        return (
            isinstance(known, dict)
            and value.keys() == known.keys()
            and all(may_be(item, known[key]) for key, item in value.items())
        )
    if isinstance(value, list | tuple):
        return isinstance(known, list | tuple) and len(value) == len(known) and all(map(may_be, value, known))
    return bool(value == known)
