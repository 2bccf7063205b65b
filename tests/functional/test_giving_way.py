# SPDX-License-Identifier: Apache-2.0
"""A resource that takes an hour does not hold up whoever changes their mind."""

from __future__ import annotations

import time

import pytest

from heatconv.client.http import Client, ClientError
from heatconv.testing.scenario import GONE

AN_HOUR = 3600
TICK = 0.05


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
