# SPDX-License-Identifier: Apache-2.0
"""What has drifted, in plans: what is wanted, what was made, what was found, and what becomes of it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from heatconv.testing.cloud import IN_PROCESS
from heatconv.testing.templates import SERVER, Template, thing
from heatconv.testing.trees import GIVEN, Pace, group, nested
from tests.functional.plans.simulated import NAME

BEFORE = Template(A=thing("a"), B=thing("b"), C=thing("c"))


def said(plan):
    return {each["name"]: each["action"] for each in plan["resources"]}


def meddle(name, **properties):
    (found,) = IN_PROCESS.owned(f"{NAME}/{name}")
    IN_PROCESS.meddle(found["id"], properties)


def values():
    return sorted(found["properties"]["value"] for found in IN_PROCESS.owned(NAME))


def test_a_plan_says_what_it_will_revert(world):
    world.create(BEFORE)
    meddle("A", value="meddled")
    world.call("observe_stack", stack=NAME)

    plan = world.plan(BEFORE)

    assert said(plan) == {"A": "heal"}
    (change,) = plan["resources"][0]["changes"]
    before = change["before"]
    assert (before["made"], before["observed"], change["after"]) == ("a", "meddled", "a")
    assert before["observed_at"] is not None
    assert "it has drifted" in plan["resources"][0]["because"][0]["sentence"]
    assert [entry.op for entry in world.apply(plan["id"])] == ["update"]
    assert values() == ["a", "b", "c"]


def test_with_refresh_what_it_touches_is_looked_at_first_and_nothing_else(world):
    world.create(BEFORE)
    meddle("A", flavor="meddled")
    meddle("C", value="meddled")
    shown = [entry.op for entry in IN_PROCESS.audit()].count("show_many")

    plan = world.plan(BEFORE.but(A=thing("a2")), refresh=True)

    assert [entry.op for entry in IN_PROCESS.audit()].count("show_many") == shown + 1
    assert said(plan) == {"A": "replace"}
    world.apply(plan["id"])
    assert values() == ["a2", "b", "meddled"]


def test_drift_that_is_found_after_a_plan_was_made_is_not_put_right_by_it(world):
    world.create(BEFORE)
    plan = world.plan(BEFORE.but(A=thing("a2")))
    meddle("C", value="meddled")
    world.call("observe_stack", stack=NAME)

    world.apply(plan["id"])

    assert world.state().startswith("UPDATE_COMPLETE")
    assert values() == ["a2", "b", "meddled"]


def test_what_is_gone_is_replaced_and_the_plan_says_why(world):
    world.create(BEFORE)
    (found,) = IN_PROCESS.owned(f"{NAME}/B")
    IN_PROCESS.vanish(found["id"])
    world.call("observe_stack", stack=NAME)

    plan = world.plan(BEFORE)

    assert said(plan) == {"B": "replace"}
    assert "not there any more" in plan["resources"][0]["because"][0]["sentence"]


@pytest.mark.parametrize(
    "member", [thing("a"), nested(Template(P=thing(GIVEN)), "a")], ids=["thing", "stack"]
)
def test_a_member_that_is_broken_is_made_anew_at_once_and_changed_when_its_batch_is_due(world, member):
    members = replace(group(2, member), pace=Pace(1, 0))
    world.create(Template(G=members))
    broken = sorted(IN_PROCESS.owned(NAME), key=lambda found: found["owner"])[1]
    IN_PROCESS.spoil(broken["id"])
    world.call("observe_stack", stack=NAME)

    plan = world.plan(Template(G=replace(members, member=replace(member, value="b"))))

    assert [each["action"] for each in plan["resources"] if each["type"] == SERVER].count("replace") == 1
    world.apply(plan["id"])
    assert world.state().startswith("UPDATE_COMPLETE")
    assert values() == ["b", "b"]
