# SPDX-License-Identifier: Apache-2.0
"""The types named AWS:: that need no cloud: groups that are scaled, stacks in stacks, wait conditions."""

from __future__ import annotations

import json
import time

import pytest
import requests

from heatconv.client.http import ClientError
from tests.functional.nested.conftest import TICK, hot, server
from tests.functional.nested.test_instance_groups import SCALED, configuration

POLICY = "AWS::AutoScaling::ScalingPolicy"


def group(minimum=1, maximum=5, **properties):
    return {
        "type": "AWS::AutoScaling::AutoScalingGroup",
        "properties": {
            "AvailabilityZones": ["nova"],
            "LaunchConfigurationName": {"get_resource": "L"},
            "MinSize": minimum,
            "MaxSize": maximum,
            **properties,
        },
    }


def policy(adjustment=1, kind="ChangeInCapacity", **properties):
    return {
        "type": POLICY,
        "properties": {
            "AutoScalingGroupName": {"get_resource": "G"},
            "ScalingAdjustment": adjustment,
            "AdjustmentType": kind,
            **properties,
        },
    }


def await_size(tree, size):
    while len(tree.values()) != size or tree.nested_state("G").endswith("IN_PROGRESS"):
        time.sleep(TICK)


def test_a_group_is_scaled_by_the_url_that_a_policy_is_referred_to_by(tree):
    outputs = {
        "up": {"value": {"get_resource": "P"}},
        "url": {"value": {"get_attr": ["P", "AlarmUrl"]}},
        "all": {"value": {"get_attr": ["G", "InstanceList"]}},
    }
    resources = {"L": configuration(), "G": group(2, DesiredCapacity=3), "P": policy(2)}
    tree.create(resources, outputs=outputs, **SCALED)
    assert tree.values() == ["linux big "] * 3

    outputs = tree.outputs()
    assert outputs["up"] == outputs["url"]
    assert requests.post(outputs["up"], timeout=60).ok
    await_size(tree, 5)

    assert tree.outputs()["all"] == ",".join(["linux big "] * 5)


@pytest.mark.parametrize(
    ("adjustment", "kind", "size"), [(4, "ExactCapacity", 4), (50, "PercentChangeInCapacity", 3)]
)
def test_a_policy_counts_as_aws_has_it(tree, adjustment, kind, size):
    resources = {"L": configuration(), "G": group(2), "P": policy(adjustment, kind)}
    tree.create(resources, **SCALED)

    tree.client.signal_resource(tree.name, "P", {})
    await_size(tree, size)


def test_members_have_the_subnet_and_the_tags_of_their_group(tree):
    member = hot(
        {"S": server({"get_param": "SubnetId"})},
        {"PublicIp": {"value": "x"}},
        {name: {"type": "string"} for name in ("ImageId", "InstanceType", "SubnetId")}
        | {"Tags": {"type": "json"}},
    )
    scaled = {**SCALED, "files": {"member.yaml": json.dumps(member)}}
    tree.create({"L": configuration(), "G": group(1, VPCZoneIdentifier=["inside"])}, **scaled)

    assert tree.values() == ["inside"]
    (made,) = tree.client.list_resources(tree.nested("G"))
    parameters = tree.client.show_stack(made["physical_resource_id"])["parameters"]
    tags = {tag["Key"]: tag["Value"] for tag in json.loads(parameters["Tags"])}
    assert tags["metering.AutoScalingGroupName"].startswith(f"{tree.name}-G-")


@pytest.mark.parametrize(
    ("properties", "complaint"),
    [
        ({"minimum": 3, "maximum": 1}, "MinSize: It must not be greater than MaxSize"),
        ({"minimum": -1}, "MinSize: It must not be less than 0"),
        ({"DesiredCapacity": 9}, "DesiredCapacity: It has to be between MinSize and MaxSize"),
        ({"VPCZoneIdentifier": ["a", "b"]}, "one subnet and no more"),
        ({"InstanceId": "a"}, "Either InstanceId or LaunchConfigurationName"),
        ({"LoadBalancerNames": ["a"]}, "register with no load balancer"),
    ],
)
def test_what_a_group_cannot_be_is_refused(tree, properties, complaint):
    with pytest.raises(ClientError, match=complaint):
        tree.begin({"L": configuration(), "G": group(**properties)}, **SCALED)


def stack(url="inner.yaml", **properties):
    return {"type": "AWS::CloudFormation::Stack", "properties": {"TemplateURL": url, **properties}}


def inner(word="inner"):
    return json.dumps(
        hot(
            {"S": server({"list_join": [" ", [word, {"get_param": "size"}]]})},
            {"told": {"value": {"get_attr": ["S", "value"]}}},
            {"size": {"type": "string"}},
        )
    )


def test_a_stack_in_a_stack_is_made_of_a_file_and_follows_it(tree):
    resources = {"N": stack(Parameters={"size": "big"}, TimeoutInMinutes=7)}
    outputs = {
        "told": {"value": {"get_attr": ["N", "Outputs.told"]}},
        "arn": {"value": {"get_resource": "N"}},
    }
    tree.create(resources, outputs=outputs, files={"inner.yaml": inner()})
    nested = tree.client.show_stack(tree.nested("N"))
    assert tree.values() == ["inner big"]
    assert tree.outputs()["told"] == "inner big"
    assert tree.outputs()["arn"].endswith(f"stacks/{nested['stack_name']}/{nested['id']}")
    assert nested["timeout_mins"] == 7

    tree.update(resources, outputs=outputs, files={"inner.yaml": inner("other")})
    assert tree.values() == ["other big"]
    assert tree.outputs()["told"] == "other big"


def test_a_template_that_did_not_come_along_is_not_fetched(tree):
    tree.begin({"N": stack("http://127.0.0.1:9/inner.yaml")})
    tree.await_failure("CREATE_FAILED")
    assert "none is fetched" in tree.client.show_stack(tree.name)["stack_status_reason"]


def waiting(count=1):
    return {
        "H": {"type": "AWS::CloudFormation::WaitConditionHandle"},
        "W": {
            "type": "AWS::CloudFormation::WaitCondition",
            "depends_on": ["H"],
            "properties": {"Handle": {"get_resource": "H"}, "Timeout": 600, "Count": count},
        },
    }


def test_a_wait_condition_takes_what_aws_tools_put_to_the_url_of_its_handle(tree):
    outputs = {"url": {"value": {"get_resource": "H"}}, "data": {"value": {"get_attr": ["W", "Data"]}}}
    tree.begin(waiting(2), outputs=outputs)
    tree.await_resource(tree.name, "H", "CREATE_COMPLETE")
    url = tree.outputs()["url"]
    signal = {"Status": "SUCCESS", "Reason": "up", "Data": "a", "UniqueId": "1"}

    refused = requests.put(url, json={"Status": "SUCCESS"}, timeout=60)
    assert refused.status_code == 400
    assert "Status, Reason, Data, UniqueId" in refused.text
    for unique in ("1", "1", "2"):
        assert requests.put(url, json={**signal, "UniqueId": unique}, timeout=60).ok
    tree.await_state("CREATE_COMPLETE")

    assert json.loads(tree.outputs()["data"]) == {"1": "a", "2": "a"}
