# SPDX-License-Identifier: Apache-2.0
"""What plans of other tools are known to get wrong: each as a story, with what it comes to in the cloud."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from heatconv import errors
from heatconv.resources.properties import Schema
from heatconv.resources.registry import Registry
from heatconv.resources.resource import Resource
from heatconv.testing.cloud import IN_PROCESS
from heatconv.testing.simulated import PLUGIN_DIR
from heatconv.testing.templates import OPAQUE, SERVER, SNAPSHOT, Template, attr, thing
from heatconv.testing.trees import GIVEN, nested
from tests.functional.nested.conftest import hot, server
from tests.functional.plans.simulated import NAME, World

Json = dict[str, Any]


def said(plan: Json) -> dict[str, str]:
    return {
        "/".join(each["path"]): each["action"] + ("?" if each["certainty"] == "possible" else "")
        for each in plan["resources"]
    }


def applied(world: World, plan: Json) -> list[str]:
    """Apply a plan; return what the cloud was asked, by resource."""
    asked = world.apply(plan["id"])
    assert world.state().startswith("UPDATE_COMPLETE")
    return sorted(f"{entry.op} {entry.owner.rpartition('/')[2]}" for entry in asked)


def values() -> list[str]:
    return sorted(found["properties"]["value"] for found in IN_PROCESS.owned(NAME))


# -- a list of which the first element goes ------------------------------------------------------------

NAMES = {"names": {"type": "comma_delimited_list"}}
MEMBER = hot(
    {"S": server({"get_param": ["names", {"get_param": "at"}]})},
    None,
    {**NAMES, "at": {"type": "number"}},
)


def of_names(names: str) -> Json:
    """Return a group with a member for each name, each of which has its name by its number."""
    member = {"type": "member.yaml", "properties": {"names": {"get_param": "names"}, "at": "%index%"}}
    group = {"count": len(names.split(",")), "resource_def": member}
    return {
        "template": hot({"G": {"type": "OS::Heat::ResourceGroup", "properties": group}}, None, NAMES),
        "files": {"member.yaml": json.dumps(MEMBER)},
        "environment": {"parameters": {"names": names}},
    }


def test_members_by_number_shift_and_the_plan_says_which(world):
    world.create_of(of_names("a,b,c"))

    plan = world.plan_of(of_names("b,c"))

    assert {name: what for name, what in said(plan).items() if name.endswith("S")} == {
        "G/0/S": "update",
        "G/1/S": "update",
        "G/2/S": "delete",
    }
    assert applied(world, plan) == ["delete S", "update S", "update S"]
    assert values() == ["b", "c"]


def test_a_member_that_is_named_goes_alone(world):
    group = {"count": 3, "resource_def": server("m%index%")}
    world.create_of({"template": hot({"G": {"type": "OS::Heat::ResourceGroup", "properties": group}})})

    fewer = {**group, "count": 2, "removal_policies": [{"resource_list": ["0"]}]}
    plan = world.plan_of({"template": hot({"G": {"type": "OS::Heat::ResourceGroup", "properties": fewer}})})

    assert said(plan) == {"G": "update", "G/0": "delete"}
    assert applied(world, plan) == ["delete 0"]
    assert values() == ["m1", "m2"]


def test_a_property_that_is_a_list_is_changed_once_and_nothing_else_is(world):
    things = Template(A=thing("a"), B=thing("b"), C=thing("c"), D=thing("d", uses=["A", "B", "C"]))
    world.create(things)

    plan = world.plan(things.but(D=thing("d", uses=["B", "C"])))

    assert said(plan) == {"D": "update"}
    (change,) = plan["resources"][0]["changes"]
    assert (len(change["before"]["made"]), len(change["after"])) == (3, 2)
    assert applied(world, plan) == ["update D"]


# -- computed values, and what depends on what is replaced ----------------------------------------------


def test_a_computed_value_that_stays_equal_reaches_nobody(world):
    before = Template(A=thing("a"), B=thing(attr("A")), C=thing(attr("B")))
    world.create(before)

    plan = world.plan(before.but(A=thing("a", flavor="large")))

    assert all(what.endswith("?") for name, what in said(plan).items() if name != "A")
    assert said(plan)["A"] == "replace"
    assert applied(world, plan) == ["create A", "delete A"]


def test_what_only_comes_after_what_is_replaced_is_left_alone(world):
    before = Template(A=thing("a"), B=thing("b", depends_on=["A"]), C=thing(attr("B")))
    world.create(before)

    plan = world.plan(before.but(A=thing("a", flavor="large")))

    assert said(plan) == {"A": "replace"}
    assert applied(world, plan) == ["create A", "delete A"]


# -- a new version of a plugin ---------------------------------------------------------------------------


def newer(**options: Json) -> Registry:
    """Return the types, with a server of whose properties a newer plugin says something else."""
    types = Registry.load([PLUGIN_DIR])
    old = types.get(SERVER)
    schema = dict(old.properties_schema)
    for name, changed in options.items():
        there = schema[name]
        said = {"default": there.default, "update_allowed": there.update_allowed}
        schema[name] = Schema(there.type, **{**said, **changed})
    new: dict[str, type[Resource]] = {SERVER: type(old.__name__, (old,), {"properties_schema": schema})}
    return Registry({name: types.get(name) for name in types.names()} | new)


PLAIN = {"A": {"type": SERVER, "properties": {}}, "B": server("b")}


@pytest.mark.parametrize("changed", [{"value": {"default": "other"}}, {"flavor": {"default": "large"}}])
def test_a_default_of_a_newer_plugin_changes_nothing_that_nobody_asked_for(world, changed):
    world.create_of({"template": hot(PLAIN)})
    world.start(newer(**changed))

    same = world.plan_of({"template": hot(PLAIN)})
    assert said(same) == {}
    assert applied(world, same) == []

    # Of what changes, the new default is no reason to replace it.
    plan = world.plan_of({"template": hot({**PLAIN, "A": server("a")})})
    assert said(plan) == {"A": "update"}
    assert applied(world, plan) == ["update A"]
    assert values() == ["a", "b"]


def test_a_plan_that_the_newer_plugin_would_not_keep_is_refused(world):
    world.create_of({"template": hot(PLAIN)})
    larger = {**PLAIN, "B": server("b", flavor="large")}
    plan = world.plan_of({"template": hot(larger)})
    assert said(plan) == {"B": "replace"}
    world.start(newer(flavor={"update_allowed": True}))

    with pytest.raises(errors.PlanStale, match="the type Fake::Cloud::Server is another by now"):
        world.apply(plan["id"])

    anew = world.plan_of({"template": hot(larger)})
    assert said(anew) == {"B": "update"}
    assert applied(world, anew) == ["update B"]


# -- a resource of another type under the same name --------------------------------------------------------


def test_a_snapshot_is_left_of_no_resource_whose_type_can_leave_none(world):
    world.create(Template(A=thing("a", type=OPAQUE), B=thing("b")))

    plan = world.plan(
        Template(A=thing("a", policy="Snapshot"), B=thing("b", flavor="large", policy="Snapshot"))
    )

    left = {each["name"]: each["left_behind"] for each in plan["resources"]}
    assert left == {"A": None, "B": "A snapshot of it stays, by its deletion policy Snapshot."}
    assert applied(world, plan) == ["create A", "create B", "create B", "delete A", "delete B"]
    assert [found["owner"] for found in IN_PROCESS.owned() if found["kind"] == SNAPSHOT] == [f"{NAME}/B"]


def test_a_stack_that_stays_when_it_is_replaced_stays_with_all_that_is_in_it(world):
    stays = nested(Template(P=thing(GIVEN)), "n", file="a.yaml", policy="Retain")
    world.create(Template(N=stays))

    plan = world.plan(Template(N=replace(stays, file="b.yaml")))

    assert [(each["path"], each["action"]) for each in plan["resources"]] == [
        (["N", "P"], "create"),
        (["N"], "replace"),
    ]
    assert applied(world, plan) == ["create P"]
    assert values() == ["n", "n"]


# -- a secret that is changed ------------------------------------------------------------------------------


def with_secret(word: str) -> Json:
    reader = server({"get_attr": ["A", "name"]})
    resources = {"A": server({"get_param": "word"}), "B": server("b"), "C": reader}
    parameters = {"word": {"type": "string", "hidden": True}}
    return {"template": hot(resources, None, parameters), "environment": {"parameters": {"word": word}}}


def test_a_secret_that_is_changed_is_said_to_be_another_and_is_shown_nowhere(world):
    world.create_of(with_secret("first-word"))

    plan = world.plan_of(with_secret("second-word"))

    assert said(plan)["A"] == "update"
    (change,) = plan["resources"][0]["changes"]
    assert (change["before"]["made"], change["after"], change["hidden"]) == ("(hidden)", "(hidden)", True)
    assert change["equal"] is False
    assert "-word" not in json.dumps(plan)
    assert applied(world, plan) == ["update A"]
    assert "second-word" in values()


def test_a_secret_that_stays_is_no_change(world):
    world.create_of(with_secret("first-word"))

    assert said(world.plan_of(with_secret("first-word"))) == {}


def test_a_secret_that_others_changed_meanwhile_refuses_a_plan_that_would_use_it(world):
    world.create_of(with_secret("first-word"))
    using = with_secret("first-word")
    using["template"]["resources"]["B"] = server({"get_param": "word"})
    plan = world.plan_of(using)
    assert said(plan) == {"B": "update"}
    world.stage.ask("update_stack", stack=NAME, source=with_secret("second-word"), options={})
    world.stage.run()

    with pytest.raises(errors.PlanStale, match=r"of B: properties\.value, which is hidden, would be another"):
        world.apply(plan["id"])

    assert values().count("b") == 1
