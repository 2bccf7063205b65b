# SPDX-License-Identifier: Apache-2.0
"""Groups of servers that are made of a launch configuration."""

from __future__ import annotations

import json
import time

import pytest

from heatconv.client.http import ClientError
from tests.functional.nested.conftest import TICK, hot, server

#: What stands for a server: it takes what the launch configuration and the group give to it.
MEMBER = hot(
    {
        "S": server(
            {
                "list_join": [
                    " ",
                    [{"get_param": "ImageId"}, {"get_param": "InstanceType"}, {"get_param": "UserData"}],
                ]
            }
        )
    },
    {"PublicIp": {"value": {"get_attr": ["S", "value"]}}},
    {
        "ImageId": {"type": "string"},
        "InstanceType": {"type": "string", "default": "small"},
        "UserData": {"type": "string", "default": ""},
        "Tags": {"type": "json"},
    },
)
SCALED = {
    "environment": {"resource_registry": {"OS::Heat::ScaledResource": "member.yaml"}},
    "files": {"member.yaml": json.dumps(MEMBER)},
}


def configuration(image="linux", **properties):
    return {
        "type": "AWS::AutoScaling::LaunchConfiguration",
        "properties": {"ImageId": image, "InstanceType": "big", **properties},
    }


def group(size, *, policy=None, **properties):
    return {
        "type": "OS::Heat::InstanceGroup",
        "properties": {
            "AvailabilityZones": ["nova"],
            "LaunchConfigurationName": {"get_resource": "L"},
            "Size": size,
            **properties,
        },
        **({"update_policy": {"RollingUpdate": policy}} if policy else {}),
    }


def member_names(tree):
    return {each["resource_name"] for each in tree.client.list_resources(tree.nested("G"))}


def test_members_are_made_of_the_launch_configuration(tree):
    addresses = {"list": {"value": {"get_attr": ["G", "InstanceList"]}}}
    tree.create({"L": configuration(UserData="boot"), "G": group(3)}, outputs=addresses, **SCALED)

    assert tree.values() == ["linux big boot"] * 3
    assert tree.outputs() == {"list": ",".join(["linux big boot"] * 3)}
    shown = tree.client.show_resource(tree.name, "G")
    assert shown["attributes"]["InstanceList"] == tree.outputs()["list"]


def test_members_have_the_tags_of_the_group(tree):
    tags = [{"Key": "who", "Value": "me"}]
    tree.create({"L": configuration(), "G": group(1, Tags=tags)}, **SCALED)

    (member,) = tree.client.list_resources(tree.nested("G"))
    parameters = tree.client.show_stack(member["physical_resource_id"])["parameters"]

    given = {tag["Key"]: tag["Value"] for tag in json.loads(parameters["Tags"])}
    assert given["who"] == "me"
    assert given["metering.groupname"].startswith(f"{tree.name}-G-")


def test_a_member_that_takes_tags_as_texts_gets_them_as_texts(tree):
    texts = {**MEMBER, "parameters": {**MEMBER["parameters"], "Tags": {"type": "comma_delimited_list"}}}
    tags = [{"Key": "who", "Value": "me"}]
    scaled = {**SCALED, "files": {"member.yaml": json.dumps(texts)}}
    tree.create({"L": configuration(), "G": group(1, Tags=tags)}, **scaled)

    (member,) = tree.client.list_resources(tree.nested("G"))
    parameters = tree.client.show_stack(member["physical_resource_id"])["parameters"]

    assert parameters["Tags"].startswith(
        ".member.0.Key=who,.member.0.Value=me,.member.1.Key=metering.groupname"
    )


def test_a_group_grows_and_its_oldest_go_first(tree):
    tree.create({"L": configuration(), "G": group(1)}, **SCALED)
    first = member_names(tree)

    tree.update({"L": configuration(), "G": group(3)}, **SCALED)
    grown = member_names(tree)
    tree.update({"L": configuration(), "G": group(2)}, **SCALED)

    assert first < grown
    assert member_names(tree) == grown - first
    assert len(tree.owned()) == 2


def test_another_configuration_changes_members_in_batches(tree):
    policy = {"MaxBatchSize": "1", "PauseTime": "PT1S"}
    tree.create({"L": configuration(), "G": group(3, policy=policy)}, **SCALED)
    seen = []

    resources = {"L": configuration("bsd"), "G": group(3, policy=policy)}
    tree.client.update_stack(tree.name, {"template": hot(resources), **SCALED})
    while tree.state() != "UPDATE_COMPLETE":
        seen.append(sum(value.startswith("bsd") for value in tree.values()))
        time.sleep(TICK)

    assert set(seen) >= {1, 2}
    assert tree.values() == ["bsd big "] * 3
    assert [call for call in tree.calls() if call.startswith("delete")] == []


def test_others_stand_in_where_so_many_have_to_be_in_service(tree):
    policy = {"MaxBatchSize": 2, "MinInstancesInService": 2}
    tree.create({"L": configuration(), "G": group(2, policy=policy)}, **SCALED)
    before = member_names(tree)

    tree.update({"L": configuration("bsd"), "G": group(2, policy=policy)}, **SCALED)

    assert member_names(tree) == before
    assert tree.values() == ["bsd big "] * 2
    assert [call.split()[0] for call in tree.calls()].count("create") == 4


def test_a_hidden_value_of_a_configuration_stays_hidden(tree):
    template = hot(
        {"L": configuration(UserData={"get_param": "secret"}), "G": group(1)},
        parameters={"secret": {"type": "string", "hidden": True}},
    )
    body = {"template": template, "parameters": {"secret": "hush-hush"}, **SCALED}
    tree.client.create_stack({"stack_name": tree.name, **body})
    tree.await_state("CREATE_COMPLETE")

    assert tree.values() == ["linux big hush-hush"]
    assert "hush-hush" not in json.dumps(tree.client.get_template(tree.nested("G")))


@pytest.mark.parametrize(
    ("resources", "more", "wrong"),
    [
        ({"L": configuration(), "G": group(1)}, {}, "There is no resource type OS::Heat::ScaledResource"),
        (
            {"L": configuration(), "G": group(1, policy={"PauseTime": "PT2H"})},
            SCALED,
            "longer than an hour",
        ),
        ({"L": configuration(), "G": group(1, policy={"PauseTime": "soon"})}, SCALED, "soon"),
        ({"L": configuration(), "G": group(1, LoadBalancerNames=["x"])}, SCALED, "LoadBalancerNames"),
    ],
)
def test_mistakes_are_told_before_anything_is_made(tree, resources, more, wrong):
    with pytest.raises(ClientError, match=wrong) as refused:
        tree.begin(resources, **more)

    assert refused.value.status == 400


def test_a_configuration_that_is_only_named_is_not_found(tree):
    tree.begin({"L": configuration(), "G": group(1, LaunchConfigurationName="L")}, **SCALED)
    tree.await_failure("CREATE_FAILED")

    assert "no launch configuration L" in tree.client.show_stack(tree.name)["stack_status_reason"]
