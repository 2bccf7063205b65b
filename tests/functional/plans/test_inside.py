# SPDX-License-Identifier: Apache-2.0
"""Plans of trees of stacks: what is unknown outside is a value inside, and what is made up has a place."""

from __future__ import annotations

import json
from typing import Any

import pytest

from heatconv.testing.cloud import IN_PROCESS
from heatconv.testing.templates import Template, thing
from heatconv.testing.trees import chain, joined, policy, scaled
from tests.functional.nested.conftest import SERVER, hot, server
from tests.functional.plans.simulated import NAME


def said(plan: dict[str, Any]) -> dict[str, str]:
    return {
        "/".join(each["path"]): each["action"] + ("?" if each["certainty"] == "possible" else "")
        for each in plan["resources"]
    }


def posted(resources, **files):
    return {"template": hot(resources), "files": {f"{name}.yaml": text for name, text in files.items()}}


INNER = json.dumps(
    hot(
        {
            "P": server({"get_param": "value"}),
            "Q": {
                "type": SERVER,
                "condition": {"equals": [{"get_param": "value"}, "off"]},
                "properties": {"value": "q"},
            },
            "R": server({"if": [{"equals": [{"get_param": "value"}, "off"]}, "yes", "no"]}),
            "S": server("s"),
        },
        {"value": {"value": {"get_attr": ["P", "value"]}}},
        {"value": {"type": "string"}},
    )
)


def nested(value):
    return {"type": "inner.yaml", "properties": {"value": value}}


def test_what_is_unknown_goes_through_functions_and_conditions_inside(world):
    before = {"A": server("a"), "N": nested("off"), "B": server({"get_attr": ["N", "value"]})}
    world.create_of(posted(before, inner=INNER))
    after = {**before, "N": nested({"get_attr": ["A", "id"]}), "A": server("a", flavor="large")}

    plan = world.plan_of(posted(after, inner=INNER))

    assert said(plan) == {
        "A": "replace",
        "N": "update?",
        "N/P": "update?",
        "N/Q": "delete?",
        "N/R": "update?",
        "B": "update?",
    }
    (inner,) = [each for each in plan["resources"] if each["path"] == ["N", "R"]]
    assert inner["hangs_on"][0]["path"] == ["A"]
    world.apply(plan["id"])
    assert world.state().startswith("UPDATE_COMPLETE")


def test_a_value_that_turns_out_equal_is_possible_and_nothing_happens(world):
    """A computed value that stays as it was."""
    value = {"type": "OS::Heat::TestResource", "properties": {"value": "same", "client_name": "one"}}
    before = {"V": value, "A": server({"get_attr": ["V", "output"]})}
    world.create_of(posted(before))
    changed = {"type": value["type"], "properties": {"value": "same", "wait_secs": 0, "update_replace": True}}

    plan = world.plan_of(posted({**before, "V": changed}))
    asked = world.apply(plan["id"])

    assert said(plan)["A"] == "update?"
    assert asked == []
    assert world.state().startswith("UPDATE_COMPLETE")


def test_members_with_names_that_are_made_up(world):
    def template(count, value="s"):
        return Template(G=scaled(count, thing(value)), P=policy("G", 1))

    world.create(template(1))
    plan = world.plan(template(3))

    assert said(plan) == {"G": "update", "G/(new 1)": "create", "G/(new 2)": "create"}
    assert len(world.apply(plan["id"])) == 2
    assert world.state().startswith("UPDATE_COMPLETE")
    plan = world.plan(template(2, "t"))
    assert sorted(said(plan).values()) == ["delete", "update", "update", "update"]
    world.apply(plan["id"])
    assert world.state().startswith("UPDATE_COMPLETE")


@pytest.mark.parametrize("spare", [0, 2])
def test_members_that_are_changed_in_batches(world, spare):
    def group(value):
        return {
            "type": "OS::Heat::ResourceGroup",
            "properties": {"count": 2, "resource_def": server(value)},
            "update_policy": {"rolling_update": {"max_batch_size": 1, "min_in_service": spare}},
        }

    world.create_of(posted({"G": group("a")}))
    plan = world.plan_of(posted({"G": group("b")}))
    world.apply(plan["id"])

    assert world.state().startswith("UPDATE_COMPLETE")
    assert {found["properties"]["value"] for found in IN_PROCESS.owned(NAME)} == {"b"}
    acts = {each["action"] for each in plan["resources"]}
    assert acts == ({"update", "create", "delete"} if spare else {"update"})


@pytest.mark.parametrize("before", ["2", None])
def test_what_a_group_that_is_made_anew_will_give_is_known(world, before):
    reading = Template(R=thing(joined("G")))
    world.create(Template(R=thing("r")) if before is None else reading.but(G=chain(2, thing(before))))

    plan = world.plan(reading.but(G=chain(2, thing("3"))))

    (read,) = [each for each in plan["resources"] if each["name"] == "R"]
    assert [change["after"] for change in read["changes"]] == ["3,3"]
    world.apply(plan["id"])
    assert {found["properties"]["value"] for found in IN_PROCESS.owned(NAME)} == {"3", "3,3"}


def test_a_list_with_one_element_less_in_front_is_no_change_of_the_others(world):
    """What is told by name stays, wherever it stands."""
    before = {name: server(name) for name in "ABC"}
    world.create_of(posted(before))

    plan = world.plan_of(posted({name: server(name) for name in "CB"}))

    assert said(plan) == {"A": "delete"}
    assert plan["summary"]["untouched"] == 2


def test_a_plan_says_by_which_way_a_change_comes(world):
    before = {
        "A": server("a"),
        "B": server({"get_attr": ["A", "id"]}),
        "C": server({"list_join": ["-", ["c", {"get_attr": ["B", "value"]}]]}),
        "N": {"type": "inner.yaml", "properties": {"value": {"get_attr": ["B", "value"]}}},
    }
    world.create_of(posted(before, inner=INNER))

    plan = world.plan_of(posted({**before, "A": server("a", flavor="large")}, inner=INNER))

    ways = {"/".join(each["path"]): each["because"][0]["via"] for each in plan["resources"]}
    assert ways["A"] == []
    assert ways["B"] == [["A"]]
    assert ways["C"] == [["B"], ["A"]]
    assert ways["N/P"] == [["N"], ["B"], ["A"]]


def test_only_of_what_takes_another_resource_is_it_said_that_it_replaces(world):
    world.create_of(posted({"A": server("a"), "N": nested("on")}, inner=INNER))

    plan = world.plan_of(
        posted(
            {"A": server("a2", flavor="large"), "N": {**nested("off"), "metadata": {"a": "b"}}}, inner=INNER
        )
    )

    replaces = {
        ("/".join(each["path"]), change["path"]): change["replaces"]
        for each in plan["resources"]
        for change in each["changes"]
        if each["action"] in ("update", "replace")
    }
    assert replaces == {
        ("A", "properties.flavor"): True,
        ("A", "properties.value"): False,
        ("N", "metadata.a"): False,
        ("N", "properties.value"): False,
        ("N/P", "properties.value"): False,
        ("N/R", "properties.value"): False,
    }
