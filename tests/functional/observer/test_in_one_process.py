# SPDX-License-Identifier: Apache-2.0
"""heatconv-all as it runs, the fake cloud behind HTTP, and what users see of both."""

from __future__ import annotations

import uuid

import pytest
import requests

from heatconv.testing.cloud_client import CloudControl
from heatconv.testing.templates import Template, attr, thing
from tests.functional.waiting import until

TEMPLATE = Template(A=thing("a"), B=thing(attr("A"), uses=["A"]), C=thing("c", uses=["B"]))


class Web:
    """A stack, by the API, and the objects behind it."""

    def __init__(self, endpoint, cloud_url):
        self.name = f"web-{uuid.uuid4().hex[:8]}"
        self._endpoint = endpoint
        self.cloud = CloudControl(cloud_url)
        self.url = ""

    def create(self, **body):
        body = {"stack_name": self.name, "template": TEMPLATE.hot(), **body}
        answer = requests.post(f"{self._endpoint}/stacks", json=body, timeout=30)
        assert answer.status_code == 201, answer.text
        self.url = answer.json()["stack"]["links"][0]["href"]
        self.until(lambda: self.stack()["stack_status"] == "CREATE_COMPLETE")

    def get(self, below=""):
        answer = requests.get(self.url + below, timeout=30)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def post(self, below, body):
        answer = requests.post(self.url + below, json=body, timeout=30)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def stack(self):
        return self.get()["stack"]

    def until(self, holds):
        until(holds, self.stack)

    def objects(self):
        return {found["owner"].rpartition("/")[2]: found for found in self.cloud.owned(f"{self.name}/")}

    def is_as_wanted(self):
        made = self.objects()
        values = {name: found["properties"]["value"] for name, found in made.items()}
        return values == {"A": "a", "B": "a", "C": "c"} and all(
            found["status"] == "ACTIVE" for found in made.values()
        )


@pytest.fixture
def web(endpoint, cloud_url):
    made = Web(endpoint, cloud_url)
    yield made
    requests.delete(made.url, timeout=30)


def test_drift_is_read_by_rest_and_converged(web):
    web.create()
    objects = web.objects()
    web.cloud.meddle(objects["A"]["id"], {"value": "drifted"})
    web.cloud.vanish(objects["C"]["id"])

    drift = web.post("/actions", {"observe": None})["drift"]

    assert [(each["resource_name"], each["kind"]) for each in drift["resources"]] == [
        ("A", "CHANGED"),
        ("C", "MISSING"),
    ]
    shown = web.get("/drift")["drift"]
    # The engine looks by itself too, and may just have been at it again.
    assert shown.pop("observed_at") >= drift.pop("observed_at")
    assert shown == drift
    shown = web.get("/resources/A")["resource"]["drift"]
    assert shown["differences"] == [{"property": "value", "wanted": "a", "observed": "drifted"}]
    assert web.stack()["drift"]["status"] == "DRIFTED"
    events = web.get("/events?resource_name=C")["events"]
    assert "OBSERVE_FAILED" in {event["resource_status"] for event in events}

    web.post("/actions", {"converge": None})
    web.until(lambda: web.stack()["stack_status"] == "UPDATE_COMPLETE")

    assert web.is_as_wanted()
    assert web.post("/actions", {"observe": None})["drift"]["status"] == "IN_SYNC"


@pytest.mark.parametrize("by", ["body", "environment"])
def test_a_stack_whose_policy_is_to_heal_is_healed_by_itself(web, by):
    policy = {"policy": "heal", "interval": 1}
    web.create(**({"convergence": policy} if by == "body" else {"environment": {"convergence": policy}}))
    assert web.stack()["convergence"] == policy
    objects = web.objects()

    web.cloud.meddle(objects["A"]["id"], {"value": "drifted"})
    web.cloud.spoil(objects["B"]["id"])
    web.cloud.vanish(objects["C"]["id"])

    web.until(lambda: web.is_as_wanted() and web.stack()["drift"]["status"] == "IN_SYNC")
    healed = web.objects()
    assert healed["A"]["id"] == objects["A"]["id"]
    assert {healed[name]["id"] for name in "BC"}.isdisjoint(objects[name]["id"] for name in "BC")


def test_what_somebody_tells_of_is_healed_before_its_turn(web, endpoint):
    web.create(convergence={"policy": "heal", "interval": 30_000_000})
    lost = web.objects()["C"]["id"]
    web.cloud.vanish(lost)

    body = {"physical_ids": [lost, "unknown"]}
    answer = requests.post(f"{endpoint}/notifications", json=body, timeout=30)

    assert (answer.status_code, answer.json()) == (202, {"taken_up": 1})
    web.until(web.is_as_wanted)


def test_after_a_check_it_is_known_what_has_drifted(web):
    web.create()
    web.cloud.meddle(web.objects()["C"]["id"], {"value": "drifted"})

    web.post("/actions", {"check": None})

    web.until(lambda: web.stack()["drift"]["status"] == "DRIFTED")
    assert web.stack()["stack_status"] == "CHECK_COMPLETE"
    assert [each["kind"] for each in web.get("/drift")["drift"]["resources"]] == ["CHANGED"]


def test_the_policy_can_be_patched(web):
    web.create()
    body = {"convergence": {"policy": "detect", "interval": 1}}
    assert requests.patch(web.url, json=body, timeout=30).status_code == 202
    web.until(lambda: web.stack()["stack_status"] == "UPDATE_COMPLETE")

    web.cloud.vanish(web.objects()["C"]["id"])

    web.until(lambda: web.stack()["drift"]["status"] == "DRIFTED")
    assert set(web.objects()) == {"A", "B"}


def test_one_resource_is_observed_and_converged(web):
    web.create()
    objects = web.objects()
    web.cloud.vanish(objects["C"]["id"])
    web.cloud.meddle(objects["A"]["id"], {"value": "drifted"})

    drift = web.post("/resources/C/actions", {"observe": None})["drift"]
    assert [each["kind"] for each in drift["resources"]] == ["MISSING"]
    web.post("/resources/C/actions", {"converge": None})
    web.until(lambda: web.stack()["stack_status"] == "UPDATE_COMPLETE")

    made = web.objects()
    assert set(made) == {"A", "B", "C"}
    assert made["A"]["properties"]["value"] == "drifted"


def test_a_policy_that_is_none_is_refused_with_its_place(endpoint, cloud_url):
    body = {"stack_name": "never", "template": TEMPLATE.hot()}
    environment = {"convergence": {"policy": "always"}}
    answer = requests.post(f"{endpoint}/stacks", json=body | {"environment": environment}, timeout=30)
    assert answer.status_code == 400
    assert "policy" in answer.json()["error"]["message"]
