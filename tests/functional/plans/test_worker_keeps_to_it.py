# SPDX-License-Identifier: Apache-2.0
"""A worker does what the plan says, even where the world has changed under it."""

from __future__ import annotations

from heatconv.testing.cloud import IN_PROCESS
from heatconv.testing.templates import Template, thing
from tests.functional.plans.simulated import NAME, World

BEFORE = Template(A=thing("a"), B=thing("b", uses=["A"]))
AFTER = Template(A=thing("a2"), B=thing("b", uses=["A"]))


def spoiled_after_begun(world: World, plan: str) -> None:
    """Apply a plan, and let the object of A break before any worker looks at it."""
    world.call("apply_plan", plan=plan)
    (found,) = IN_PROCESS.owned(f"{NAME}/A")
    world.mark_failed("A")
    IN_PROCESS.spoil(found["id"])
    world.stage.run()


def test_what_was_not_foreseen_stops_the_resource_and_says_so(world):
    world.create(BEFORE)
    plan = world.plan(AFTER)
    before = {each["id"] for each in IN_PROCESS.owned(NAME)}

    spoiled_after_begun(world, plan["id"])

    assert world.state().startswith("UPDATE_FAILED")
    assert "did not foresee its replace" in world.state()
    assert {each["id"] for each in IN_PROCESS.owned(NAME)} == before


def test_unless_it_is_allowed(world):
    world.create(BEFORE)
    plan = world.plan(AFTER, allow=["replace", "update"])

    spoiled_after_begun(world, plan["id"])

    assert world.state().startswith("UPDATE_COMPLETE")
    assert [each["properties"]["value"] for each in IN_PROCESS.owned(f"{NAME}/A")] == ["a2"]
