# SPDX-License-Identifier: Apache-2.0
"""An update of a tree that is cancelled in the middle: back to what was, or stopped where it is."""

from __future__ import annotations

import json

import pytest

from tests.functional.nested.conftest import hot, server

PAIR = hot(
    {"A": server({"get_param": "value"}), "B": server({"get_attr": ["A", "value"]})},
    parameters={"value": {"type": "string"}},
)
HOUR = {"type": "OS::Heat::TestResource", "properties": {"action_wait_secs": {"create": 3600}}}
SLOW = {**PAIR, "resources": {**PAIR["resources"], "slow": HOUR}}
FILES, SLOW_FILES = ({"pair.yaml": json.dumps(inner)} for inner in (PAIR, SLOW))


def pair(value):
    return {"type": "pair.yaml", "properties": {"value": value}}


def group(value):
    properties = {"count": 2, "resource_def": pair(value)}
    return {"type": "OS::Heat::ResourceGroup", "properties": properties}


@pytest.fixture(params=["nested", "group"])
def of(request):
    """Return what makes a tree of a value."""
    return pair if request.param == "nested" else group


@pytest.fixture
def under_way(tree, of):
    """Return the ids of the nested stacks in a tree whose update goes on below for an hour."""
    tree.create({"P": of("x"), "C": server("c")}, files=FILES)
    resources = {"P": of("y"), "C": server("other", uses=[{"get_resource": "P"}])}
    tree.client.update_stack(tree.name, {"template": hot(resources), "files": SLOW_FILES})
    stacks = [tree.nested("P")]
    if of is group:
        members: dict[str, str | None] = {}
        while len(members) < 2 or None in members.values():
            listed = tree.client.list_resources(stacks[0])
            members = {each["resource_name"]: each["physical_resource_id"] or None for each in listed}
        stacks += members.values()
    for innermost in stacks[-2:] if of is group else stacks:
        tree.await_resource(innermost, "slow", "CREATE_IN_PROGRESS")
    return stacks


def states(tree, stacks):
    return {tree.client.show_stack(each)["stack_status"] for each in stacks}


def test_a_cancelled_update_is_undone_in_the_whole_tree(tree, of, under_way):
    before = len(tree.owned())

    tree.client.act(tree.name, "cancel_update")
    tree.await_state("ROLLBACK_COMPLETE")

    assert set(tree.values()) == {"x", "c"}
    assert len(tree.owned()) == before
    assert states(tree, under_way) == {"UPDATE_COMPLETE"}
    listed = tree.client.list_resources(tree.name, {"nested_depth": 3})
    assert "slow" not in {each["resource_name"] for each in listed}
    assert {each["resource_status"].rpartition("_")[2] for each in listed} == {"COMPLETE"}


def test_an_update_that_is_stopped_stops_in_the_whole_tree(tree, of, under_way):
    tree.client.act(tree.name, "cancel_without_rollback")
    tree.await_failure("UPDATE_FAILED")
    assert states(tree, under_way) == {"UPDATE_FAILED"}
    tree.await_resource(tree.name, "P", "UPDATE_FAILED")

    reasons = {tree.client.show_stack(each)["stack_status_reason"] for each in (tree.name, *under_way)}
    assert reasons == {"Stack UPDATE cancelled"}
    assert "c" in tree.values()
    tree.update({"P": of("z"), "C": server("c")}, files=FILES)
    assert set(tree.values()) == {"z", "c"}
    assert states(tree, under_way) == {"UPDATE_COMPLETE"}
