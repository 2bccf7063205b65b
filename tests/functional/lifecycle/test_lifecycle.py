# SPDX-License-Identifier: Apache-2.0
"""What is done to a stack as it is: what becomes of the things in the cloud, and which answers users get."""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Iterator
from typing import Any

import pytest

from heatconv.client.http import Client, ClientError
from heatconv.testing.cloud_client import CloudControl
from heatconv.testing.failures import FailureRule
from heatconv.testing.scenario import GONE
from heatconv.testing.templates import Template, attr, differences, thing

TICK = 0.05
CHAIN = Template(
    A=thing("a"),
    B=thing(attr("A"), uses=["A"]),
    C=thing(attr("B"), uses=["B"]),
)
NUMBERS = itertools.count(1)


class World:
    """A client, the cloud, and stacks of one test."""

    def __init__(self, endpoint: str, cloud_url: str) -> None:
        self.client = Client(endpoint)
        self.cloud = CloudControl(cloud_url)
        self.stacks: list[str] = []

    def new_name(self) -> str:
        self.stacks.append(f"lifecycle-{next(NUMBERS)}")
        return self.stacks[-1]

    def create(self, template: Template = CHAIN, state: str = "CREATE_COMPLETE", **body: Any) -> str:
        name = self.new_name()
        self.client.create_stack({"stack_name": name, "template": template.hot(), **body})
        self.wait_for(name, state)
        return name

    def state(self, name: str) -> str:
        try:
            return str(self.client.show_stack(name, resolve_outputs=False)["stack_status"])
        except ClientError as error:
            if error.status != 404:
                raise
            return GONE

    def wait_for(self, name: str, wanted: str) -> None:
        while (state := self.state(name)) != wanted:
            assert not state.endswith("_FAILED"), self.client.show_stack(name)["stack_status_reason"]
            time.sleep(TICK)

    def wait_for_end(self, name: str) -> str:
        while (state := self.state(name)).endswith("IN_PROGRESS"):
            time.sleep(TICK)
        return state

    def resource(self, name: str, resource: str) -> dict[str, Any]:
        return dict(self.client.show_resource(name, resource))

    def things(self, name: str) -> dict[str, dict[str, Any]]:
        """Return the cloud's objects of a stack's resources, by their names."""
        return {str(found["owner"]).partition("/")[2]: found for found in self.cloud.owned(f"{name}/")}

    def reasons(self, name: str) -> list[str]:
        return [event["resource_status_reason"] for event in self.client.list_events(name)]


@pytest.fixture
def world(endpoint: str, cloud_url: str) -> Iterator[World]:
    made = World(endpoint, cloud_url)
    yield made
    made.cloud.stop_failing()
    for name in made.stacks:
        if made.state(name) != GONE:
            made.client.delete_stack(name)
            made.wait_for(name, GONE)
    made.client.close()


def suspended(world: World, name: str) -> dict[str, bool]:
    return {owner: found["properties"].get("suspended", False) for owner, found in world.things(name).items()}


def test_a_suspended_stack_rests_until_it_is_resumed(world):
    name = world.create()
    before = len(world.cloud.audit())

    world.client.act(name, "suspend")
    world.wait_for(name, "SUSPEND_COMPLETE")

    assert suspended(world, name) == {"A": True, "B": True, "C": True}
    order = [entry.owner for entry in world.cloud.audit(before) if entry.op == "update" and entry.succeeded]
    assert order == [f"{name}/{each}" for each in "CBA"]  # dependents first
    assert {each["resource_status"] for each in world.client.list_resources(name)} == {"SUSPEND_COMPLETE"}
    with pytest.raises(ClientError) as refused:
        world.client.update_stack(name, {"template": CHAIN.hot()})
    assert refused.value.status == 400

    world.client.act(name, "resume")
    world.wait_for(name, "RESUME_COMPLETE")
    assert suspended(world, name) == {"A": False, "B": False, "C": False}
    world.client.update_stack(name, {"template": CHAIN.without("C").hot()})
    world.wait_for(name, "UPDATE_COMPLETE")


def test_what_is_under_way_is_not_cut_short_by_a_suspension(world):
    name = world.new_name()
    world.client.create_stack({"stack_name": name, "template": Template(A=thing("a", wait=2)).hot()})
    with pytest.raises(ClientError) as refused:
        world.client.act(name, "suspend")
    assert refused.value.status == 409
    world.wait_for(name, "CREATE_COMPLETE")


def test_a_check_finds_what_is_gone_and_an_update_replaces_it(world):
    name = world.create()
    world.client.act(name, "check")
    world.wait_for(name, "CHECK_COMPLETE")
    world.cloud.vanish(world.things(name)["B"]["id"])

    world.client.act(name, "check")
    assert world.wait_for_end(name) == "CHECK_FAILED"

    states = {each["resource_name"]: each["resource_status"] for each in world.client.list_resources(name)}
    assert states == {"A": "CHECK_COMPLETE", "B": "CHECK_FAILED", "C": "CHECK_COMPLETE"}
    assert "B: " in world.client.show_stack(name)["stack_status_reason"]
    world.client.update_stack(name, {"template": CHAIN.hot()})
    world.wait_for_end(name)
    assert list(differences(CHAIN, world.cloud.owned(f"{name}/"))) == []


def test_a_check_finds_what_could_not_be_made_and_an_update_makes_it(world):
    world.cloud.fail(FailureRule(op="create", owner="*/B", status=400))
    name = world.create(state="CREATE_FAILED")
    world.cloud.stop_failing()

    world.client.act(name, "check")
    assert world.wait_for_end(name) == "CHECK_FAILED"
    states = {each: world.resource(name, each)["resource_status"] for each in "ABC"}
    assert states == {"A": "CHECK_COMPLETE", "B": "CHECK_FAILED", "C": "INIT_COMPLETE"}
    assert "It was not created" in world.resource(name, "B")["resource_status_reason"]

    world.client.update_stack(name, {"template": CHAIN.hot()})
    world.wait_for(name, "UPDATE_COMPLETE")
    assert list(differences(CHAIN, world.cloud.owned(f"{name}/"))) == []


def test_a_type_that_cannot_be_checked_says_so(world):
    name = world.new_name()
    template = {
        "heat_template_version": "2021-04-16",
        "resources": {"v": {"type": "OS::Heat::Value", "properties": {"value": 1}}},
    }
    world.client.create_stack({"stack_name": name, "template": template})
    world.wait_for(name, "CREATE_COMPLETE")
    world.client.act(name, "check")
    world.wait_for(name, "CHECK_COMPLETE")
    assert "not fully supported" in world.client.show_stack(name)["stack_status_reason"]
    assert world.resource(name, "v")["resource_status_reason"] == "CHECK not supported for OS::Heat::Value"


def test_an_update_may_come_while_a_check_goes_on(world):
    name = world.create()
    other = CHAIN.but(A=thing("other"))
    world.client.act(name, "check")
    world.client.update_stack(name, {"template": other.hot()})
    world.wait_for(name, "UPDATE_COMPLETE")
    assert list(differences(other, world.cloud.owned(f"{name}/"))) == []


def test_a_marked_resource_is_replaced_by_the_next_update(world):
    name = world.create()
    before = world.things(name)

    world.client.mark_resource(name, "B", unhealthy=True, reason="it smells")
    assert world.resource(name, "B")["resource_status"] == "CHECK_FAILED"
    assert world.resource(name, "B")["resource_status_reason"] == "it smells"
    world.client.update_stack(name, {"template": CHAIN.hot()})
    world.wait_for(name, "UPDATE_COMPLETE")

    after = world.things(name)
    assert after["B"]["id"] != before["B"]["id"]
    assert after["A"]["id"] == before["A"]["id"]
    assert list(differences(CHAIN, world.cloud.owned(f"{name}/"))) == []


def test_a_mark_can_be_taken_back(world):
    name = world.create()
    before = world.things(name)
    world.client.mark_resource(name, before["B"]["id"], unhealthy=True, reason="")
    world.client.mark_resource(name, "B", unhealthy=False, reason="")
    assert world.resource(name, "B")["resource_status"] == "CHECK_COMPLETE"
    world.client.update_stack(name, {"template": CHAIN.hot()})
    world.wait_for(name, "UPDATE_COMPLETE")
    assert {key: found["id"] for key, found in world.things(name).items()} == {
        key: found["id"] for key, found in before.items()
    }


# -- snapshots ---------------------------------------------------------------------------------------


def snapshot(world: World, name: str) -> str:
    taken = world.client.create_snapshot(name, "before")
    world.wait_for(name, "SNAPSHOT_COMPLETE")
    assert world.client.show_snapshot(name, taken["id"])["status"] == "COMPLETE"
    return str(taken["id"])


def test_a_snapshot_brings_back_what_was(world):
    name = world.create()
    taken = snapshot(world, name)
    changed = CHAIN.without("C").but(A=thing("changed"))
    world.client.update_stack(name, {"template": changed.hot()})
    world.wait_for(name, "UPDATE_COMPLETE")

    world.client.restore_snapshot(name, taken)
    world.wait_for(name, "RESTORE_COMPLETE")

    assert list(differences(CHAIN, world.cloud.owned(f"{name}/"))) == []
    world.client.delete_snapshot(name, taken)
    assert world.client.list_snapshots(name) == []


def test_what_is_brought_back_still_goes_before_what_it_was_made_of(world):
    """A value that it was made of is plain in a snapshot, and no less there because of it."""
    pair = Template(A=thing("a"), B=thing(attr("A")))
    name = world.create(pair)
    taken = snapshot(world, name)
    world.client.update_stack(name, {"template": pair.but(A=thing("changed")).hot()})
    world.wait_for(name, "UPDATE_COMPLETE")
    world.client.restore_snapshot(name, taken)
    world.wait_for(name, "RESTORE_COMPLETE")
    assert world.resource(name, "A")["required_by"] == ["B"]
    before = len(world.cloud.audit())

    world.client.act(name, "suspend")
    world.wait_for(name, "SUSPEND_COMPLETE")

    order = [entry.owner for entry in world.cloud.audit(before) if entry.op == "update" and entry.succeeded]
    assert order == [f"{name}/B", f"{name}/A"]


def test_a_stack_goes_with_its_snapshots(world):
    name = world.create()
    before = len(world.cloud.owned())
    snapshot(world, name)
    assert len(world.cloud.owned()) > before
    world.client.delete_stack(name)
    world.wait_for(name, GONE)
    assert [found for found in world.cloud.owned() if name in str(found["owner"])] == []


# -- handing over ------------------------------------------------------------------------------------


def test_an_abandoned_stack_leaves_its_things_to_whoever_adopts_them(world):
    name = world.create()
    before = {key: found["id"] for key, found in world.things(name).items()}
    data = world.client.abandon_stack(name)
    world.wait_for(name, GONE)
    assert {key: found["id"] for key, found in world.things(name).items()} == before

    heir = world.new_name()
    audited = len(world.cloud.audit())
    world.client.create_stack({"stack_name": heir, "adopt_stack_data": json.dumps(data)})
    world.wait_for(heir, "ADOPT_COMPLETE")

    assert [entry for entry in world.cloud.audit(audited) if entry.op == "create"] == []
    found = {each["resource_name"]: each for each in world.client.list_resources(heir)}
    assert {key: each["physical_resource_id"] for key, each in found.items()} == before
    assert {each["resource_status"] for each in found.values()} == {"ADOPT_COMPLETE"}
    world.client.delete_stack(heir)
    world.wait_for(heir, GONE)
    assert world.things(name) == {}


def test_a_failed_adoption_leaves_what_was_there(world):
    name = world.create()
    before = world.things(name).keys()
    data = world.client.abandon_stack(name)
    world.wait_for(name, GONE)
    del data["resources"]["B"]["resource_id"]

    heir = world.new_name()
    body = {"stack_name": heir, "adopt_stack_data": json.dumps(data), "disable_rollback": False}
    world.client.create_stack(body)
    assert world.wait_for_end(heir) == "ROLLBACK_COMPLETE"

    assert world.things(name).keys() == before


# -- breakpoints and restrictions ----------------------------------------------------------------------


def registry(resource: str, **entry: Any) -> dict[str, Any]:
    return {"resource_registry": {"resources": {resource: entry}}}


def wait_at(world: World, name: str, reason: str) -> None:
    while reason not in world.reasons(name):
        time.sleep(TICK)


def test_an_action_waits_at_its_breakpoints(world):
    name = world.new_name()
    hooks = ["pre-create", "post-create", "pre-update", "pre-delete"]
    environment = registry("B", hooks=hooks)
    body = {"template": CHAIN.hot(), "environment": environment}
    world.client.create_stack({"stack_name": name, **body})

    wait_at(world, name, "CREATE paused until Hook pre-create is cleared")
    assert world.things(name).keys() == {"A"}
    world.client.signal_resource(name, "B", {"unset_hook": "pre-create"})
    wait_at(world, name, "CREATE paused until Hook post-create is cleared")
    assert "Hook pre-create is cleared" in world.reasons(name)
    assert world.things(name).keys() == {"A", "B"}
    world.client.signal_resource(name, "B", {"unset_hook": "post-create"})
    world.wait_for(name, "CREATE_COMPLETE")

    other = CHAIN.but(A=thing("other"))
    world.client.update_stack(name, {**body, "template": other.hot()})
    wait_at(world, name, "UPDATE paused until Hook pre-update is cleared")
    assert world.things(name)["B"]["properties"]["value"] == "a"
    world.client.signal_resource(name, "B", {"unset_hook": "pre-update"})
    world.wait_for(name, "UPDATE_COMPLETE")
    assert world.things(name)["B"]["properties"]["value"] == "other"

    world.client.delete_stack(name)
    wait_at(world, name, "DELETE paused until Hook pre-delete is cleared")
    assert "B" in world.things(name)
    world.client.signal_resource(name, "B", {"unset_hook": "pre-delete"})
    world.wait_for(name, GONE)


def state_of(world: World, name: str, resource: str) -> str:
    return str(world.client.show_resource(name, resource)["resource_status"])


def states_with_reason(world: World, name: str, reason: str) -> list[str]:
    events = world.client.list_events(name)
    return [event["resource_status"] for event in events if event["resource_status_reason"] == reason]


def test_what_waits_to_be_created_is_not_begun(world):
    name = world.new_name()
    body = {"template": CHAIN.hot(), "environment": registry("B", hooks="pre-create")}
    world.client.create_stack({"stack_name": name, **body})
    wait_at(world, name, "CREATE paused until Hook pre-create is cleared")
    assert state_of(world, name, "B") == "INIT_COMPLETE"
    world.client.signal_resource(name, "B", {"unset_hook": "pre-create"})
    world.wait_for(name, "CREATE_COMPLETE")
    for reason in ("CREATE paused until Hook pre-create is cleared", "Hook pre-create is cleared"):
        assert states_with_reason(world, name, reason) == ["INIT_COMPLETE"]
    assert state_of(world, name, "B") == "CREATE_COMPLETE"


@pytest.mark.parametrize(
    ("changed", "replaced"),
    [({}, False), ({"B": thing("other")}, False), ({"B": thing("a", flavor="large")}, True)],
)
def test_what_waits_to_be_updated_is_as_it_was(world, changed, replaced):
    name = world.create()
    before = world.things(name)["B"]["id"]
    environment = registry("B", hooks="pre-update")
    world.client.update_stack(name, {"template": CHAIN.but(**changed).hot(), "environment": environment})
    wait_at(world, name, "UPDATE paused until Hook pre-update is cleared")
    assert state_of(world, name, "B") == "CREATE_COMPLETE"
    assert world.things(name)["B"]["id"] == before
    world.client.signal_resource(name, "B", {"unset_hook": "pre-update"})
    world.wait_for(name, "UPDATE_COMPLETE")
    for reason in ("UPDATE paused until Hook pre-update is cleared", "Hook pre-update is cleared"):
        assert states_with_reason(world, name, reason) == ["CREATE_COMPLETE"]
    assert (world.things(name)["B"]["id"] != before) == replaced


def test_a_breakpoint_that_nothing_waits_at_cannot_be_cleared(world):
    name = world.create()
    for hook in ("pre-update", "pre-lunch"):
        with pytest.raises(ClientError) as refused:
            world.client.signal_resource(name, "B", {"unset_hook": hook})
        assert refused.value.status == 400


@pytest.mark.parametrize(
    ("restricted", "changed"), [("update", thing("other")), ("replace", thing("a", flavor="large"))]
)
def test_what_is_restricted_does_not_happen_and_does_no_harm(world, restricted, changed):
    name = world.create()
    before = world.things(name)["A"]
    body = {"environment": registry("A", restricted_actions=[restricted])}
    world.client.update_stack(name, {"template": CHAIN.but(A=changed).hot(), **body})
    assert world.wait_for_end(name) == "UPDATE_FAILED"
    assert "ResourceActionRestricted" in world.client.show_stack(name)["stack_status_reason"]
    assert world.things(name)["A"] == before
    assert state_of(world, name, "A") == "CREATE_COMPLETE"
    assert states_with_reason(world, name, f"{restricted} is restricted for resource.") == ["UPDATE_FAILED"]

    world.client.update_stack(name, {"template": CHAIN.hot()})
    assert world.wait_for_end(name) == "UPDATE_COMPLETE"
    assert world.things(name)["A"]["id"] == before["id"]


# -- signals -----------------------------------------------------------------------------------------


WAITING = {
    "heat_template_version": "2021-04-16",
    "resources": {
        "handle": {"type": "OS::Heat::WaitConditionHandle"},
        "wait": {
            "type": "OS::Heat::WaitCondition",
            "properties": {"handle": {"get_resource": "handle"}, "timeout": 600, "count": 2},
        },
    },
    "outputs": {"data": {"value": {"get_attr": ["wait", "data"]}}},
}


@pytest.mark.timeout(40)  # less than the time after which a wait condition looks by itself
def test_a_wait_condition_is_woken_by_its_signals(world):
    name = world.new_name()
    world.client.create_stack({"stack_name": name, "template": WAITING})
    while not any(
        each["resource_name"] == "wait" and each["resource_status"] == "CREATE_IN_PROGRESS"
        for each in world.client.list_resources(name)
    ):
        time.sleep(TICK)
    for number in ("1", "2"):
        world.client.signal_resource(name, "handle", {"id": number, "data": number, "status": "SUCCESS"})
    world.wait_for(name, "CREATE_COMPLETE")
    assert '"2"' in world.client.show_output(name, "data")["output_value"]


def test_a_resource_that_takes_no_signal_says_so(world):
    name = world.create()
    with pytest.raises(ClientError) as refused:
        world.client.signal_resource(name, "A", {})
    assert refused.value.status == 400
