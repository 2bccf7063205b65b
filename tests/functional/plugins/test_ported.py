# SPDX-License-Identifier: Apache-2.0
"""Plugins written for Heat do here what they do there, with nothing but their import lines changed."""

from __future__ import annotations

import json

import pytest
import requests

from heatconv.client.http import ClientError
from heatconv.testing.failures import FailureRule, Outcome


def volume(**properties):
    return {"type": "My::Cloud::Volume", "properties": {"size": 5} | properties}


def network(**properties):
    return {"type": "My::Cloud::Network", "properties": properties}


def machine(**properties):
    return {"type": "My::Cloud::Machine", "properties": properties}


# -- many steps ------------------------------------------------------------------------------


def test_a_volume_is_made_step_by_step_and_goes_when_it_is_gone(stack):
    stack.cloud.set_latency(delete=0.3)
    stack.create({"volume": volume()})
    assert stack.thing("volume")["properties"]["step"] == "attached"
    assert stack.operations() == ["create", "update", "update"]
    stack.delete()
    assert stack.things() == []


def test_a_volume_that_came_out_broken_is_made_anew(stack):
    stack.cloud.fail(FailureRule(op="create", owner=f"{stack.name}/*", outcome=Outcome.BREAK))
    stack.create({"volume": volume()})
    assert stack.thing("volume")["status"] == "ACTIVE"
    assert stack.operations() == ["create", "delete", "create", "update", "update"]


def test_another_size_takes_another_volume(stack):
    stack.create({"volume": volume()})
    first = stack.thing("volume")["id"]
    stack.update({"volume": volume(size=6)})
    assert stack.thing("volume")["properties"]["size"] == 6
    assert stack.thing("volume")["id"] != first


# -- updates and translation --------------------------------------------------------------------


def test_a_network_understands_its_old_names_and_is_updated_in_place(stack):
    stack.create(
        {
            "a": network(title="first", tags=["x"], tag="y"),
            "b": network(peer={"get_resource": "a"}),
        }
    )
    first = stack.thing("a")
    assert (first["properties"]["label"], first["properties"]["tags"]) == ("first", ["x", "y"])
    assert stack.thing("b")["properties"]["peer"] == first["id"]

    stack.update({"a": network(label="second", tags=["x"]), "b": network(peer=first["name"])})
    assert stack.thing("a")["id"] == first["id"]
    assert stack.thing("a")["properties"]["label"] == "second"
    assert stack.thing("a")["properties"]["tags"] == ["x"]
    # A name for what an id named before is no change.
    assert stack.operations() == ["create", "create", "update"]


def test_a_network_knows_who_requires_it(stack):
    peer = {"get_resource": "a"}
    required_by = {"get_attr": ["a", "required_by"]}
    stack.create({"a": network(), "b": network(peer=peer), "c": network(peer=peer)}, {"for": required_by})
    assert stack.output("for") == ["b", "c"]
    assert stack.client.show_resource(stack.name, "a")["attributes"] == {"required_by": ["b", "c"]}
    stack.update({"a": network(), "b": network(peer=peer)})
    assert stack.client.show_resource(stack.name, "b")["attributes"] == {"required_by": []}
    assert stack.client.show_resource(stack.name, "a", ["required_by"])["required_by"] == ["b"]


def test_what_may_not_change_is_refused_and_stays(stack):
    stack.create({"a": network(zone="here")})
    stack.update({"a": network(zone="there")}, until="UPDATE_FAILED")
    assert "Update to properties zone of a" in stack.reason()
    assert stack.thing("a")["properties"]["zone"] == "here"


# -- attributes ---------------------------------------------------------------------------------


def test_attributes_are_read_along_their_paths(stack):
    stack.create(
        {
            "record": {
                "type": "My::Cloud::Record",
                "properties": {"content": {"title": "t", "lines": ["1", 2]}},
            }
        },
        {
            "line": {"get_attr": ["record", "content", "lines", 0]},
            "serial": {"get_attr": ["record", "serial"]},
            "secret": {"get_attr": ["record", "secret"]},
            "kind": {"get_attr": ["record", "show", "kind"]},
            "name": {"get_resource": "record"},
        },
    )
    made = stack.thing("record")
    assert stack.output("line") == 1
    assert stack.output("serial") == 7
    assert stack.output("secret") == "hush"
    assert stack.output("kind") == "Record"
    assert stack.output("name") == made["name"]


def test_an_attribute_that_its_service_refuses_is_no_failure_of_the_resource(stack):
    stack.cloud.fail(FailureRule(op="show", owner=f"{stack.name}/record", outcome=Outcome.REFUSE, status=403))
    record = {"type": "My::Cloud::Record", "properties": {"content": {"title": "t"}}}
    outputs = {"serial": {"get_attr": ["record", "serial"]}, "secret": {"get_attr": ["record", "secret"]}}
    stack.create({"record": record}, outputs)

    shown = stack.client.show_output(stack.name, "serial")
    assert shown["output_value"] is None
    assert shown["output_error"] == "record: its attribute serial is not known."
    assert stack.output("secret") == "hush"


# -- signals ------------------------------------------------------------------------------------


@pytest.fixture
def counter(stack):
    resources = {"counter": {"type": "My::Cloud::Counter", "properties": {"step": 3}}}
    stack.create(resources, {"url": {"get_attr": ["counter", "url"]}})
    return stack


def count(stack):
    return stack.thing("counter")["properties"]["count"]


def test_a_signal_reaches_its_resource_by_the_api_and_by_its_url(counter):
    counter.client.signal_resource(counter.name, "counter", {})
    assert count(counter) == 3
    answer = requests.post(counter.output("url"), json={"any": "thing"}, timeout=30)
    assert answer.ok, answer.text
    assert count(counter) == 6
    reasons = [each["resource_status_reason"] for each in counter.events("counter")]
    assert {each for each in reasons if "counted" in each} == {
        "Signal: counted from 0",
        "Signal: counted from 3",
    }


def test_an_update_changes_what_the_next_signal_does(counter):
    counter.update({"counter": {"type": "My::Cloud::Counter", "properties": {"step": 5}}})
    counter.client.signal_resource(counter.name, "counter", {})
    assert count(counter) == 5


def test_a_signal_that_needs_no_action_leaves_no_trace(counter):
    before = len(counter.events("counter"))
    counter.client.signal_resource(counter.name, "counter", {"ignore": True})
    assert len(counter.events("counter")) == before
    assert count(counter) == 0


def test_a_signal_with_a_mistake_is_refused_with_its_reason(counter):
    with pytest.raises(ClientError, match="the step is not up to you") as caught:
        counter.client.signal_resource(counter.name, "counter", {"step": 9})
    assert caught.value.status == 400


def test_a_type_that_takes_no_signals_says_so(stack):
    stack.create({"volume": volume()})
    with pytest.raises(ClientError, match="Signal is not supported") as caught:
        stack.client.signal_resource(stack.name, "volume", {})
    assert caught.value.status == 400


# -- constraints ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("properties", "sentence"),
    [
        ({"colour": "pink"}, "pink is no colour"),
        ({"image": "no-such-image"}, r"The Thing \(no-such-image\) could not be found"),
        ({"name": "x"}, r"length \(1\) is out of range \(min: 2, max: 8\)"),
        ({"name": "UPPER"}, '"UPPER" does not match pattern'),
        ({"name": "web", "image": {"get_resource": "volume"}}, "at the same time: image, name"),
    ],
)
def test_what_a_constraint_does_not_like_is_refused_before_anything_is_made(stack, properties, sentence):
    resources = {"machine": machine(**properties), "volume": volume()}
    with pytest.raises(ClientError, match=sentence) as caught:
        stack.create(resources)
    assert caught.value.status == 400
    assert stack.state() == "gone"


def test_what_a_constraint_finds_is_accepted(stack):
    stack.create({"volume": volume()})
    image = stack.thing("volume")["name"]
    stack.update({"volume": volume(), "machine": machine(image=image, colour="blue")})
    assert stack.thing("machine")["properties"]["colour"] == "blue"


# -- suspend, check, snapshot --------------------------------------------------------------------------


def test_a_machine_is_suspended_and_resumed(stack):
    stack.create({"machine": machine()})
    stack.act("suspend", until="SUSPEND_COMPLETE")
    assert stack.thing("machine")["properties"]["power"] == "off"
    stack.act("resume", until="RESUME_COMPLETE")
    assert stack.thing("machine")["properties"]["power"] == "on"


def test_a_machine_that_is_not_well_is_found_and_replaced(stack):
    stack.create({"machine": machine()})
    first = stack.thing("machine")["id"]
    stack.act("check", until="CHECK_COMPLETE")
    stack.cloud.meddle(first, {"power": "off"})
    stack.act("check", until="CHECK_FAILED")
    assert "'power': expected 'on', got 'off'" in stack.reason()
    stack.update({"machine": machine()})
    assert stack.thing("machine")["id"] != first


def test_a_machine_goes_back_to_its_snapshot(stack):
    resources = {"machine": machine(colour="green")}
    stack.create(resources)
    snapshot = stack.client.create_snapshot(stack.name)["id"]
    stack.wait_for("SNAPSHOT_COMPLETE")
    first = stack.client.show_resource(stack.name, "machine")["physical_resource_id"]
    stack.update({"machine": machine(colour="blue")})

    stack.client.restore_snapshot(stack.name, snapshot)
    stack.wait_for("RESTORE_COMPLETE")
    colours = {found["id"]: found["properties"]["colour"] for found in stack.things()}
    assert colours[first] == "green"
    assert len(colours) == 2

    stack.client.delete_snapshot(stack.name, snapshot)
    assert [found["id"] for found in stack.things()] == [first]


# -- what users are told of the types ----------------------------------------------------------------


def test_the_types_show_their_schemas(stack):
    shown = stack.client.show_resource_type("My::Cloud::Network")
    assert shown["properties"]["label"]["update_allowed"] is True
    assert shown["properties"]["zone"]["immutable"] is True
    assert shown["properties"]["peer"]["constraints"] == [{"custom_constraint": "fakecloud.thing"}]
    assert "show" in stack.client.show_resource_type("My::Cloud::Record")["attributes"]
    assert json.dumps(shown)
