# SPDX-License-Identifier: Apache-2.0
"""A stack that is found otherwise than before has an event that says so, and one that is not has none."""

from __future__ import annotations

from heatconv.db.delivery.events import STACK_TYPE
from heatconv.db.observation import schedule
from heatconv.db.tables import event
from heatconv.model.drift import DriftStatus
from heatconv.testing.templates import Template, thing

ONE = Template(A=thing("a"))


def found(world):
    """Return the events of how the stack was found as a whole, in order."""
    rows = world.select(event, event.c.action == "OBSERVE", event.c.resource_type == STACK_TYPE)
    return [f"{row.resource_name} {row.status}: {row.status_reason}" for row in sorted(rows, key=by_number)]


def by_number(row):
    return row.id


def test_a_stack_says_when_it_drifts_and_when_it_is_in_sync_again(world):
    world.create_with(ONE, "detect")
    world.tick()
    world.tick()
    assert found(world) == ["web COMPLETE: Stack is IN_SYNC; it was UNKNOWN"]

    world.cloud.meddle(world.object_of("A"), {"value": "drifted"})
    world.tick()
    world.tick()
    assert found(world)[1:] == ["web FAILED: Stack is DRIFTED; it was IN_SYNC"]

    world.cloud.meddle(world.object_of("A"), {"value": "a"})
    world.tick()
    assert found(world)[2:] == ["web COMPLETE: Stack is IN_SYNC; it was DRIFTED"]


def test_who_looks_by_hand_is_told_likewise(world):
    world.create(ONE)
    world.run()
    world.observe()
    world.cloud.vanish(world.object_of("A"))
    world.observe("A")
    world.observe()

    assert found(world) == [
        "web COMPLETE: Stack is IN_SYNC; it was UNKNOWN",
        "web FAILED: Stack is DRIFTED; it was IN_SYNC",
    ]


def test_who_comes_too_late_tells_nothing(world):
    world.create_with(ONE, "detect")
    world.time_passes()
    [turn] = schedule.take(world.database, [world.stack_id], lease=60)
    world.tick()
    before = found(world)

    looked = schedule.Looked(turn=turn, again_in=60, status=DriftStatus.DRIFTED)
    schedule.end(world.database, [looked])

    assert found(world) == before
    assert world.drift_status() == "IN_SYNC"
