# SPDX-License-Identifier: Apache-2.0
"""A plan that was carried out: what it said, what the cloud was asked, and what was there when."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from heatconv.testing.cloud import AuditEntry
from heatconv.testing.templates import SNAPSHOT, Template
from heatconv.testing.trees import Place, place_of

Json = dict[str, Any]


@dataclass(frozen=True)
class Asked:
    """What the cloud was asked at a place, and carried out."""

    place: Place  #: as the plan has it
    op: str  #: create, update, delete; or snapshot
    entry: AuditEntry


@dataclass(frozen=True, kw_only=True)
class Carried:
    """A plan that was carried out."""

    plan: Json
    before: Template
    after: Template
    was: Sequence[Json]  #: the objects before anything drifted
    there: Sequence[Json]  #: when the plan was made
    audit: Sequence[AuditEntry]  #: what the cloud was asked
    now: Sequence[Json]  #: the objects since then

    @cached_property
    def said(self) -> dict[Place, list[Json]]:
        """What the plan says, by place."""
        said: dict[Place, list[Json]] = {}
        for each in self.plan["resources"]:
            said.setdefault(tuple(each["path"]), []).append(each)
        return said

    @cached_property
    def gone(self) -> set[str]:
        """The ids of what vanished before the plan was made."""
        return {found["id"] for found in self.was} - {found["id"] for found in self.there}

    @cached_property
    def drifted(self) -> set[str]:
        """The ids of what was changed, broken or removed behind everybody's back."""
        return {found["id"] for found in self.was if found not in self.there}

    @cached_property
    def asked(self) -> list[Asked]:
        """What the cloud was asked, in that order."""
        names = MadeUpNames(self.said, self.was, self.audit)
        return [
            Asked(
                names.place(place_of(entry.owner)[1]),
                "snapshot" if entry.op == "create" and entry.kind == SNAPSHOT else entry.op,
                entry,
            )
            for entry in self.audit
        ]

    @cached_property
    def ops(self) -> dict[Place, Counter[str]]:
        """How many objects the cloud was asked what of, by place."""
        ops: dict[Place, Counter[str]] = {}
        for place, op, _ in {(each.place, each.op, each.entry.object_id) for each in self.asked}:
            ops.setdefault(place, Counter())[op] += 1
        return ops

    def of_kind(self, place: Place, *ops: str) -> list[AuditEntry]:
        """Return what the cloud was asked of some kinds at a place."""
        return [each.entry for each in self.asked if each.place == place and each.op in ops]

    @cached_property
    def left(self) -> set[str]:
        """The ids of what the plan said would stay though nothing wants it, and of the snapshots."""
        places = {
            place
            for place, statements in self.said.items()
            if any(each["certainty"] == "certain" and stays(each) for each in statements)
        }
        stay = {
            found["id"]
            for found in self.there
            if any(place_of(found["owner"])[1][: len(place)] == place for place in places)
        }
        return stay | {found["id"] for found in self.now if found["kind"] == SNAPSHOT}


def stays(each: Json) -> bool:
    """Tell whether what a statement is of stays in the cloud, though the stack lets go of it."""
    return each["action"] == "retain" or "Retain" in (each["left_behind"] or "")


class MadeUpNames:
    """Says which of the names that a plan could not know stands for which that it showed."""

    def __init__(self, said: Collection[Place], was: Sequence[Json], audit: Sequence[AuditEntry]) -> None:
        self._said = {place[:depth] for place in said for depth in range(len(place) + 1)}
        before = [place_of(found["owner"])[1] for found in was]
        self._before = {place[:depth] for place in before for depth in range(len(place) + 1)}
        deleted = [place_of(entry.owner)[1] for entry in audit if entry.op == "delete"]
        self._deleted = {place[:depth] for place in deleted for depth in range(len(place) + 1)}
        self._shown: dict[Place, str] = {}

    def place(self, real: Place) -> Place:
        """Return a place as the plan has it."""
        shown: Place = ()
        for depth, name in enumerate(real, 1):
            known = real[:depth] in self._before or (*shown, name) in self._said
            shown = (*shown, name if known else self._name(shown, real[:depth]))
        return shown

    def _name(self, inside: Place, real: Place) -> str:
        if real not in self._shown:
            # One that stands in for others is the only one that is made and goes.
            kind = "spare" if real in self._deleted else "new"
            free = sorted(
                place[-1]
                for place in self._said
                if place[:-1] == inside
                and place
                and place[-1].startswith(f"({kind} ")
                and place[-1] not in self._taken(real[:-1])
            )
            self._shown[real] = free[0] if free else real[-1]
        return self._shown[real]

    def _taken(self, inside: Place) -> set[str]:
        return {shown for real, shown in self._shown.items() if real[:-1] == inside}
