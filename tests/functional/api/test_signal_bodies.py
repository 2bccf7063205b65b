# SPDX-License-Identifier: Apache-2.0
"""What guests and alarms post as a signal: that they signal counts, whatever they send with it."""

from __future__ import annotations

import time
import uuid

import pytest
import requests

PATIENCE = 60  #: seconds
JSON = {"Content-Type": "application/json"}
FORM = {"Content-Type": "application/x-www-form-urlencoded"}

TEMPLATE = {
    "heat_template_version": "2021-04-16",
    "resources": {
        "handle": {"type": "OS::Heat::WaitConditionHandle"},
        "wait": {
            "type": "OS::Heat::WaitCondition",
            "properties": {"handle": {"get_resource": "handle"}, "timeout": 60},
        },
    },
}


@pytest.fixture
def stack(endpoint):
    """Return the URL of a stack whose handle can be signalled."""
    body = {"stack_name": f"signalled-{uuid.uuid4().hex[:8]}", "template": TEMPLATE}
    made = requests.post(f"{endpoint}/stacks", json=body, timeout=PATIENCE)
    url = made.json()["stack"]["links"][0]["href"]
    _await(lambda: _status(f"{url}/resources/handle") == "CREATE_COMPLETE")
    yield url
    requests.delete(url, timeout=PATIENCE)


@pytest.mark.parametrize(
    ("text", "headers"),
    [
        ("", {}),
        ("", JSON),
        ("null", JSON),
        ("[]", JSON),
        ('["done"]', JSON),
        ('"done"', JSON),
        ("17", JSON),
        ("done", JSON),
        ("done", {"Content-Type": "text/plain"}),
        ("state=alarm&reason=x", FORM),
        ("<alarm/>", {"Content-Type": "text/xml"}),
        ("{no JSON", FORM),
        ('{"status": "SUCCESS"}', FORM),
        (b"\xff\xfe\x00", {"Content-Type": "application/octet-stream"}),
    ],
)
def test_a_signal_counts_whatever_its_body(stack, text, headers):
    answer = requests.post(f"{stack}/resources/handle/signal", data=text, headers=headers, timeout=PATIENCE)
    assert answer.status_code == 200, answer.text
    assert answer.json() is None
    _await(lambda: _status(f"{stack}/resources/wait") == "CREATE_COMPLETE")


def test_an_object_is_read_whatever_its_type(stack):
    text = '{"status": "FAILURE", "reason": "the disk is full"}'
    url = f"{stack}/resources/handle/signal"
    assert requests.post(url, data=text, headers=FORM, timeout=PATIENCE).status_code == 200
    _await(lambda: _status(f"{stack}/resources/wait") == "CREATE_FAILED")
    shown = requests.get(f"{stack}/resources/wait", timeout=PATIENCE).json()["resource"]
    assert "the disk is full" in shown["resource_status_reason"]


def test_an_object_that_was_cut_off_is_refused(stack):
    url = f"{stack}/resources/handle/signal"
    answer = requests.post(url, data='{"status": "FAIL', headers=JSON, timeout=PATIENCE)
    assert answer.status_code == 400
    assert "not JSON" in answer.json()["error"]["message"]


def _status(url):
    return requests.get(url, timeout=PATIENCE).json()["resource"]["resource_status"]


def _await(so):
    deadline = time.monotonic() + PATIENCE
    while not so():
        assert time.monotonic() < deadline
        time.sleep(0.05)
