# SPDX-License-Identifier: Apache-2.0
"""The drifts of objects behind the service's back, and the world as it would be without them.

Of a stack that is healed nothing of it may be left.  In others it stays until a
user's own wish puts it right: ``Drifts.left`` tells what is still as it was done,
and ``without`` gives the world with that undone, which then has to be as wished.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from heatconv.model.drift import DriftStatus, Kind, Mode
from heatconv.testing.cloud import ObjectStatus
from heatconv.testing.cloud_client import CloudControl
from heatconv.testing.failures import Unreachable
from heatconv.testing.trees import place_of

Json = dict[str, Any]

ALTERED = "altered"  #: what no template asks for


@dataclass(frozen=True, kw_only=True)
class Drift:
    """One thing that was done to an object."""

    stack: str  #: the root stack that it is of
    kind: Kind
    found: Json  #: the object as it was before
    altered: Json  #: the properties it was given instead

    @property
    def physical_id(self) -> str:
        """The id of the object."""
        return str(self.found["id"])


class Drifts:
    """Does things to the objects of some stacks, and keeps a log of it.

    In a stack that is not healed an object is drifted once, and only so that
    nobody else is told of it: what a user's wish makes of the others is as
    wished all the same.
    """

    def __init__(self, cloud: CloudControl, policies: Mapping[str, Mode]) -> None:
        """Take the policy of each root stack by its name; the others' objects are left alone."""
        self.log: list[Drift] = []
        self._cloud = cloud
        self._policies = policies

    def happen(self, choice: random.Random) -> None:
        """Let one object be deleted, altered or broken, if there is any."""
        known = {drift.physical_id for drift in self.log if not self._is_healed(drift.stack)}
        there: dict[str, list[Json]] = {}
        objects = sorted(self._cloud.owned(), key=lambda found: str(found["owner"]))
        used = {used for found in objects for used in found["properties"].get("uses") or ()}
        for found in objects:
            stack, _ = place_of(found["owner"])
            if (
                stack in self._policies
                and found["status"] == ObjectStatus.ACTIVE
                and found["id"] not in known
            ):
                there.setdefault(stack, []).append(found)
        if not there:
            return
        stack = choice.choice(sorted(there))
        found = choice.choice(there[stack])
        kind = choice.choices([Kind.MISSING, Kind.CHANGED, Kind.ERROR], [2, 2, 1])[0]
        if kind is Kind.MISSING and found["id"] in used:
            kind = Kind.ERROR  # no cloud lets go of an object that is in use
        altered = self._alteration(found, choice) if kind is Kind.CHANGED else {}
        with suppress(Unreachable):  # it went meanwhile
            self._do(kind, str(found["id"]), altered)
            self.log.append(Drift(stack=stack, kind=kind, found=found, altered=altered))

    def _do(self, kind: Kind, object_id: str, altered: Json) -> None:
        match kind:
            case Kind.MISSING:
                self._cloud.vanish(object_id)
            case Kind.CHANGED:
                self._cloud.meddle(object_id, altered)
            case _:
                self._cloud.spoil(object_id)

    def _alteration(self, found: Json, choice: random.Random) -> Json:
        possible: list[Json] = [{"flavor": ALTERED}]  # an attribute of nothing
        if self._is_healed(place_of(found["owner"])[0]):
            possible.append({"value": ALTERED})
            possible += [{"uses": []}] if found["properties"].get("uses") else []
        return choice.choice(possible)

    def _is_healed(self, stack: str) -> bool:
        return self._policies[stack] is Mode.HEAL

    # -- what is left of it ----------------------------------------------------------------------

    def left(self, objects: Iterable[Json], stood_for: Collection[str]) -> list[Drift]:
        """Return the drifts of stacks that are not healed, as far as they are there still.

        ``stood_for``: the ids of the objects that resources stand for.
        """
        there = {found["id"]: found for found in objects}
        return [
            drift
            for drift in self.log
            if not self._is_healed(drift.stack)
            and drift.physical_id in stood_for
            and _is_so(drift, there.get(drift.physical_id))
        ]

    def expected(
        self, left: Iterable[Drift]
    ) -> Iterator[tuple[str, DriftStatus | None, set[tuple[str, str]]]]:
        """Yield what is to be shown of each stack: its name, status, ids of its objects and how they drifted.

        Of stacks that nobody looks at nothing is known to have drifted, and no status is expected.
        """
        of_stack: dict[str, set[tuple[str, str]]] = {name: set() for name in self._policies}
        for drift in left:
            if self._policies[drift.stack] is Mode.DETECT:
                of_stack[drift.stack].add((drift.physical_id, drift.kind))
        for name, drifted in of_stack.items():
            status = DriftStatus.DRIFTED if drifted else DriftStatus.IN_SYNC
            yield name, None if self._policies[name] is Mode.OFF else status, drifted


def _is_so(drift: Drift, now: Json | None) -> bool:
    if now is None:
        return drift.kind is Kind.MISSING
    if drift.kind is Kind.ERROR:
        return bool(now["status"] == ObjectStatus.ERROR)
    return bool(drift.altered) and drift.altered.items() <= now["properties"].items()


def without(objects: Iterable[Json], left: Sequence[Drift]) -> list[Json]:
    """Return the objects as they would be without the drifts that are left."""
    world = {found["id"]: found for found in objects}
    for drift in left:
        now = world.get(drift.physical_id, drift.found)
        before = {name: drift.found["properties"][name] for name in drift.altered}
        world[drift.physical_id] = {
            **now,
            "status": ObjectStatus.ACTIVE,
            "properties": {**now["properties"], **before},
        }
    return [*world.values()]
