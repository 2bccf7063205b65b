# SPDX-License-Identifier: Apache-2.0
"""What the stepper does to stacks of types that were written for Heat, of each manner a token may have."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence

from heatconv.testing.failures import FailureRule
from heatconv.testing.templates import SNAPSHOT, Json, Template, thing
from tests.chaos.stories import DELETE, NAME, ROLL_BACK, Request, Story, create, update

SUSPEND = Request(method="suspend_stack")
RESUME = Request(method="resume_stack")
CHECK = Request(method="check_stack")
TAKE_SNAPSHOT = Request(method="create_snapshot", arguments=(NAME, None))
RESTORE = Request(method="restore_last")
DELETE_SNAPSHOT = Request(method="delete_snapshots")

#: By type, how many looks each operation takes.
KINDS = {
    "My::Cloud::Appliance": 2,
    "My::Cloud::Sealed": 2,
    "My::Cloud::Relic": 2,
    "My::Cloud::Pair": 2,
    "My::Cloud::Plain": 0,
    "My::Cloud::Exclusive": 1,
}

LOOKED_AT = ("My::Cloud::Appliance", "My::Cloud::Sealed", "My::Cloud::Relic")
BRIEFLY = ("create", "update", "delete", "snapshot")  #: the stories of the others

EXCLUSIVE = "My::Cloud::Exclusive"  #: of which a replacement gets what there can be but one of

#: What engines do, and workers do not.
OF_ENGINES = ("restore", "delete_snapshot")


def _each(images: int, power: str | None = None) -> Callable[[Sequence[Json]], Iterator[str]]:
    """Return what complains of an appliance that is half made, in a wrong state, or copied too often."""

    def complain(objects: Sequence[Json]) -> Iterator[str]:
        copies = [found for found in objects if found["kind"] == SNAPSHOT]
        if len(copies) != images:
            yield f"there are {len(copies)} images, wanted {images}"
        for found in objects:
            properties = found["properties"]
            if found["kind"] != SNAPSHOT and properties["step"] != "attached":
                yield f"{found['owner']} is only {properties['step']}"
            if found["kind"] != SNAPSHOT and power not in (None, properties.get("power")):
                yield f"{found['owner']} is {properties.get('power')}, wanted {power}"

    return complain


@functools.cache  # a bench knows its states by their templates
def stories(kind: str) -> Mapping[str, Story]:
    """Return the stories of stacks whose resources are of a type."""
    wait = KINDS[kind]
    first = Template(
        A=thing("a", wait=wait, type=kind),
        C=thing("c", uses=["A"], wait=wait, type=kind),
    )
    second = first.but(
        A=thing("a2", wait=wait, type=kind),
        C=thing("c", uses=["A"], wait=wait, type=kind, flavor="large"),
    )
    third = first.but(A=thing("a3", wait=wait, type=kind, flavor="large"))
    restored = second.but(A=first["A"])  # a snapshot is of the value alone
    whole = _each(0)
    all_of_them = {
        "create": Story(before=None, ask=create(first), wanted=first, also=whole),
        "update": Story(before=first, ask=update(second), wanted=second, also=whole),
        "delete": Story(before=first, ask=DELETE, wanted=None, also=whole),
        "delete_over_create": Story(before=None, ask=create(first), after=1, then=DELETE, wanted=None),
        "update_over_create": Story(
            before=None, ask=create(first), after=1, then=update(third), wanted=third, also=whole
        ),
        "suspend": Story(before=first, ask=SUSPEND, wanted=first, also=_each(0, "off")),
        "resume": Story(before=first, prepare=(SUSPEND,), ask=RESUME, wanted=first, also=_each(0, "on")),
        "check": Story(before=first, ask=CHECK, wanted=first, also=whole),
        "snapshot": Story(before=first, ask=TAKE_SNAPSHOT, wanted=first, also=_each(2)),
        "another_snapshot": Story(
            before=first, prepare=(TAKE_SNAPSHOT,), ask=TAKE_SNAPSHOT, wanted=first, also=_each(4)
        ),
        "restore": Story(
            before=first, prepare=(TAKE_SNAPSHOT, update(second)), ask=RESTORE, wanted=restored, also=_each(2)
        ),
        "delete_snapshot": Story(
            before=first, prepare=(TAKE_SNAPSHOT,), ask=DELETE_SNAPSHOT, wanted=first, also=whole
        ),
    }
    if kind == EXCLUSIVE:
        return _handovers(first)
    return all_of_them if kind in LOOKED_AT else {name: all_of_them[name] for name in BRIEFLY}


def _handovers(first: Template) -> Mapping[str, Story]:
    """Return the stories in which something is replaced, to no avail, or twice."""
    wait = KINDS[EXCLUSIVE]
    large = first.but(A=thing("a", wait=wait, type=EXCLUSIVE, flavor="large"))
    huge = first.but(A=thing("a", wait=wait, type=EXCLUSIVE, flavor="huge"))
    more = large.but(D=thing("d", uses=["A"], wait=wait, type=EXCLUSIVE))
    return {
        "replace": Story(before=first, ask=update(large), wanted=large, also=_each(0)),
        "replace_in_vain": Story(
            before=first,
            ask=update(more, rollback=True),
            faults=(_d_is_not_made,),
            wanted=first,
            also=_each(0),
        ),
        "rollback_over_replace": Story(
            before=first, ask=update(large), after=1, then=ROLL_BACK, wanted=first, also=_each(0)
        ),
        "replace_over_replace": Story(
            before=first, ask=update(large), after=1, then=update(huge), wanted=huge, also=_each(0)
        ),
    }


def _d_is_not_made() -> FailureRule:
    return FailureRule(op="create", owner=f"{NAME}/D", status=400, times=None)
