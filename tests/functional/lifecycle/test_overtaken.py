# SPDX-License-Identifier: Apache-2.0
"""An action that fails when a newer wish is waiting for its end: that is not the newer wish's failure."""

from __future__ import annotations

import time
import uuid

import pytest
import requests

PATIENCE = 60  #: seconds


def template(*, fail, value="a"):
    properties = {"value": value, "fail": fail, "action_wait_secs": {"create": 2, "update": 2}}
    return {
        "heat_template_version": "2021-04-16",
        "resources": {"r": {"type": "OS::Heat::TestResource", "properties": properties}},
    }


@pytest.fixture
def make(endpoint):
    made = []

    def create(body):
        name = f"overtaken-{uuid.uuid4().hex[:8]}"
        answer = requests.post(f"{endpoint}/stacks", json={"stack_name": name, **body}, timeout=PATIENCE)
        made.append(answer.json()["stack"]["links"][0]["href"])
        return made[-1]

    yield create
    for url in made:
        requests.delete(url, timeout=PATIENCE)


def stack_of(url):
    return requests.get(url, timeout=PATIENCE).json()["stack"]


def until(url, status):
    deadline = time.monotonic() + PATIENCE
    while (stack := stack_of(url))["stack_status"] != status:
        assert not stack["stack_status"].endswith("_FAILED"), stack
        assert time.monotonic() < deadline, stack
        time.sleep(0.05)


def until_begun(url, action):
    deadline = time.monotonic() + PATIENCE
    resource = f"{url}/resources/r"
    while True:
        answer = requests.get(resource, timeout=PATIENCE)
        if answer.ok and answer.json()["resource"]["resource_status"] == f"{action}_IN_PROGRESS":
            return
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_an_update_goes_on_when_the_creation_that_it_waited_for_fails(make):
    url = make({"template": template(fail=True)})
    until_begun(url, "CREATE")
    requests.put(url, json={"template": template(fail=False)}, timeout=PATIENCE)
    until(url, "UPDATE_COMPLETE")


def test_an_update_goes_on_when_the_update_that_it_waited_for_fails(make):
    url = make({"template": template(fail=False)})
    until(url, "CREATE_COMPLETE")
    requests.put(url, json={"template": template(fail=True, value="b")}, timeout=PATIENCE)
    until_begun(url, "UPDATE")
    requests.put(url, json={"template": template(fail=False, value="c")}, timeout=PATIENCE)
    until(url, "UPDATE_COMPLETE")
