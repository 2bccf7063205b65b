# SPDX-License-Identifier: Apache-2.0
"""The resources of a plan as a tree by nested stack, in which what is alike is one entry.

Resources are given one after another, and of each no more is kept than its place and two numbers:
which *shape* it has (what is done to it, and to which of its properties) and which *detail* (all that
is said of it, shared by those of which the same is said).  So a plan for a hundred thousand members
is no burden, and what is printed of it is as long as what there is to say.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import takewhile
from typing import Generic, TypeVar

from heatconv.cli.plan_facts import Fact, Kind, facts, property_names
from heatconv.client.http import Json

#: From what cannot be taken back to what does nothing: entries come in this order.
BY_DANGER = ("replace", "delete", "retain", "heal", "update", "adopt", "create", "check")

_ALIKE = 4  #: so many are one entry
_NAMED = 3  #: so many of them are named
_ORIGINS = 20  #: so many are kept of a resource
_DETAILS_OF_A_SHAPE, _DETAILS = 200, 5000  #: so many are kept

Path = Sequence[str]
T = TypeVar("T", bound=Hashable)


@dataclass(frozen=True)
class Shape:
    """What is done to a resource, without the values."""

    action: str
    certain: bool
    type: str
    properties: tuple[str, ...]


@dataclass(frozen=True)
class Origin:
    """Another resource, from which a change comes to one without more ado."""

    shared: int  #: with so many names its path begins as that of the resource that it reaches
    rest: tuple[str, ...]

    def seen_from(self, path: Path) -> Path:
        """Return its path, given that of the resource that it reaches."""
        return (*path[: self.shared], *self.rest)


@dataclass(frozen=True)
class Detail:
    """All that is said of a resource, and from which others a change reaches it."""

    facts: tuple[Fact, ...]
    origins: tuple[Origin, ...]


@dataclass
class Entry:
    """A resource, or several that are alike, with what is inside."""

    key: int  #: the same for all that are alike
    names: list[str]  #: the first of them
    shape: Shape | None  #: None: nothing is done to it, but inside
    detail: Detail | None  #: that of the first; None: it was not kept
    physical_id: str | None  #: of a single one
    below: list[Entry]
    rank: int  #: how harmless it is, with what is inside
    order: int  #: when it is taken up, or the first of those inside
    count: int = 1
    same: bool = True  #: whether the detail is that of all of them


@dataclass(slots=True)
class _Node:
    """A resource as it is kept."""

    shape: int | None = None
    detail: int | None = None
    physical_id: str | None = None
    order: int = sys.maxsize
    key: int | None = None  #: of its entry, once there is one
    below: dict[str, _Node] = field(default_factory=dict)


class _Numbers(Generic[T]):
    """Things that are equal, kept once, by number."""

    def __init__(self) -> None:
        self._numbers: dict[T, int] = {}
        self._things: list[T] = []

    def __len__(self) -> int:
        return len(self._things)

    def __contains__(self, thing: T) -> bool:
        return thing in self._numbers

    def number(self, thing: T) -> int:
        """Return the number of a thing, which it keeps."""
        if thing not in self._numbers:
            self._numbers[thing] = len(self._things)
            self._things.append(thing)
        return self._numbers[thing]

    def thing(self, number: int | None) -> T | None:
        """Return the thing that has a number."""
        return None if number is None else self._things[number]


class Outline:
    """What is done to the resources of a plan."""

    def __init__(self, now: datetime, *, only_changes: bool = False) -> None:
        """Take the time as of which things have their age.

        ``only_changes`` leaves out what changes nothing, and every reason.
        """
        self._now = now
        self._only_changes = only_changes
        self._root = _Node()
        self._shapes: _Numbers[Shape] = _Numbers()
        self._details: _Numbers[tuple[int, Detail]] = _Numbers()
        self._details_of: Counter[int] = Counter()
        self._keys: _Numbers[Hashable] = _Numbers()

    def add(self, resource: Json) -> None:
        """Put a resource in its place."""
        if self._only_changes and resource["action"] == "check":
            return
        node = self._place(resource)
        certain = resource["certainty"] == "certain"
        shape = Shape(resource["action"], certain, resource["type"], property_names(resource))
        node.shape = self._shapes.number(shape)
        node.detail = self._number(node.shape, self._detail(resource))
        node.physical_id = resource["physical_resource_id"]
        node.order = resource["order"]

    def _place(self, resource: Json) -> _Node:
        """Return where to keep a resource; of two in one place one is a thing that is cleared away."""
        *above, name = resource["path"]
        node = self._root
        for each in above:
            node = node.below.setdefault(sys.intern(each), _Node())
        while name in node.below and node.below[name].shape is not None:
            name = f"{name} ({resource['physical_resource_id']})"
        return node.below.setdefault(sys.intern(name), _Node())

    def entries(self) -> list[Entry]:
        """Return what there is: the most dangerous first, and then what is done first."""
        return _in_order(self._entries(self._root))

    def find(self, path: Path, entries: Sequence[Entry]) -> Entry | None:
        """Return in which of the entries a resource is, or inside of which; None, if it is in none."""
        node, found = self._root, None
        for name in path:
            if name not in node.below:
                return None
            node = node.below[name]
            alike = (each for each in entries if each.key == node.key)
            found = next(each for each in alike if each.count > 1 or name in each.names)
            entries = found.below
        return found

    def _detail(self, resource: Json) -> Detail:
        said = facts(resource, self._now)
        shown = (each for each in said if each.kind is not Kind.REASON or not self._only_changes)
        paths = [reason["via"][0] for reason in resource["because"] if reason["via"]]
        paths += [each["path"] for each in resource["hangs_on"]]
        own = resource["path"]
        origins = (_origin(path, own) for path in paths[:_ORIGINS] if path != own)
        return Detail(facts=tuple(shown), origins=tuple(dict.fromkeys(origins)))

    def _number(self, shape: int, detail: Detail) -> int | None:
        """Return the number of a detail; None, if too many others are kept."""
        if (shape, detail) not in self._details:
            if self._details_of[shape] >= _DETAILS_OF_A_SHAPE or len(self._details) >= _DETAILS:
                return None
            self._details_of[shape] += 1
        return self._details.number((shape, detail))

    def _entries(self, node: _Node) -> list[Entry]:
        """Return what is inside a resource: those that are alike as one, once they are enough."""
        groups: dict[int, list[Entry]] = {}
        for name in sorted(node.below, key=_as_counted):
            entry = self._entry(name, node.below[name])
            group = groups.setdefault(entry.key, [])
            if group and group[0].count > 1:
                _roll_up(group[0], entry)
                continue
            group.append(entry)
            if len(group) == _ALIKE:
                for other in group[1:]:
                    _roll_up(group[0], other)
                del group[1:]
        found = [entry for group in groups.values() for entry in group]
        # Not by what differs between two that are alike: what is inside of these is in the same order.
        return sorted(found, key=lambda entry: (entry.rank, entry.key, entry.names[0]))

    def _entry(self, name: str, node: _Node) -> Entry:
        below = self._entries(node)
        inside = tuple((each.key, each.count, each.count > 1 or each.names[0]) for each in below)
        shape, detail = self._shapes.thing(node.shape), self._details.thing(node.detail)
        own = BY_DANGER.index(shape.action) if shape else len(BY_DANGER)
        node.key = self._keys.number((node.shape, inside))
        return Entry(
            key=node.key,
            names=[name],
            shape=shape,
            detail=detail and detail[1],
            physical_id=node.physical_id,
            below=below,
            rank=min([own, *(each.rank for each in below)]),
            order=min([node.order, *(each.order for each in below)]),
        )


def _in_order(entries: list[Entry]) -> list[Entry]:
    """Return entries, and those inside, in the order that they are shown in."""
    for entry in entries:
        entry.below = _in_order(entry.below)
    return sorted(entries, key=lambda entry: (entry.rank, entry.order))


def _as_counted(name: str) -> tuple[str, int, str]:
    """Return what puts server_10 after server_9."""
    return name.rstrip("0123456789"), len(name), name


def _origin(path: Path, own: Path) -> Origin:
    alike = takewhile(lambda pair: pair[0] == pair[1], zip(path, own[:-1], strict=False))
    shared = sum(1 for _ in alike)
    return Origin(shared, tuple(path[shared:]))


def _roll_up(into: Entry, other: Entry) -> None:
    """Have an entry stand for another one that is alike, too."""
    into.count += 1
    if len(into.names) < _NAMED:
        into.names.append(other.names[0])
    _compare(into, other)


def _compare(into: Entry, other: Entry) -> None:
    """Note what of two entries that are alike is not the same, here and inside."""
    into.physical_id = None
    into.same = (
        into.same
        and other.same
        and into.detail is other.detail
        and (into.shape is None or into.detail is not None)
    )
    for one, another in zip(into.below, other.below, strict=True):
        _compare(one, another)
