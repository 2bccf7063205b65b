# SPDX-License-Identifier: Apache-2.0
"""Wait conditions in a service that runs: what waits is woken, and does not look by itself."""

from __future__ import annotations

import json
import shlex
import subprocess
import time

import pytest
import requests

HANDLE = {"type": "OS::Heat::WaitConditionHandle"}


def condition(**properties):
    handle = {"handle": {"get_resource": "handle"}, "timeout": 600}
    return {"type": "OS::Heat::WaitCondition", "properties": handle | properties}


OUTPUTS = {
    "endpoint": {"get_attr": ["handle", "endpoint"]},
    "curl": {"get_attr": ["handle", "curl_cli"]},
    "data": {"get_attr": ["condition", "data"]},
}


@pytest.fixture
def waiting(stack):
    """Return a stack that waits for two signals."""
    resources = {"handle": HANDLE, "condition": condition(count=2)}
    stack.create(resources, OUTPUTS, until="CREATE_IN_PROGRESS")
    while stack.shown("condition")["resource_status"] != "CREATE_IN_PROGRESS":
        time.sleep(0.05)
    return stack


def signal(stack, **details):
    answer = requests.post(stack.output("endpoint"), json=details, timeout=30)
    assert answer.ok, answer.text


def test_enough_signals_complete_it(waiting):
    signal(waiting, id="a", data={"address": "10.0.0.1"})
    assert waiting.state() == "CREATE_IN_PROGRESS"
    signal(waiting, status="SUCCESS", id="b")
    # Soon: had it not been woken, it would look after a minute.
    waiting.wait_for("CREATE_COMPLETE")
    assert json.loads(waiting.output("data")) == {"a": {"address": "10.0.0.1"}, "b": None}
    assert waiting.client.show_metadata(waiting.name, "handle").keys() == {"a", "b"}


def test_a_failure_fails_it_at_once_with_its_reason(waiting):
    signal(waiting, status="FAILURE", reason="no disk")
    waiting.wait_for("CREATE_FAILED")
    assert "no disk" in waiting.reason()


def test_curl_signals_as_it_is_told(waiting):
    command = [
        *shlex.split(waiting.output("curl")),
        "--data-binary",
        '{"status": "FAILURE", "reason": "curl"}',
    ]
    subprocess.run(command, check=True, capture_output=True, timeout=30)
    waiting.wait_for("CREATE_FAILED")
    assert "curl" in waiting.reason()


def test_without_a_signal_it_fails_when_its_time_is_up(stack):
    resources = {"handle": HANDLE, "condition": condition(timeout=1)}
    stack.create(resources, until="CREATE_FAILED")
    assert "0 of 1 received" in stack.reason()


def test_what_is_no_signal_is_refused(waiting):
    answer = requests.post(waiting.output("endpoint"), json={"status": "maybe"}, timeout=30)
    assert answer.status_code == 400
    assert "SUCCESS or FAILURE" in answer.json()["error"]["message"]


def test_a_delay_passes_and_a_thing_that_is_there_is_taken_as_it_is(stack):
    made = stack.cloud.cloud.create("theirs", "Machine", "others/m", {"colour": "red", "power": "on"})
    stack.create(
        {
            "delay": {"type": "OS::Heat::Delay", "properties": {"min_wait": 0.2}},
            "theirs": {"type": "My::Cloud::Machine", "external_id": made["id"]},
        },
        {"id": {"get_resource": "theirs"}},
    )
    assert stack.output("id") == made["id"]
    stack.delete()
    assert stack.cloud.cloud.show(made["id"])["properties"]["colour"] == "red"


def test_an_update_of_anything_replaces_a_handle_that_is_for_one(stack):
    handle = {"type": "OS::Heat::UpdateWaitConditionHandle"}
    other = {"type": "OS::Heat::TestResource", "properties": {"value": "a"}}
    stack.create({"handle": handle, "other": other})
    before = stack.client.show_resource(stack.name, "handle")["physical_resource_id"]

    other = {"type": "OS::Heat::TestResource", "properties": {"value": "b"}}
    stack.update({"handle": handle, "other": other})

    assert stack.client.show_resource(stack.name, "handle")["physical_resource_id"] != before
