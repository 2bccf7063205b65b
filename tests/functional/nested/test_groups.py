# SPDX-License-Identifier: Apache-2.0
"""Groups: members that are alike, their attributes, and in which order they come and go."""

from __future__ import annotations

import json

import pytest

from heatconv.client.http import ClientError
from heatconv.testing.failures import FailureRule
from tests.functional.nested.conftest import SERVER, Json, hot, server

PAIR = hot(
    {"A": server({"get_param": "value"}), "B": server({"get_attr": ["A", "value"]})},
    {"told": {"value": {"get_attr": ["B", "value"]}}},
    {"value": {"type": "string"}},
)


def group(count, value="v%index%", *, update_policy=None, more=None, **properties):
    """Return a group of servers."""
    member = {"type": SERVER, "properties": {"value": value, **(more or {})}}
    snippet = {
        "type": "OS::Heat::ResourceGroup",
        "properties": {"count": count, "resource_def": member, **properties},
    }
    return snippet | ({"update_policy": update_policy} if update_policy else {})


def names(tree, name="G"):
    return sorted(each["resource_name"] for each in tree.client.list_resources(tree.nested(name)))


def attribute(*path):
    return {"value": {"get_attr": ["G", *path]}}


def test_a_group_has_as_many_members_as_are_counted(tree):
    tree.create({"G": group(3)})

    assert tree.values() == ["v0", "v1", "v2"]
    assert names(tree) == ["0", "1", "2"]


def test_what_is_told_of_members(tree):
    tree.create(
        {"G": group(2), "C": server({"list_join": [",", {"get_attr": ["G", "value"]}]})},
        outputs={
            "refs": attribute("refs"),
            "first": attribute("refs", 0),
            "map": attribute("refs_map"),
            "values": attribute("value"),
            "by_name": attribute("attributes", "value"),
            "one": attribute("resource.1.value"),
            "one_by_path": attribute("resource.1", "value"),
            "ref": attribute("resource.1"),
            "nobody": attribute("resource.7.value"),
            "removed": attribute("removed_rsrc_list"),
        },
    )

    outputs = tree.outputs()
    assert tree.values() == ["v0", "v0,v1", "v1"]
    ids = [outputs["map"]["0"], outputs["map"]["1"]]
    assert sorted(ids) == sorted(
        each["id"] for each in tree.owned() if "," not in each["properties"]["value"]
    )
    assert outputs == {
        "refs": ids,
        "first": ids[0],
        "map": {"0": ids[0], "1": ids[1]},
        "values": ["v0", "v1"],
        "by_name": {"0": "v0", "1": "v1"},
        "one": "v1",
        "one_by_path": "v1",
        "ref": ids[1],
        "nobody": None,
        "removed": [],
    }


def test_an_output_that_comes_later_is_told_too(tree):
    tree.create({"G": group(2)})

    tree.update({"G": group(2)}, outputs={"values": attribute("value"), "refs": attribute("refs")})

    outputs = tree.outputs()
    assert outputs["values"] == ["v0", "v1"]
    assert sorted(outputs["refs"]) == sorted(each["id"] for each in tree.owned())


def test_what_nobody_refers_to_is_told_to_who_asks(tree):
    inner = {"type": "pair.yaml", "properties": {"value": "v%index%"}}
    outer = {"type": "OS::Heat::ResourceGroup", "properties": {"count": 2, "resource_def": inner}}
    tree.create({"G": outer}, files={"pair.yaml": json.dumps(PAIR)})

    shown = tree.client.show_resource(tree.name, "G", ["told", "resource.1.told"])

    refs = shown["attributes"]["refs_map"]
    assert refs.keys() == {"0", "1"}
    assert shown["attributes"]["refs"] == [refs["0"], refs["1"]]
    assert shown["attributes"]["told"] == ["v0", "v1"]
    assert shown["attributes"]["resource.1.told"] == "v1"


def test_a_group_grows_and_shrinks_at_its_end(tree):
    tree.create({"G": group(2)})
    tree.calls()

    tree.update({"G": group(4)})
    grown = tree.calls()
    tree.update({"G": group(1)})

    assert sorted(grown) == ["create 2", "create 3"]
    assert sorted(tree.calls()) == ["delete 1", "delete 2", "delete 3"]
    assert tree.values() == ["v0"]


def test_a_group_may_be_empty(tree):
    tree.create({"G": group(0)}, outputs={"refs": attribute("refs")})
    assert tree.outputs() == {"refs": []}

    tree.update({"G": group(1)}, outputs={"refs": attribute("refs")})

    assert len(tree.outputs()["refs"]) == 1


def test_policies_say_which_members_go_first(tree):
    tree.create({"G": group(3)}, outputs={"map": attribute("refs_map")})
    of_1 = tree.outputs()["map"]["1"]

    tree.update({"G": group(2, removal_policies=[{"resource_list": ["0", of_1]}])})

    assert names(tree) == ["2", "3"]
    tree.update({"G": group(2)}, outputs={"removed": attribute("removed_rsrc_list")})
    assert names(tree) == ["2", "3"]
    assert tree.outputs() == {"removed": ["0", "1"]}


def test_names_can_be_used_again_where_policies_are_all_that_counts(tree):
    tree.create({"G": group(2)}, outputs={"map": attribute("refs_map")})
    of_1 = tree.outputs()["map"]["1"]
    policies = {"removal_policies": [{"resource_list": [of_1]}], "removal_policies_mode": "update"}

    tree.update({"G": group(2, **policies)})
    assert names(tree) == ["0", "2"]
    tree.update({"G": group(3, **policies)})
    assert names(tree) == ["0", "2", "3"]
    tree.update({"G": group(2, removal_policies_mode="update")})

    assert names(tree) == ["0", "1"]


def test_members_are_made_in_batches(tree):
    policy = {"batch_create": {"max_batch_size": 2, "pause_time": 0.1}}

    tree.create({"G": group(5, update_policy=policy)}, outputs={"values": attribute("value")})

    calls = tree.calls()
    assert [sorted(calls[:2]), sorted(calls[2:4]), calls[4:]] == [
        ["create 0", "create 1"],
        ["create 2", "create 3"],
        ["create 4"],
    ]
    assert tree.outputs() == {"values": ["v0", "v1", "v2", "v3", "v4"]}


def test_members_are_changed_in_batches(tree):
    policy = {"rolling_update": {"max_batch_size": 2, "pause_time": 0.1}}
    tree.create({"G": group(5)})
    tree.calls()

    tree.update({"G": group(5, "w%index%", update_policy=policy)})

    calls = tree.calls()
    assert [sorted(calls[:2]), sorted(calls[2:4]), calls[4:]] == [
        ["update 0", "update 1"],
        ["update 2", "update 3"],
        ["update 4"],
    ]
    assert tree.values() == ["w0", "w1", "w2", "w3", "w4"]


def test_others_stand_in_where_so_many_have_to_be_in_service(tree):
    policy = {"rolling_update": {"min_in_service": 2, "max_batch_size": 1}}
    tree.create({"G": group(2)})
    tree.calls()

    tree.update({"G": group(2, "w%index%", update_policy=policy)}, outputs={"values": attribute("value")})

    assert tree.calls() == ["create 2", "update 0", "update 1", "delete 2"]
    assert tree.outputs() == {"values": ["w0", "w1"]}


def test_only_what_changes_is_done_in_batches(tree):
    policy = {"rolling_update": {"max_batch_size": 1, "pause_time": 3600}}
    tree.create({"G": group(1, update_policy=policy)})

    tree.update({"G": group(3, update_policy=policy)})

    assert tree.values() == ["v0", "v1", "v2"]


def test_a_newer_wish_does_not_wait_for_the_pause_of_an_older_one(tree):
    policy = {"rolling_update": {"max_batch_size": 1, "pause_time": 3600}}
    tree.create({"G": group(2, update_policy=policy)})
    tree.client.update_stack(tree.name, {"template": hot({"G": group(2, "w%index%", update_policy=policy)})})
    while tree.values() != ["v1", "w0"]:
        pass

    tree.update({"G": group(2, "x%index%")})

    assert tree.values() == ["x0", "x1"]


def test_a_failed_member_fails_the_group_and_an_update_mends_it(tree):
    tree.cloud.fail(FailureRule(op="create", owner="*/1", status=400))
    tree.begin({"G": group(2)})
    tree.await_failure("CREATE_FAILED")
    reason = tree.client.show_stack(tree.name)["stack_status_reason"]

    tree.update({"G": group(2)})

    assert "resources.G" in reason
    assert tree.values() == ["v0", "v1"]


def test_members_may_be_templates(tree):
    definition = {"type": "pair.yaml", "properties": {"value": "v%index%"}}
    resources = {
        "G": {"type": "OS::Heat::ResourceGroup", "properties": {"count": 2, "resource_def": definition}}
    }

    tree.create(resources, files={"pair.yaml": json.dumps(PAIR)}, outputs={"told": attribute("told")})

    assert tree.values() == ["v0", "v0", "v1", "v1"]
    assert tree.outputs() == {"told": ["v0", "v1"]}


def test_members_may_become_another_file_in_batches(tree):
    single = json.dumps(hot({"A": server("x")}))
    members = {"count": 4, "resource_def": {"type": "one.yaml"}}
    rolling = {"rolling_update": {"max_batch_size": 1, "min_in_service": 2}}
    old = {"type": "OS::Heat::ResourceGroup", "properties": members, "update_policy": rolling}
    new = {**old, "properties": {**members, "resource_def": {"type": "two.yaml"}}}
    tree.create({"G": old}, files={"one.yaml": single})

    tree.update({"G": new}, files={"two.yaml": single.replace("x", "y")})

    assert tree.values() == ["y"] * 4
    assert set(tree.client.get_files(tree.nested("G"))) == {"two.yaml"}


def test_a_hidden_value_stays_hidden_in_the_nested_stack(tree):
    secret = "opensesame"
    template = hot(
        {"G": group(1, {"get_param": "password"})},
        parameters={"password": {"type": "string", "hidden": True}},
    )
    tree.client.create_stack(
        {"stack_name": tree.name, "template": template, "parameters": {"password": secret}}
    )
    tree.await_state("CREATE_COMPLETE")

    nested = tree.nested("G")
    assert tree.values() == [secret]
    assert secret not in json.dumps(tree.client.get_template(nested))
    assert secret not in json.dumps(tree.client.get_environment(nested))
    assert secret not in json.dumps(tree.client.show_stack(nested))


def test_a_delete_deletes_the_members(tree):
    tree.create({"G": group(3)})

    tree.client.delete_stack(tree.name)
    tree.await_state(None)

    assert tree.owned() == []


@pytest.mark.parametrize(
    ("snippet", "wrong"),
    [
        (group(-1), "resources.G.properties.count"),
        (group(1, removal_policies_mode="forget"), "removal_policies_mode"),
        (group(1, update_policy={"rolling_update": {"max_batch_size": 0}}), "max_batch_size"),
        ({"type": "OS::Heat::ResourceGroup"}, "resources.G.properties.resource_def"),
    ],
)
def test_mistakes_are_told_before_anything_is_made(tree, snippet, wrong):
    with pytest.raises(ClientError) as caught:
        tree.begin({"G": snippet})

    assert caught.value.status == 400
    assert wrong in str(caught.value)


def chain(*types, **properties):
    properties.setdefault("resource_properties", {"value": "v"})
    return {"type": "OS::Heat::ResourceChain", "properties": {"resources": list(types), **properties}}


def test_a_chain_is_made_one_after_another(tree):
    tree.create(
        {"G": chain(SERVER, SERVER, SERVER)},
        outputs={
            "values": attribute("value"),
            "by_name": attribute("attributes", "value"),
            "refs": attribute("refs"),
        },
    )

    outputs = tree.outputs()
    assert tree.calls() == ["create 0", "create 1", "create 2"]
    assert outputs["values"] == ["v", "v", "v"]
    assert outputs["by_name"] == {"0": "v", "1": "v", "2": "v"}
    assert sorted(outputs["refs"]) == sorted(each["id"] for each in tree.owned())


def test_a_chain_grows_and_shrinks(tree):
    tree.create({"G": chain(SERVER, concurrent=True)})

    tree.update({"G": chain(SERVER, SERVER, SERVER, concurrent=True)})
    assert len(tree.owned()) == 3
    tree.update({"G": chain(SERVER, "OS::Heat::None", concurrent=True)})

    assert len(tree.owned()) == 1
    assert names(tree) == ["0", "1"]


def deployments(servers, **more):
    config = {"type": "OS::Heat::SoftwareConfig", "properties": {"config": "true"}}
    return {
        "config": config,
        "G": {
            "type": "OS::Heat::SoftwareDeploymentGroup",
            "properties": {"config": {"get_resource": "config"}, "servers": servers, **more},
        },
    }


@pytest.mark.parametrize("kind", ["Software", "Structured"])
def test_a_group_of_deployments_goes_on_by_its_newer_name(tree, kind):
    def named(name, servers):
        made = deployments(servers, signal_transport="NO_SIGNAL")
        made["config"] = {"type": f"OS::Heat::{kind}Config", "properties": {"config": {}}}
        if kind == "Software":
            made["config"]["properties"]["config"] = "true"
        return made | {"G": {**made["G"], "type": f"OS::Heat::{kind}{name}"}}

    def shown():
        return [each["resource_type"] for each in tree.client.list_resources(tree.name)]

    tree.create(named("Deployments", {"a": "s1"}))
    group = tree.nested("G")
    new = named("DeploymentGroup", {"a": "s1"})
    preview = tree.client.preview_update(tree.name, {"template": hot(new)})
    tree.update(new)
    assert tree.nested("G") == group
    assert f"OS::Heat::{kind}DeploymentGroup" in shown()
    assert [each["resource_name"] for each in preview["replaced"]] == []
    tree.update(named("DeploymentGroup", {"a": "s1", "b": "s2"}))
    assert (tree.nested("G"), names(tree)) == (group, ["a", "b"])
    tree.update(named("Deployments", {"a": "s1", "b": "s2"}))
    assert tree.nested("G") != group


def answer(tree, server, said):
    """Let a server answer for the run that it was given."""
    runs: list[Json] = []
    while not runs:
        found = tree.client.list_software_deployments({"server_id": server})
        runs = [each for each in found if each["status"] == "IN_PROGRESS"]
    outputs = {"deploy_stdout": said, "deploy_status_code": 0}
    tree.client.update_software_deployment(runs[0]["id"], {"output_values": outputs, "status": "COMPLETE"})


def test_a_config_is_deployed_on_some_servers(tree):
    first, second = f"{tree.name}-1", f"{tree.name}-2"
    tree.begin(
        deployments({"a": first, "b": second}),
        outputs={"said": attribute("deploy_stdouts"), "by_b": attribute("deploy_stdouts", "b")},
    )
    answer(tree, first, "one")
    answer(tree, second, "two")
    tree.await_state("CREATE_COMPLETE")

    assert tree.outputs() == {"said": {"a": "one", "b": "two"}, "by_b": "two"}
    assert names(tree) == ["a", "b"]


def test_servers_come_and_go(tree):
    first, second = f"{tree.name}-1", f"{tree.name}-2"
    silent = {"signal_transport": "NO_SIGNAL"}
    tree.create(deployments({"a": first}, **silent))

    tree.update(deployments({"b": second}, **silent))

    assert names(tree) == ["b"]
    assert tree.client.list_software_deployments({"server_id": first}) == []
