# SPDX-License-Identifier: Apache-2.0
"""A resource that takes an hour does not hold up whoever changes their mind."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from heatconv.client.http import Client, ClientError
from heatconv.testing.cloud_client import CloudControl
from heatconv.testing.failures import FailureRule, Outcome
from heatconv.testing.scenario import GONE, Json
from heatconv.testing.templates import CANCELLED, PORTED, SERVER

AN_HOUR = 3600
TICK = 0.05
NUMBERS = itertools.count(1)


def slow(value: str) -> dict[str, object]:
    return {
        "heat_template_version": "2021-04-16",
        "resources": {
            "slow": {
                "type": "OS::Heat::TestResource",
                "properties": {"value": value, "action_wait_secs": {"create": AN_HOUR}},
            }
        },
    }


def state(client: Client, name: str) -> str:
    try:
        return str(client.show_stack(name, resolve_outputs=False)["stack_status"])
    except ClientError as error:
        if error.status != 404:
            raise
        return GONE


def wait_for(client: Client, name: str, wanted: str) -> None:
    while state(client, name) != wanted:
        time.sleep(TICK)


def being_created(client: Client, name: str) -> bool:
    return [each["resource_status"] for each in client.list_resources(name)] == ["CREATE_IN_PROGRESS"]


@pytest.mark.timeout(30)
def test_a_delete_does_not_wait_for_what_is_being_created(endpoint: str) -> None:
    client = Client(endpoint)
    client.create_stack({"stack_name": "hour-deleted", "template": slow("a")})
    while not being_created(client, "hour-deleted"):
        time.sleep(TICK)
    client.delete_stack("hour-deleted")
    wait_for(client, "hour-deleted", GONE)


@pytest.mark.timeout(30)
def test_a_rollback_does_not_wait_for_what_is_being_created(endpoint: str) -> None:
    client = Client(endpoint)
    empty = {"heat_template_version": "2021-04-16"}
    client.create_stack({"stack_name": "hour-left", "template": empty})
    wait_for(client, "hour-left", "CREATE_COMPLETE")
    client.update_stack("hour-left", {"template": slow("a")})
    while not client.list_resources("hour-left") or not being_created(client, "hour-left"):
        time.sleep(TICK)
    client.act("hour-left", "rollback")
    wait_for(client, "hour-left", "ROLLBACK_COMPLETE")
    assert client.list_resources("hour-left") == []
    client.delete_stack("hour-left")
    wait_for(client, "hour-left", GONE)


def changing(properties: dict[str, object], type_: str) -> dict[str, object]:
    return {
        "heat_template_version": "2021-04-16",
        "resources": {
            "A": {"type": type_, "properties": properties},
            "B": {"type": "Fake::Cloud::Server", "properties": {"uses": [{"get_resource": "A"}]}},
        },
    }


@pytest.fixture
def stuck(endpoint: str, cloud_url: str) -> Iterator[Callable[[str, str], Stuck]]:
    """Return what makes a stack of a resource of some type whose creation hangs."""
    with ExitStack() as until:

        def make(name: str, type_: str) -> Stuck:
            made = Stuck(endpoint, cloud_url, name, type_)
            until.callback(made.close)
            return made

        yield make


class Stuck:
    """A stack whose A is being created, for as long as nobody does anything about it."""

    def __init__(self, endpoint: str, cloud_url: str, name: str, type_: str) -> None:
        self.client, self.cloud, self.name, self.type = Client(endpoint), CloudControl(cloud_url), name, type_
        rule = FailureRule(op="create", owner=f"{name}/A", outcome=Outcome.HANG, times=1)
        self.cloud.fail(rule)
        self.client.create_stack({"stack_name": name, "template": changing({"value": "a"}, type_)})
        while not self.objects("A"):
            time.sleep(TICK)
        (self.hanging,) = self.objects("A")

    def close(self) -> None:
        for found in self.objects("A"):
            if found["status"] == "BUILD":
                self.cloud.vanish(found["id"])
        self.client.delete_stack(self.name)
        wait_for(self.client, self.name, GONE)
        self.client.close()
        self.cloud.cloud.close()

    def objects(self, resource: str) -> list[Json]:
        return self.cloud.owned(f"{self.name}/{resource}")

    def looks(self) -> int:
        audit = self.cloud.audit()
        return sum(entry.op == "show" and entry.object_id == self.hanging["id"] for entry in audit)

    def update(self, properties: dict[str, object], type_: str | None = None) -> None:
        template = changing(properties, type_ or self.type)
        self.client.update_stack(self.name, {"template": template})

    def shown(self) -> str:
        return str(self.client.show_resource(self.name, "A")["resource_status_reason"])


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    ("type_", "after"),
    [
        (SERVER, ({"value": "a", "flavor": "large"}, None)),
        (PORTED, ({"value": "a", "flavor": "large"}, None)),
        (PORTED, ({"value": "a"}, SERVER)),
        (CANCELLED, ({"value": "changed"}, None)),
    ],
)
def test_a_stuck_create_is_given_up_for_another_incarnation(
    stuck: Callable[[str, str], Stuck],
    type_: str,
    after: tuple[dict[str, object], str | None],
) -> None:
    stack = stuck(f"given-up-{next(NUMBERS)}", type_)
    stack.update(*after)
    wait_for(stack.client, stack.name, "UPDATE_COMPLETE")

    (made,) = stack.objects("A")
    assert made["id"] != stack.hanging["id"]
    assert made["properties"].items() >= after[0].items()
    (user,) = stack.objects("B")
    assert user["properties"]["uses"] == [made["id"]]


@pytest.mark.timeout(60)
@pytest.mark.parametrize("type_", [SERVER, PORTED])
def test_what_can_be_changed_in_place_is_waited_for_and_says_so(
    stuck: Callable[[str, str], Stuck], type_: str
) -> None:
    stack = stuck(f"waited-for-{next(NUMBERS)}", type_)
    stack.update({"value": "changed"})
    while "waiting for its CREATE under way to end" not in stack.shown():
        time.sleep(TICK)
    looks = stack.looks()
    while stack.looks() < looks + 2:  # it goes on looking
        time.sleep(TICK)
    assert [found["id"] for found in stack.objects("A")] == [stack.hanging["id"]]

    stack.cloud.vanish(stack.hanging["id"])  # which ends the create: the update makes what it asks for
    wait_for(stack.client, stack.name, "UPDATE_COMPLETE")
    (made,) = stack.objects("A")
    assert made["properties"]["value"] == "changed"
    (user,) = stack.objects("B")
    assert user["properties"]["uses"] == [made["id"]]
