# SPDX-License-Identifier: Apache-2.0
"""What drifts inside of nested stacks and groups is found, and healed through the stack around them."""

from __future__ import annotations

import pytest
import requests

from tests.functional.observer.test_in_one_process import Web

SERVER = "Fake::Cloud::Server"
GROUP = {
    "heat_template_version": "2021-04-16",
    "resources": {
        "G": {
            "type": "OS::Heat::ResourceGroup",
            "properties": {
                "count": 3,
                "resource_def": {"type": SERVER, "properties": {"value": "v%index%"}},
            },
        },
        "D": {"type": SERVER, "properties": {"value": {"list_join": [",", {"get_attr": ["G", "refs"]}]}}},
    },
}


@pytest.fixture
def web(endpoint, cloud_url):
    made = Web(endpoint, cloud_url)
    yield made
    requests.delete(made.url, timeout=30)


def values(web):
    """Return the value of each object of the stack and of its group, by id."""
    owned = web.cloud.owned(web.name)
    return {found["id"]: found["properties"]["value"] for found in owned}


def member(web, value):
    """Return the object of the group that has a value."""
    (found,) = [object_id for object_id, its in values(web).items() if its == value]
    return found


def is_as_wanted(web):
    found = values(web)
    members = [object_id for value in ("v0", "v1", "v2") for object_id in found if found[object_id] == value]
    return len(found) == 4 and ",".join(members) in found.values()


def test_a_member_of_a_group_is_found_and_converged(web):
    web.create(template=GROUP)
    web.cloud.vanish(member(web, "v1"))

    (drifted,) = web.post("/actions", {"observe": None})["drift"]["resources"]
    assert (drifted["resource_name"], drifted["kind"]) == ("1", "MISSING")
    assert web.stack()["drift"]["status"] == "DRIFTED"
    web.post("/actions", {"converge": None})
    web.until(lambda: web.stack()["stack_status"] == "UPDATE_COMPLETE")

    assert is_as_wanted(web)


def test_a_group_is_healed_by_the_policy_of_the_stack_around_it(web):
    web.create(template=GROUP, convergence={"policy": "heal", "interval": 1})
    web.cloud.vanish(member(web, "v0"))
    changed = member(web, "v2")
    web.cloud.meddle(changed, {"value": "drifted"})

    web.until(lambda: is_as_wanted(web) and web.stack()["drift"]["status"] == "IN_SYNC")

    assert member(web, "v2") == changed


def test_a_nested_stack_is_observed_alone_but_converged_with_what_is_around_it(web):
    web.create(template=GROUP)
    web.cloud.vanish(member(web, "v1"))
    links = web.get("/resources/G")["resource"]["links"]
    (nested,) = [link["href"] for link in links if link["rel"] == "nested"]

    seen = requests.post(f"{nested}/actions", json={"observe": None}, timeout=30)
    assert [each["kind"] for each in seen.json()["drift"]["resources"]] == ["MISSING"]
    refused = requests.post(f"{nested}/actions", json={"converge": None}, timeout=30)
    assert refused.status_code == 400
    assert "converge the stack around it" in refused.json()["error"]["message"]


def test_a_group_is_converged_as_one_resource(web):
    web.create(template=GROUP)
    web.cloud.vanish(member(web, "v1"))

    web.post("/resources/G/actions", {"converge": None})
    web.until(lambda: web.stack()["stack_status"] == "UPDATE_COMPLETE")

    assert is_as_wanted(web)
