# SPDX-License-Identifier: Apache-2.0
"""What is new in a stack, as a client of REST is told of it and waits for it."""

from __future__ import annotations

import pytest

from heatconv.api.watch import HOLD
from tests.unit.api.test_watch import FakeHold


@pytest.fixture
def stack(engine):
    stack_id = engine.add_stack("web")
    engine.add_resource(stack_id, "a")
    engine.add_event(stack_id, "a", "CREATE", "IN_PROGRESS")
    return stack_id


@pytest.fixture
def look(api, stack):
    """Return a function that asks what is new, and may be held."""

    def look(since=None, hold=None, **query):
        asked = {**query, **({} if since is None else {"since": since})}
        path = f"/v1/default/stacks/web/{stack}/changes"
        return api.simulate_get(path, params=asked, extras={HOLD: hold} if hold else {})

    return look


def test_without_a_cursor_there_is_nothing_but_one(look):
    found = look().json["changes"]
    assert (found["events"], found["resources"], found["more"], found["missed"]) == ([], [], False, False)
    assert found["stack"]["stack_status"] == "CREATE_COMPLETE"


def test_what_has_happened_is_told_with_what_it_happened_to(engine, look, stack):
    cursor = look().json["changes"]["cursor"]
    engine.add_event(stack, "a", "CREATE", "COMPLETE")
    found = look(cursor).json["changes"]
    assert [event["resource_status"] for event in found["events"]] == ["CREATE_COMPLETE"]
    assert found["events"][0]["stack"] == {"name": "web", "id": stack}
    (resource,) = found["resources"]
    assert (resource["resource_name"], resource["resource_status"]) == ("a", "CREATE_COMPLETE")
    assert (resource["gone"], resource["requires"], resource["clearing"]) == (False, [], 0)
    assert look(found["cursor"]).json["changes"]["events"] == []


def test_a_request_waits_for_something_new_in_the_whole_tree(engine, look, stack):
    cursor = look().json["changes"]["cursor"]
    hold = FakeHold()
    assert look(cursor, hold, wait=60).status_code == 304  # which the server keeps to itself
    assert hold.begun == 1
    assert engine.trees == [{stack: ""}]
    engine.add_event(stack, "a", "CREATE", "COMPLETE")
    assert hold.is_over()
    assert len(look(cursor, hold, wait=60).json["changes"]["events"]) == 1
    assert hold.begun == 1


def test_what_is_new_already_is_answered_at_once(engine, look, stack):
    cursor = look().json["changes"]["cursor"]
    engine.add_event(stack, "a", "CREATE", "COMPLETE")
    hold = FakeHold()
    assert look(cursor, hold, wait=60).json["changes"]["events"]
    assert hold.begun == 0


def test_who_knows_nothing_does_not_wait(look):
    hold = FakeHold()
    assert look(None, hold, wait=60).status_code == 200
    assert hold.begun == 0


def test_no_more_is_told_at_a_time_than_was_asked_for(engine, look, stack):
    cursor = look().json["changes"]["cursor"]
    for _ in range(3):
        engine.add_event(stack, "a", "CREATE", "COMPLETE")
    found = look(cursor, limit=2).json["changes"]
    assert (len(found["events"]), found["more"]) == (2, True)
    assert len(look(found["cursor"], limit=2).json["changes"]["events"]) == 1


def test_what_is_not_understood_is_refused(look):
    assert look(until="tomorrow").status_code == 400


def test_who_does_not_want_what_is_nested_waits_for_the_stack_alone(engine, look, stack):
    cursor = look(nested="false").json["changes"]["cursor"]
    hold = FakeHold()
    look(cursor, hold, wait=60, nested="false")
    assert hold.begun == 1
    assert engine.trees == []
