# SPDX-License-Identifier: Apache-2.0
"""Others change the stack between a plan and its application, and daemons die in the middle of that.

A change beside the plan does not matter, be it at its end or not; one that the plan touches refuses it,
and then nothing of it was done.
"""

from __future__ import annotations

import os
import random

import pytest

from heatconv import errors
from heatconv.testing.cloud import IN_PROCESS
from heatconv.testing.templates import Template, attr, thing
from heatconv.testing.trees import GIVEN, differences, nested, source
from tests.functional.plans.simulated import NAME

TRIES = int(os.environ.get("HEATCONV_FENCE_TRIES", "12"))

BEFORE = Template(
    A=thing("a"), B=thing("b", uses=["A"]), C=thing(attr("B")), X=thing("x"), Y=thing("y", uses=["X"])
)


def mine(choice):
    """Return a change of A and what follows it, and what of the stack it touches."""
    return choice.choice(
        [
            ({"A": thing("a2")}, {"A"}),
            ({"A": thing("a", flavor="large")}, {"A", "B"}),
            ({"B": thing("b2", uses=["A"])}, {"B", "C"}),
            ({"D": thing("d", uses=["B"])}, {"D"}),
        ]
    )


def ask_dying(world, choice, method, **arguments):
    """Ask for something; in half of the cases who carries it out dies of it, and it is asked again."""
    if choice.random() < 0.5:
        world.stage.add_engine_first(choice.randint(1, 12))
    refused = world.stage.ask(method, **arguments)
    if choice.random() < 0.5:
        world.stage.add_worker_first(choice.randint(1, 40))
    return refused


def applied(world, choice, plan):
    """Apply a plan; return why it was refused, if it was."""
    refused = ask_dying(world, choice, "apply_plan", plan=plan["id"])
    state = world.call("show_plan", plan=plan["id"])["state"]
    return None if state == "applied" else refused


@pytest.mark.timeout(900)
@pytest.mark.parametrize("number", range(TRIES))
def test_beside_it_anything_may_happen(world, number):
    choice = random.Random(f"beside {number}")
    world.create(BEFORE)
    change, _ = mine(choice)
    plan = world.plan(BEFORE.but(**change))
    others = choice.choice(
        [{"X": thing("x2")}, {"X": thing("x", flavor="large")}, {"Y": thing("y2")}, {"Z": thing("z")}]
    )
    theirs = BEFORE.but(**others) if choice.random() < 0.7 else BEFORE.without("Y")
    assert ask_dying(world, choice, "update_stack", stack=NAME, source=source(theirs), options={}) is None
    if choice.random() < 0.5:
        world.stage.run()

    assert applied(world, choice, plan) is None
    world.stage.run()

    assert world.state().startswith("UPDATE_COMPLETE"), (plan["resources"], theirs.hot())
    assert differences(theirs.but(**change), IN_PROCESS.owned(NAME)) == []


@pytest.mark.timeout(900)
@pytest.mark.parametrize("number", range(TRIES))
def test_what_it_touches_refuses_it(world, number):
    choice = random.Random(f"touching {number}")
    world.create(BEFORE)
    change, touched = mine(choice)
    plan = world.plan(BEFORE.but(**change))
    of_a = [{"A": thing("theirs", flavor="other")}, {"A": thing("a", flavor="other")}]
    of_b = [{"B": thing("theirs", uses=["A"], flavor="other")}]
    # What uses A is left alone when only the value of A changes.
    theirs = BEFORE.but(
        **choice.choice(of_b if "D" in touched else of_a if touched == {"A"} else of_a + of_b)
    )
    assert ask_dying(world, choice, "update_stack", stack=NAME, source=source(theirs), options={}) is None
    if choice.random() < 0.5:
        world.stage.run()

    refused = applied(world, choice, plan)
    world.stage.run()

    assert isinstance(refused, errors.PlanStale), refused
    assert "last changed by" in str(refused)
    assert world.state().startswith("UPDATE_COMPLETE")
    assert differences(theirs, IN_PROCESS.owned(NAME)) == []


def test_a_file_that_is_changed_says_nothing_of_the_stacks_that_are_made_of_others(world):
    before = Template(
        M=nested(Template(P=thing(GIVEN)), "m", file="mine.yaml"),
        N=nested(Template(P=thing(GIVEN)), "n", file="theirs.yaml"),
    )
    world.create(before)
    mine = nested(Template(P=thing(GIVEN, flavor="large")), "m", file="mine.yaml")
    plan = world.plan(before.but(M=mine))
    theirs = before.but(N=nested(Template(P=thing(GIVEN)), "n2", file="theirs.yaml"))
    world.stage.ask("update_stack", stack=NAME, source=source(theirs), options={})
    world.stage.run()

    world.apply(plan["id"])

    assert world.state().startswith("UPDATE_COMPLETE")
    assert differences(theirs.but(M=mine), IN_PROCESS.owned(NAME)) == []


def test_a_refusal_says_where_it_is_that_changed_and_says_it_again(world):
    before = Template(A=thing("a"), N=nested(Template(P=thing(GIVEN), Q=thing("q")), attr("A")))
    world.create(before)
    plan = world.plan(before.but(A=thing("mine")))
    theirs = before.but(N=nested(Template(P=thing(GIVEN, flavor="large"), Q=thing("q")), attr("A")))
    world.stage.ask("update_stack", stack=NAME, source=source(theirs), options={})
    world.stage.run()

    refused = world.stage.ask("apply_plan", plan=plan["id"])

    assert isinstance(refused, errors.PlanStale)
    assert "N/P changed" in refused.reason
    assert world.call("show_plan", plan=plan["id"])["refusal"] == refused.reason
    again = world.stage.ask("apply_plan", plan=plan["id"])
    assert str(again) == str(refused)
