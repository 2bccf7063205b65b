# SPDX-License-Identifier: Apache-2.0
"""A few words of a template asked for a thousand million resources, and got the memory for them.

A group was built in memory before anybody counted its members: a preview with
``count: 1000000000`` ended the process, and where only a worker came to know the
number, each worker that took the resource over.
"""

from __future__ import annotations

import json

import pytest

from tests.security.attacked import attacked

TOO_MANY = "Maximum resources per stack exceeded"
HUGE = 1_000_000_000
LATE = {"get_attr": ["V", "value"]}
LIMIT = 100_000  # what there may be if no operator says otherwise
ROOM = 600 << 20  #: bytes that a process may come to take that builds nothing of the kind


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    with attacked(tmp_path_factory.mktemp("sizes")) as running:
        yield running
        assert running.most_memory() < ROOM


def hot(resources, **sections):
    return {"heat_template_version": "2021-04-16", "resources": resources, **sections}


def group(count, member=None):
    member = member or {"type": "OS::Heat::None"}
    return {"type": "OS::Heat::ResourceGroup", "properties": {"count": count, "resource_def": member}}


def scaled(member=None, **sizes):
    properties = {"resource": member or {"type": "OS::Heat::None"}, "min_size": 0, "max_size": HUGE, **sizes}
    return {"type": "OS::Heat::AutoScalingGroup", "properties": properties}


def instances(size):
    made_of = {"ImageId": "i", "InstanceType": "t"}
    properties = {
        "Size": size,
        "LaunchConfigurationName": {"get_resource": "C"},
        "AvailabilityZones": ["a"],
    }
    return {
        "C": {"type": "AWS::AutoScaling::LaunchConfiguration", "properties": made_of},
        "G": {"type": "OS::Heat::InstanceGroup", "properties": properties},
    }


ENVIRONMENT = {"resource_registry": {"OS::Heat::ScaledResource": "OS::Heat::None"}}

TOO_LARGE = {
    "count": {"G": group(HUGE)},
    "count as text": {"G": group(str(HUGE))},
    "count with underscores": {"G": group("1_000_000_000")},
    "count with a sign": {"G": group("+1000000000")},
    "count as a float": {"G": group(1e9)},
    "just one too many": {"G": group(LIMIT)},
    "desired capacity": {"G": scaled(desired_capacity=HUGE)},
    "min size": {"G": scaled(min_size=HUGE)},
    "many groups": {f"G{number}": group(LIMIT // 2) for number in range(3)},
    "groups of groups": {"G": group(1000, group(1000, group(1000)))},
    "groups of scaled groups": {"G": group(1000, scaled(group(1000), desired_capacity=1000))},
    "a chain of groups": {
        "G": {
            "type": "OS::Heat::ResourceChain",
            "properties": {
                "resources": ["OS::Heat::ResourceGroup"] * 3,
                "resource_properties": group(LIMIT // 2)["properties"],
            },
        }
    },
    "instances": instances(HUGE),
}


@pytest.mark.parametrize("resources", TOO_LARGE.values(), ids=TOO_LARGE.keys())
@pytest.mark.parametrize("where", ["/stacks/preview", "/stacks", "/validate"])
def test_a_group_is_counted_before_it_is_built(service, where, resources):
    body = {"template": hot(resources), "environment": ENVIRONMENT}
    body |= {} if where == "/validate" else {"stack_name": "large"}

    answer = service.post(where, body)

    assert answer.status_code == 400, answer.text
    assert TOO_MANY in answer.json()["error"]["message"]
    service.assert_well()


@pytest.mark.parametrize("where", ["/stacks/preview", "/stacks", "/validate"])
def test_templates_that_multiply_are_counted_before_any_is_looked_into(service, where):
    body = {
        "template": hot({"G": group(1000, {"type": "a.yaml"})}),
        "files": {
            "a.yaml": json.dumps(hot({f"R{number}": {"type": "b.yaml"} for number in range(1000)})),
            "b.yaml": json.dumps(hot({"G": group(1000)})),
        },
    }
    body |= {} if where == "/validate" else {"stack_name": "large"}

    answer = service.post(where, body)

    assert answer.status_code == 400, answer.text
    assert "there would be 1002001001" in answer.json()["error"]["message"]
    service.assert_well()


def test_what_an_update_would_make_is_counted(service):
    service.post("/stacks", {"stack_name": "small", "template": hot({"G": group(1)})}).raise_for_status()
    assert service.settled("small")[0] == "CREATE_COMPLETE"
    for path in ("/preview", "/preview?show_nested=true", ""):
        url = f"/stacks/small/{service.id_of('small')}{path}"

        answer = service.ask("PUT", url, json={"template": hot({"G": group(HUGE)})})

        assert answer.status_code == 400, answer.text
        assert TOO_MANY in answer.json()["error"]["message"]
    service.assert_well()


@pytest.mark.parametrize(
    "resources",
    [{"G": group(LATE)}, {"G": scaled(desired_capacity=LATE)}, instances(LATE)],
    ids=["group", "scaled group", "instance group"],
)
def test_a_number_that_only_a_worker_comes_to_know_is_no_larger(service, resources):
    value = {"type": "OS::Heat::Value", "properties": {"value": HUGE, "type": "number"}}
    body = {"template": hot({"V": value, **resources}), "environment": ENVIRONMENT}
    service.post("/stacks", {"stack_name": "late", **body}).raise_for_status()

    state, reason = service.settled("late")

    assert state == "CREATE_FAILED"
    assert TOO_MANY in reason
    service.ask("DELETE", f"/stacks/late/{service.id_of('late')}").raise_for_status()
    assert service.settled("late") is None
    service.assert_well()


def test_members_that_are_large_together_are_not_built(service):
    member = {"type": "OS::Heat::Value", "properties": {"value": "%index%" + "a" * 100_000}}

    answer = service.preview(hot({"G": group(LIMIT - 1, member)}))

    assert answer.status_code == 400, answer.text
    assert "The template of the members would have" in answer.json()["error"]["message"]
    service.assert_well()


def test_what_is_told_of_many_members_in_many_ways_is_not_built(service):
    outputs = {f"o{n}": {"value": {"get_attr": ["G", "attributes", f"a{n}"]}} for n in range(5000)}

    answer = service.preview(hot({"G": group(4000)}, outputs=outputs))

    assert answer.status_code in (200, 400), answer.text
    service.assert_well()


def test_a_signal_makes_no_more(service):
    policy = {
        "type": "OS::Heat::ScalingPolicy",
        "properties": {
            "adjustment_type": "exact_capacity",
            "scaling_adjustment": HUGE,
            "auto_scaling_group_id": {"get_resource": "G"},
        },
    }
    service.post("/stacks", {"stack_name": "signalled", "template": hot({"G": scaled(), "P": policy})})
    assert service.settled("signalled")[0] == "CREATE_COMPLETE"

    path = f"/stacks/signalled/{service.id_of('signalled')}/resources/P/signal"
    answer = service.post(path, {})

    assert answer.status_code == 400, answer.text
    assert TOO_MANY in answer.json()["error"]["message"]
    service.assert_well()
