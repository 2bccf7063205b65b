# SPDX-License-Identifier: Apache-2.0
"""A template as a type: parameters are properties, outputs attributes, and what is done walks the tree."""

from __future__ import annotations

import json

import pytest

from heatconv.client.http import ClientError
from heatconv.testing.failures import FailureRule
from tests.functional.nested.conftest import hot, server

PAIR = hot(
    {
        "A": server({"get_param": "value"}),
        "B": server({"get_attr": ["A", "value"]}, uses=[{"get_resource": "A"}]),
    },
    {"told": {"value": {"get_attr": ["B", "value"]}, "description": "What B has."}},
    {"value": {"type": "string"}, "size": {"type": "number", "default": 1}},
)
FILES = {"pair.yaml": json.dumps(PAIR)}


def pair(value="v", **properties):
    return {"type": "pair.yaml", "properties": {"value": value, **properties}}


def test_a_template_is_a_type(tree):
    tree.create(
        {"P": pair("x"), "C": server({"get_attr": ["P", "told"]})},
        outputs={
            "told": {"value": {"get_attr": ["P", "told"]}},
            "inner": {"value": {"get_attr": ["P", "resource.A.value"]}},
            "ref": {"value": {"get_resource": "P"}},
        },
        files=FILES,
    )

    assert tree.values() == ["x", "x", "x"]
    outputs = tree.outputs()
    assert (outputs["told"], outputs["inner"]) == ("x", "x")
    assert outputs["ref"].startswith("arn:openstack:heat::")
    assert tree.nested_state("P") == "CREATE_COMPLETE"
    shown = tree.client.list_resources(tree.name, {"nested_depth": 2})
    assert {each["resource_name"] for each in shown} == {"P", "C", "A", "B"}


def test_an_update_goes_down_the_tree_and_costs_what_changed(tree):
    tree.create({"P": pair("x"), "Q": pair("y")}, files=FILES)
    tree.calls()

    tree.update({"P": pair("x"), "Q": pair("z")}, files=FILES)

    assert tree.values() == ["x", "x", "z", "z"]
    assert tree.calls() == ["update A", "update B"]


def test_a_change_of_the_file_alone_changes_what_is_made_of_it(tree):
    tree.create({"P": pair("x")}, files=FILES)
    more = {**PAIR, "resources": {**PAIR["resources"], "D": server("d")}}

    tree.update({"P": pair("x")}, files={"pair.yaml": json.dumps(more)})

    assert tree.values() == ["d", "x", "x"]


def test_what_depends_on_an_output_follows_it(tree):
    resources = {"P": pair("x"), "C": server({"get_attr": ["P", "told"]})}
    tree.create(resources, files=FILES)

    tree.update({**resources, "P": pair("new")}, files=FILES)

    assert tree.values() == ["new", "new", "new"]


def test_a_delete_deletes_the_tree(tree):
    tree.create({"P": pair("x")}, files=FILES)

    tree.client.delete_stack(tree.name)
    tree.await_state(None)

    assert tree.owned() == []


def test_a_failure_below_is_told_above_and_undone(tree):
    tree.cloud.fail(FailureRule(op="create", owner="*/B", status=400))

    tree.begin({"P": pair("x")}, files=FILES, disable_rollback=False)
    tree.await_state("ROLLBACK_COMPLETE")

    reasons = [each["resource_status_reason"] for each in tree.client.list_events(tree.name)]
    assert any("resources.P" in reason and "resources.B" in reason for reason in reasons)
    assert tree.owned() == []


def test_what_failed_below_is_mended_by_an_update(tree):
    tree.cloud.fail(FailureRule(op="create", owner="*/B", status=400))
    tree.begin({"P": pair("x")}, files=FILES)
    tree.await_failure("CREATE_FAILED")
    before = tree.nested("P")

    tree.update({"P": pair("x")}, files=FILES)

    assert tree.values() == ["x", "x"]
    assert tree.nested("P") == before


def test_a_newer_wish_does_not_wait_for_what_is_being_made_below(tree):
    tree.begin({"P": pair("x"), "wait": server("w")}, files=FILES)
    tree.await_state("CREATE_COMPLETE")
    hour = {"type": "OS::Heat::TestResource", "properties": {"action_wait_secs": {"create": 3600}}}
    slow = {**PAIR, "resources": {**PAIR["resources"], "slow": hour}}
    tree.client.update_stack(
        tree.name, {"template": hot({"P": pair("x")}), "files": {"pair.yaml": json.dumps(slow)}}
    )
    tree.await_resource(tree.nested("P"), "slow", "CREATE_IN_PROGRESS")

    tree.update({"P": pair("y")}, files=FILES)

    assert tree.values() == ["y", "y"]


def test_suspend_resume_and_check_walk_the_tree(tree):
    tree.create({"P": pair("x")}, files=FILES)

    for action, state in (
        ("suspend", "SUSPEND_COMPLETE"),
        ("resume", "RESUME_COMPLETE"),
        ("check", "CHECK_COMPLETE"),
    ):
        tree.client.act(tree.name, action)
        tree.await_state(state)
        assert tree.nested_state("P") == state


def test_an_abandoned_tree_leaves_everything_there(tree):
    tree.create({"P": pair("x")}, files=FILES)
    nested = tree.nested("P")
    found = tree.owned()

    tree.client.abandon_stack(tree.name)
    tree.await_state(None)

    assert tree.owned() == found
    with pytest.raises(ClientError):
        tree.client.update_stack(nested, {"template": hot({})})
    for each in found:
        tree.cloud.vanish(each["id"])


def test_an_environment_names_the_template_behind_a_type(tree):
    registry = {"My::Pair": "pair.yaml", "resources": {"P": {"A": {"My::Server": "OS::Heat::None"}}}}
    tree.create(
        {"P": {"type": "My::Pair", "properties": {"value": "x"}}},
        environment={"resource_registry": registry},
        files=FILES,
    )

    assert tree.values() == ["x", "x"]
    assert tree.client.show_resource(tree.name, "P")["resource_type"] == "My::Pair"


def test_a_template_may_use_the_type_it_stands_for(tree):
    outputs = {name: {"value": {"get_attr": ["real", name]}} for name in ("value", "name", "id")}
    wrapped = hot({"real": server({"get_param": "value"})}, outputs, {"value": {"type": "string"}})

    tree.create(
        {"S": server("x")},
        environment={"resource_registry": {"Fake::Cloud::Server": "wrapped.yaml"}},
        files={"wrapped.yaml": json.dumps(wrapped)},
    )

    assert tree.values() == ["x"]


def test_templates_nest_three_deep(tree):
    outer = hot(
        {"inner": {"type": "pair.yaml", "properties": {"value": {"get_param": "value"}}}},
        {"told": {"value": {"get_attr": ["inner", "told"]}}},
        {"value": {"type": "string"}},
    )
    tree.create(
        {"O": {"type": "outer.yaml", "properties": {"value": "deep"}}},
        outputs={"told": {"value": {"get_attr": ["O", "told"]}}},
        files={**FILES, "outer.yaml": json.dumps(outer)},
    )

    assert tree.values() == ["deep", "deep"]
    assert tree.outputs() == {"told": "deep"}


@pytest.mark.parametrize(
    ("resources", "files", "complaint"),
    [
        ({"P": pair("x")}, {}, "There is no file pair.yaml"),
        ({"P": {"type": "pair.yaml"}}, FILES, "resources.P.properties.value"),
        ({"P": pair("x", other=1)}, FILES, "other"),
        ({"P": pair("x"), "C": server({"get_attr": ["P", "nothing"]})}, FILES, "nothing"),
        ({"P": pair("x")}, {"pair.yaml": "no template"}, "In pair.yaml"),
        (
            {"P": {"type": "pair.yaml"}},
            {"pair.yaml": json.dumps(hot({"A": {"type": "No::Such"}}))},
            "In pair.yaml: resources.A.type: There is no resource type No::Such",
        ),
    ],
)
def test_mistakes_below_are_told_before_anything_is_made(tree, resources, files, complaint):
    with pytest.raises(ClientError) as caught:
        tree.begin(resources, files=files)

    assert caught.value.status == 400
    assert complaint in str(caught.value)
    assert tree.state() is None


def test_a_template_that_includes_itself_comes_to_an_end(tree):
    endless = hot({"again": {"type": "endless.yaml"}})

    tree.begin({"E": {"type": "endless.yaml"}}, files={"endless.yaml": json.dumps(endless)})
    tree.await_failure("CREATE_FAILED")

    assert "Recursion depth exceeds 5." in tree.client.show_stack(tree.name)["stack_status_reason"]


def test_a_template_below_may_ask_of_the_resource_it_makes_up(tree):
    asking = hot({"A": server({"list_join": ["", [{"resource_facade": "deletion_policy"}]]})})
    tree.create({"P": {"type": "asking.yaml"}}, files={"asking.yaml": json.dumps(asking)})

    assert tree.values() == ["Delete"]


def test_validation_tells_what_the_templates_below_take(tree):
    outer = hot({"inner": pair("x")}, parameters={"size": {"type": "number"}})
    files = {**FILES, "outer.yaml": json.dumps(outer)}
    template = hot({"O": {"type": "outer.yaml", "properties": {"size": 1}}})

    nested = tree.client.validate({"template": template, "files": files}, show_nested=True)[
        "NestedParameters"
    ]

    assert nested["O"]["Type"] == "outer.yaml"
    assert nested["O"]["Parameters"]["size"]["Type"] == "Number"
    assert nested["O"]["NestedParameters"]["inner"]["Parameters"].keys() == {"value", "size"}


def test_a_file_that_gains_a_parameter_is_given_it_by_the_same_update(tree):
    single = hot({"A": server({"get_param": "value"})}, None, {"value": {"type": "string"}})
    double = hot(
        {"A": server({"get_param": "value"}), "B": server({"get_param": "second"})},
        None,
        {"value": {"type": "string"}, "second": {"type": "string"}},
    )
    tree.create({"P": pair("x")}, files={"pair.yaml": json.dumps(single)})

    tree.update({"P": pair("x", second="y")}, files={"pair.yaml": json.dumps(double)})
    assert tree.values() == ["x", "y"]

    tree.update({"P": pair("z")}, files={"pair.yaml": json.dumps(single)})
    assert tree.values() == ["z"]


FACADE = hot({}, {"told": {"value": "noop"}}, {"one": {"type": "string"}, "two": {"type": "number"}})
TAKEN = {"one": {"type": "string"}, "two": {"type": "number"}}


@pytest.mark.parametrize(
    ("parameters", "outputs", "wrong"),
    [
        (
            {"one": {"type": "string"}},
            FACADE["outputs"],
            "Required property two for facade My::Thing missing in provider",
        ),
        (
            {**TAKEN, "two": {"type": "string"}},
            FACADE["outputs"],
            "Property two type mismatch between facade My::Thing (Number) and provider (String)",
        ),
        (
            {**TAKEN, "three": {"type": "string"}},
            FACADE["outputs"],
            "Provider requires property three unknown in facade My::Thing",
        ),
        (TAKEN, None, "Attribute told for facade My::Thing missing in provider"),
        (TAKEN, FACADE["outputs"], None),
    ],
)
def test_a_template_takes_and_gives_all_that_the_type_does_it_stands_in_for(tree, parameters, outputs, wrong):
    files = {
        "facade.yaml": json.dumps(FACADE),
        "provider.yaml": json.dumps(hot({"A": server({"get_param": "one"})}, outputs, parameters)),
    }
    registry = {"My::Thing": "facade.yaml", "resources": {"T": {"My::Thing": "provider.yaml"}}}
    resources = {"T": {"type": "My::Thing", "properties": {"one": "x", "two": 2}}}
    body = {
        "outputs": {"told": {"value": {"get_attr": ["T", "told"]}}},
        "files": files,
        "environment": {"resource_registry": registry},
    }

    if wrong is None:
        tree.create(resources, **body)
        assert tree.values() == ["x"]
    else:
        with pytest.raises(ClientError) as refused:
            tree.begin(resources, **body)
        assert (refused.value.status, str(refused.value)) == (400, wrong)


def test_a_template_cannot_stand_in_for_a_type_that_tells_more(tree):
    body = {
        "files": {"provider.yaml": json.dumps(hot({"A": server("x")}))},
        "environment": {"resource_registry": {"OS::Heat::RandomString": "provider.yaml"}},
    }

    with pytest.raises(ClientError) as refused:
        tree.begin({"T": {"type": "OS::Heat::RandomString"}}, **body)

    assert str(refused.value) == "Attribute value for facade OS::Heat::RandomString missing in provider"


def test_a_failure_far_below_is_told_by_one_path(tree):
    oops = {"type": "OS::Heat::TestResource", "properties": {"fail": True}}
    files = {
        "inner.yaml": json.dumps(hot({"oops": oops})),
        "outer.yaml": json.dumps(hot({"inner": {"type": "inner.yaml"}})),
    }

    tree.begin({"victim": {"type": "outer.yaml"}}, files=files)
    tree.await_failure("CREATE_FAILED")

    what = "ValueError: resources.victim.resources.inner.resources.oops: Test Resource failed oops"
    assert tree.client.show_stack(tree.name)["stack_status_reason"] == f"Resource CREATE failed: {what}"
    assert tree.client.show_resource(tree.name, "victim")["resource_status_reason"] == what


def test_a_secret_inside_is_told_to_who_refers_to_it_and_shown_to_nobody_else(tree):
    files = {"secret.yaml": json.dumps(hot({"word": {"type": "OS::Heat::RandomString"}}))}
    inner = {"get_attr": ["S", "resource.word", "value"]}
    tree.create(
        {"S": {"type": "secret.yaml"}, "C": server(inner)},
        outputs={"word": {"value": inner}, "by_name": {"value": {"get_attr": ["S", "resource.word.value"]}}},
        files=files,
    )

    (word,) = tree.values()
    assert len(word) == 32
    assert tree.outputs() == {"word": word, "by_name": word}
    shown = [tree.client.show_resource(tree.name, name) for name in ("S", "C")]
    assert word not in json.dumps([*shown, tree.client.list_events(tree.name)])


def test_an_update_may_take_away_what_an_output_tells_of_a_file_that_is_being_changed(tree):
    properties = {"action_wait_secs": {"update": 3600}, "value": {"get_param": "value"}}
    slow = {"type": "OS::Heat::TestResource", "properties": properties}
    takes = {"value": {"type": "string"}}
    given = {"properties": {"value": {"get_param": "value"}}}
    outer = hot(
        {"inner": {"type": "inner.yaml", **given}}, {"inner": {"value": {"get_resource": "inner"}}}, takes
    )
    files = {"outer.yaml": json.dumps(outer), "inner.yaml": json.dumps(hot({"slow": slow}, None, takes))}
    outputs = {"inner": {"value": {"get_attr": ["O", "inner"]}}}

    def wanted(value):
        return {"O": {"type": "outer.yaml", "properties": {"value": value}}}

    tree.create(wanted("first"), outputs=outputs, files=files)
    inner = tree.outputs()["inner"].rpartition("/")[2]
    tree.client.update_stack(tree.name, {"template": hot(wanted("second"), outputs), "files": files})
    tree.await_resource(inner, "slow", "UPDATE_IN_PROGRESS")

    tree.update(wanted("third"), outputs=outputs, files={"outer.yaml": json.dumps(hot({}, None, takes))})

    assert tree.outputs() == {"inner": None}
    assert tree.client.show_stack(inner)["stack_status"] == "DELETE_COMPLETE"


BROKEN = hot(
    {"A": server("a")},
    {
        "told": {"value": {"get_attr": ["A", "value"]}},
        "lost": {"value": {"list_join": ["-", [{"get_param": "nobody"}, {"get_attr": ["A", "value"]}]]}},
        "late": {"value": {"list_join": ["", {"get_attr": ["A", "value"]}]}},
    },
)


def test_an_output_of_it_with_a_mistake_in_it_is_told_as_one_of_the_parent(tree):
    """A stack is made all the same; what was known of the output before is not shown."""
    outputs = {name: {"value": {"get_attr": ["P", name]}} for name in BROKEN["outputs"]}
    whole = {**BROKEN, "outputs": {**BROKEN["outputs"], "lost": {"value": "here"}}}
    resources = {"P": {"type": "broken.yaml"}, "C": server({"get_attr": ["P", "lost"]})}
    tree.create(resources, outputs=outputs, files={"broken.yaml": json.dumps(whole)})
    assert (tree.outputs()["lost"], tree.values()) == ("here", ["a", "here"])

    without = {"P": resources["P"]}
    tree.update(without, outputs=outputs, files={"broken.yaml": json.dumps(BROKEN)})

    fine, lost, late = (tree.client.show_output(tree.name, name) for name in ("told", "lost", "late"))
    assert (fine["output_value"], "output_error" in fine) == ("a", False)
    assert lost["output_value"] is None
    assert lost["output_error"] == "Error in P output lost: The Parameter (nobody) was not provided."
    assert late["output_value"] is None
    assert late["output_error"].startswith("Error in P output late: list_join")
