# SPDX-License-Identifier: Apache-2.0
"""The judge of plans finds whatever a plan says that is not so, and whatever is done that it does not say."""

from __future__ import annotations

import copy
import dataclasses
from typing import Any

import pytest

from heatconv.testing.templates import Template, attr, thing
from tests.functional.plans.carried import Carried
from tests.functional.plans.judging import broken_words

BEFORE = Template(
    A=thing("a"),
    B=thing(attr("A")),
    C=thing("c"),
    D=thing("d", depends_on=["C"]),
    K=thing("k", policy="Retain"),
    R=thing("r"),
    U=thing("u"),
)
AFTER = BEFORE.without("C", "D", "K").but(A=thing("a2"), R=thing("r", flavor="large"), N=thing("n"))


@pytest.fixture
def carried(world):
    world.create(BEFORE)
    there = world.owned()
    plan = world.plan(AFTER)
    ended, audit = world.carry_out(plan)
    assert ended.startswith("UPDATE_COMPLETE")
    return Carried(
        plan=plan, before=BEFORE, after=AFTER, was=there, there=there, audit=audit, now=world.owned()
    )


def test_a_plan_that_kept_its_word_is_let_pass(carried):
    assert broken_words(carried) == []


def of(plan, name) -> Any:
    return next(each for each in plan["resources"] if each["name"] == name)


def say_nothing_of_a(plan):
    plan["resources"].remove(of(plan, "A"))


def say_what_does_not_happen(plan):
    plan["resources"].append({**of(plan, "A"), "path": ["U"], "name": "U", "physical_resource_id": None})


def say_another_object(plan):
    of(plan, "A")["physical_resource_id"] = of(plan, "R")["physical_resource_id"]


def say_another_value(plan):
    of(plan, "A")["changes"][0]["after"] = "a3"


def say_another_value_before(plan):
    of(plan, "A")["changes"][0]["before"]["made"] = "a0"


def say_no_change(plan):
    of(plan, "A")["changes"] = []


def say_another_reason(plan):
    of(plan, "B")["because"] = [{"sentence": "properties.value follows U", "via": [["A"]]}]


def say_another_way(plan):
    of(plan, "B")["because"][0]["via"] = [["U"]]


def say_that_it_was_wanted(plan):
    of(plan, "B")["because"] = [{"sentence": "properties.value is wanted otherwise", "via": []}]


def say_that_it_drifted(plan):
    of(plan, "A")["because"] = [{"sentence": "it has drifted: value", "via": []}]


def say_no_reason_to_replace(plan):
    of(plan, "R")["changes"] = []


def say_another_order(plan):
    of(plan, "B")["order"] = of(plan, "A")["order"]


def say_that_it_goes(plan):
    of(plan, "K").update(action="delete", left_behind=None)


def say_that_it_stays(plan):
    of(plan, "C").update(action="retain", left_behind="Retain")


def say_that_it_is_possible(plan):
    of(plan, "A")["certainty"] = "possible"


@pytest.mark.parametrize(
    ("lie", "miss"),
    [
        (say_nothing_of_a, "update of ('A',) happened, and was not said"),
        (say_what_does_not_happen, "update of ('U',) was certain, and no update happened"),
        (say_another_object, "update of ('A',) was of "),
        (say_another_value, "value of ('A',) was to be 'a3', and became 'a2'"),
        (say_another_value_before, "value of ('A',) was 'a', and shown as made 'a0'"),
        (say_no_change, "value of ('A',) was changed, and that was not shown"),
        (say_another_reason, "('B',) does not refer to U"),
        (say_another_way, "by way of ['U'], of which nothing is said"),
        (say_that_it_was_wanted, "('B',): properties.value is wanted otherwise, and it is still"),
        (say_that_it_drifted, "('A',) has not drifted"),
        (say_no_reason_to_replace, "('R',) was replaced for its flavor, and that was not said"),
        (say_another_order, "('B',) is said to come before ('A',)"),
        (say_that_it_goes, "delete of ('K',) was certain, and no delete happened"),
        (say_that_it_stays, "('C',) stays, and no policy of its says so"),
        (say_that_it_is_possible, "['A'] is possible, and hangs on []"),
    ],
)
def test_what_a_plan_says_and_is_not_so_is_found(carried, lie, miss):
    plan = copy.deepcopy(carried.plan)
    lie(plan)
    misses = broken_words(dataclasses.replace(carried, plan=plan))
    assert any(miss in each for each in misses), misses


def test_what_goes_before_what_requires_it_is_found(carried):
    backwards = [
        dataclasses.replace(entry, sequence=len(carried.audit) - number)
        for number, entry in enumerate(carried.audit)
    ]
    misses = broken_words(dataclasses.replace(carried, audit=backwards[::-1]))
    assert "('C',) went before ('D',), which required it" in misses
    assert "('B',) was changed before ('A',), which it requires" in misses
    assert "('C',) went before all else was made" in misses


def test_what_is_not_left_alone_is_found(carried):
    changed = [
        {**found, "status": "ERROR"} if found["owner"].endswith("/U") else found for found in carried.now
    ]
    misses = broken_words(dataclasses.replace(carried, now=changed))
    assert any("('U',) was to be left as it is" in miss for miss in misses)


def test_a_secret_that_is_shown_is_found(carried):
    plan = {**carried.plan, "user": "hush-1"}
    assert "a secret is shown" in broken_words(dataclasses.replace(carried, plan=plan))
