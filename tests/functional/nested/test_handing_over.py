# SPDX-License-Identifier: Apache-2.0
"""A tree that was abandoned is adopted: the same things stand behind it, and nothing is made twice."""

from __future__ import annotations

import json
from contextlib import closing

import pytest

from tests.functional.nested.conftest import Tree, hot, server

PAIR = hot(
    {"A": server({"get_param": "value"}), "B": server("b", uses=[{"get_resource": "A"}])},
    {"told": {"value": {"get_attr": ["B", "value"]}}},
    {"value": {"type": "string"}},
)
FILES = {"pair.yaml": json.dumps(PAIR)}


def pair(value):
    return {"type": "pair.yaml", "properties": {"value": value}}


def group(count, member=None):
    member = member or server("%index%")
    return {"type": "OS::Heat::ResourceGroup", "properties": {"count": count, "resource_def": member}}


def scaled(size):
    return {
        "type": "OS::Heat::AutoScalingGroup",
        "properties": {
            "min_size": 0,
            "max_size": 9,
            "desired_capacity": size,
            "resource": server("scaled"),
        },
    }


ALL = {
    "P": pair("x"),
    "G": group(2, pair("%index%")),
    "S": scaled(3),
    "C": server({"get_attr": ["P", "told"]}),
}


@pytest.fixture
def heir(endpoint, cloud_url):
    made = Tree(endpoint, cloud_url)
    yield made
    made.close()


def physical_ids(tree):
    """Return what stands behind each resource that is no stack, by its path."""
    listed = tree.client.list_resources(tree.name, {"nested_depth": 3})
    return sorted(
        each["physical_resource_id"]
        for each in listed
        if not any(link["rel"] == "nested" for link in each["links"])
    )


def begin_adoption(heir, data, **body):
    heir.client.create_stack({"stack_name": heir.name, "adopt_stack_data": json.dumps(data), **body})


def abandon(tree):
    data = tree.client.abandon_stack(tree.name)
    tree.await_state(None)
    return data


def test_what_a_tree_leaves_has_the_stacks_below(tree):
    tree.create({"P": pair("x"), "G": group(1, pair("y"))}, files=FILES)
    nested = tree.nested("P")

    data = tree.client.export_stack(tree.name)

    assert data["resources"]["P"]["id"] == nested
    assert data["resources"]["P"]["type"] == "pair.yaml"
    assert data["resources"]["P"]["resources"].keys() == {"A", "B"}
    assert data["resources"]["G"]["resources"]["0"]["resources"].keys() == {"A", "B"}
    assert tree.state() == "CREATE_COMPLETE"


def test_a_tree_is_adopted_as_it_was(tree, heir):
    tree.create(ALL, files=FILES)
    before, things = physical_ids(tree), tree.owned()
    data = abandon(tree)
    tree.calls()

    begin_adoption(heir, data)
    heir.await_state("ADOPT_COMPLETE")

    assert physical_ids(heir) == before
    assert heir.nested_state("P") == "ADOPT_COMPLETE"
    assert tree.calls() == heir.calls() == []
    heir.update(ALL, files=FILES)
    assert tree.calls() == heir.calls() == []
    heir.update({"P": pair("new"), "G": group(1, pair("%index%")), "S": scaled(4)}, files=FILES)
    assert {found["id"] for found in heir.owned()}.isdisjoint(found["id"] for found in things)
    assert sorted(call.split()[0] for call in heir.calls() + tree.calls()) == [
        "create",
        "delete",
        "delete",
        "delete",
        "update",
    ]


def test_an_adopted_tree_is_deleted_with_all_that_is_in_it(tree, heir):
    tree.create(ALL, files=FILES)
    begin_adoption(heir, abandon(tree))
    heir.await_state("ADOPT_COMPLETE")

    heir.client.delete_stack(heir.name)
    heir.await_state(None)

    assert tree.owned() == []


def test_a_failed_adoption_leaves_a_tree_as_it_was(tree, heir):
    tree.create(ALL, files=FILES)
    things = tree.owned()
    data = abandon(tree)
    del data["resources"]["G"]["resources"]["1"]["resources"]["B"]["resource_id"]

    begin_adoption(heir, data, disable_rollback=False)
    heir.await_state("ROLLBACK_COMPLETE")

    assert tree.owned() == things
    assert heir.client.list_resources(heir.name, {"nested_depth": 3}) == []
    there = [each["stack_name"] for each in heir.client.list_stacks({"show_nested": "true"})]
    assert [name for name in there if name.startswith(heir.name)] == [heir.name]
    for each in things:
        tree.cloud.vanish(each["id"])


def test_a_group_of_random_names_is_adopted_from_its_members_alone(tree, heir):
    tree.create({"S": scaled(3)})
    before = physical_ids(tree)
    data = abandon(tree)
    data["resources"]["S"].pop("metadata")

    begin_adoption(heir, data)
    heir.await_state("ADOPT_COMPLETE")

    assert physical_ids(heir) == before


def test_an_adoption_without_data_of_what_is_below_fails(tree, heir):
    tree.create({"P": pair("x")}, files=FILES)
    things = tree.owned()
    data = abandon(tree)
    del data["resources"]["P"]["resources"]

    begin_adoption(heir, data)
    heir.await_failure("ADOPT_FAILED")

    assert "P cannot be adopted" in heir.client.show_stack(heir.name)["stack_status_reason"]
    for each in things:
        tree.cloud.vanish(each["id"])


@pytest.mark.timeout(240)
def test_a_tree_is_adopted_once_though_workers_are_killed(run_daemons, fresh_database, rabbit_url):
    handing_over = {"DEFAULT": {"enable_stack_abandon": True, "enable_stack_adopt": True}}
    daemons = run_daemons(
        database_url=fresh_database("postgresql"),
        transport_url=rabbit_url,
        engines=1,
        workers=2,
        options=handing_over,
    )
    with (
        closing(Tree(daemons.endpoint, daemons.cloud_url)) as tree,
        closing(Tree(daemons.endpoint, daemons.cloud_url)) as heir,
    ):
        tree.create({"G": group(4, pair("%index%"))}, files=FILES)
        before, data = physical_ids(tree), abandon(tree)
        tree.calls()

        begin_adoption(heir, data)
        heir.await_resource(heir.name, "G", "ADOPT_IN_PROGRESS")
        daemons.kill("worker-1")
        daemons.start("worker-1")
        daemons.kill("worker-2")
        heir.await_state("ADOPT_COMPLETE")

        assert physical_ids(heir) == before
        assert tree.calls() == heir.calls() == []
