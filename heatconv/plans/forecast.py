# SPDX-License-Identifier: Apache-2.0
"""What a plan says of one resource."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from heatconv.model.foreseen import ANY_NAME, Deed, Foreseen
from heatconv.model.unknown import Hang, Place

DEEP = 10  #: levels of nested stacks for which something is allowed that was not foreseen
REQUIRED = 50  #: names of what a resource depends on that are shown


class Act(StrEnum):
    """What is done to a resource by the action that a plan is of."""

    CREATE = "create"
    ADOPT = "adopt"
    UPDATE = "update"
    HEAL = "heal"  #: an update that puts right what has drifted, and nothing else
    REPLACE = "replace"
    DELETE = "delete"
    RETAIN = "retain"  #: the stack lets go of it, and what it stands for stays
    CHECK = "check"
    NOTHING = "nothing"


@dataclass(frozen=True, kw_only=True)
class Change:
    """A part of a resource that is not what it was; values are as users may see them."""

    path: str
    desired: Any = None  #: what was wanted of it before
    made: Any = None  #: what it was made of
    after: Any = None
    unknown: bool = False
    hidden: bool = False
    sha1: str | None = None  #: a digest of what it is to be, where that is hidden
    equal: bool | None = False  #: None: that is not known yet
    replaces: bool = False
    observed: Any = None  #: as it was when it was last looked at
    observed_at: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return it in the words of the published schema."""
        before = {"desired": self.desired, "made": self.made}
        seen = {"observed": self.observed, "observed_at": self.observed_at}
        return {
            "path": self.path,
            "before": before | seen,
            "after": self.after,
            "unknown": self.unknown,
            "hidden": self.hidden,
            "equal": self.equal,
            "replaces": self.replaces,
        }


@dataclass(frozen=True)
class Reason:
    """Why a resource is touched: the way from what changes first to it, if that is another."""

    sentence: str
    via: tuple[Place, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return it in the words of the published schema."""
        return {"sentence": self.sentence, "via": [list(place) for place in self.via]}


@dataclass(kw_only=True)
class Forecast:
    """What will become of a resource; ``certain``, or possibly, which then hangs on something."""

    place: Place
    type: str
    stack_id: str | None
    row_id: str | None = None  #: None: there is no row of it yet
    physical_id: str | None = None
    tags: frozenset[str] = frozenset()  #: of the stacks that it is in
    holds_data: bool = False  #: what is there of it has data that are gone when it is
    act: Act = Act.NOTHING
    certain: bool = True
    may: frozenset[Deed] = frozenset()  #: what a worker may do
    opaque: bool = False  #: it owns a stack that could not be looked into
    hangs_on: frozenset[Hang] = frozenset()
    changes: list[Change] = field(default_factory=list)
    because: list[Reason] = field(default_factory=list)
    replaced_because: tuple[str, ...] = ()
    left_behind: str | None = None
    problem: str | None = None  #: why what is to be done will fail
    order: int = 0
    after: frozenset[Place] = frozenset()  #: what has to be done before
    requires: Sequence[str] = ()  #: names of what it depends on in its stack, be that touched or not
    seconds: float | None = None
    history: int = 0

    def leave_open(self, why: str) -> None:
        """Say that anything may be done to it, and in the stack that it owns."""
        self.act, self.certain = Act.UPDATE, False
        self.may, self.opaque = frozenset(Deed), True
        self.because = [Reason(why)]
        self.hangs_on |= {Hang(self.place)}

    def weigh(self, inside: Sequence[Forecast]) -> None:
        """Say of an owner that is updated no more than what that does inside, and to what it is made of."""
        touched = [each for each in inside if each.act is not Act.NOTHING]
        own = [change for change in self.changes if change.equal is False]
        if not touched and not self.changes:
            self.act = Act.NOTHING
        elif not own and not any(each.certain for each in touched):
            self.certain = False
            self.hangs_on = frozenset[Hang]().union(*(each.hangs_on for each in touched))

    def to_json(self) -> dict[str, Any]:
        """Return it in the words of the published schema."""
        return {
            "path": list(self.place),
            "name": self.place[-1],
            "type": self.type,
            "stack_id": self.stack_id,
            "physical_resource_id": self.physical_id,
            "action": self.act,
            "certainty": "certain" if self.certain else "possible",
            "hangs_on": [_hang(hang) for hang in sorted(self.hangs_on, key=str)],
            "changes": [change.to_json() for change in self.changes],
            "because": [reason.to_json() for reason in self.because],
            "replaced_because": list(self.replaced_because),
            "left_behind": self.left_behind,
            "problem": self.problem,
            "order": self.order,
            "requires": list(self.requires[:REQUIRED]),
            "seconds": self.seconds,
            "history": self.history,
        }


def _hang(hang: Hang) -> dict[str, Any]:
    what = "reference id" if hang.attribute is None else hang.attribute
    sentence = f"the {what} of {'/'.join(hang.place)}, known after that is made or changed"
    return {"path": list(hang.place), "attribute": hang.attribute, "sentence": sentence}


def foreseen(
    forecasts: Iterable[Forecast], made_up: Collection[Place], allowed: frozenset[Deed]
) -> dict[str, Foreseen]:
    """Return what workers may do, by the name of each resource of a stack and of those nested in it.

    ``made_up`` are the places whose last name is one that nobody knows before; ``allowed`` is what
    may be done to any resource that is reached, foreseen or not.
    """
    root: dict[str, _Level] = {}
    for each in forecasts:
        level, inside = None, root
        for depth, name in enumerate(each.place, 1):
            known_as = ANY_NAME if each.place[:depth] in made_up else name
            level = inside.setdefault(known_as, _Level())
            inside = level.inside
        if level is not None:
            level.may |= each.may
            level.opaque = level.opaque or each.opaque
    return _built(root, allowed)


@dataclass
class _Level:
    may: frozenset[Deed] = frozenset()
    inside: dict[str, _Level] = field(default_factory=dict)
    opaque: bool = False


def _built(levels: Mapping[str, _Level], allowed: frozenset[Deed], depth: int = 0) -> dict[str, Foreseen]:
    found = {
        name: Foreseen(
            level.may | allowed, None if level.opaque else _built(level.inside, allowed, depth + 1)
        )
        for name, level in levels.items()
    }
    if allowed and depth < DEEP:
        found.setdefault(ANY_NAME, Foreseen(allowed, _built({}, allowed, depth + 1)))
    return found
