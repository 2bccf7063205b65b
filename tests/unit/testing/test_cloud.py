# SPDX-License-Identifier: Apache-2.0
"""The fake cloud, in process: time passes only for those who look."""

from __future__ import annotations

import pytest

from heatconv.testing.cloud import Cloud
from heatconv.testing.failures import FailureRule, Outcome, Refused, Unreachable


@pytest.fixture
def cloud():
    return Cloud(clock=None)


def make(cloud, name, *uses, wait=None):
    return cloud.create(name, "server", f"web/{name}", {"uses": list(uses)}, wait=wait)["id"]


def status(cloud, object_id):
    return cloud.show(object_id)["status"]


def refusal(call, *arguments):
    with pytest.raises(Refused) as caught:
        call(*arguments)
    return caught.value.status


def test_an_object_is_active_at_once_unless_told_to_take_its_time(cloud):
    assert status(cloud, make(cloud, "A")) == "ACTIVE"


def test_an_object_becomes_active_with_the_last_look_it_takes(cloud):
    made = make(cloud, "A", wait=2)
    assert [status(cloud, made), status(cloud, made)] == ["BUILD", "ACTIVE"]


def test_an_object_becomes_active_when_its_time_has_come():
    now = [100.0]
    cloud = Cloud(clock=lambda: now[0])
    made = make(cloud, "A", wait=5)
    assert status(cloud, made) == "BUILD"
    now[0] = 105.0
    assert status(cloud, made) == "ACTIVE"


def test_latency_applies_to_every_operation_of_its_kind(cloud):
    cloud.latency["delete"] = 2
    made = make(cloud, "A")
    cloud.delete(made)
    assert status(cloud, made) == "DELETING"
    assert refusal(cloud.show, made) == 404


def test_an_update_changes_just_the_properties_it_names(cloud):
    made = cloud.create("A", "server", "web/A", {"value": "old", "flavor": "small"})["id"]
    cloud.update(made, {"value": "new"})
    assert cloud.show(made)["properties"] == {"value": "new", "flavor": "small"}


def test_objects_are_found_by_name_and_kind(cloud):
    made = make(cloud, "A")
    make(cloud, "B")
    assert [found["id"] for found in cloud.find("A")] == [made]
    assert cloud.find("A", "router") == []


def test_two_objects_may_have_one_name(cloud):
    assert {make(cloud, "A"), make(cloud, "A")} == {found["id"] for found in cloud.find("A")}


def test_owned_tells_the_objects_of_an_owner(cloud):
    make(cloud, "A")
    cloud.create("B", "server", "other/B", {})
    assert [found["name"] for found in cloud.owned("web/")] == ["A"]


def test_an_object_in_use_cannot_be_deleted(cloud):
    used = make(cloud, "A")
    user = make(cloud, "B", used)
    assert refusal(cloud.delete, used) == 409
    cloud.delete(user)
    cloud.delete(used)
    assert cloud.owned() == []


def test_an_object_is_in_use_until_its_user_is_gone(cloud):
    used = make(cloud, "A")
    user = make(cloud, "B", used)
    cloud.delete(user, wait=1)
    assert refusal(cloud.delete, used) == 409
    assert refusal(cloud.show, user) == 404
    cloud.delete(used)


@pytest.mark.parametrize("prepare", ["missing", "building", "deleting"])
def test_what_is_not_there_or_not_ready_cannot_be_used(cloud, prepare):
    used = make(cloud, "A", wait=9 if prepare == "building" else 0)
    if prepare == "deleting":
        cloud.delete(used, wait=9)
    assert refusal(make, cloud, "B", "no-such-id" if prepare == "missing" else used) == 409
    assert [found["name"] for found in cloud.owned()] == ["A"]


def test_an_object_cannot_come_to_use_itself(cloud):
    first = make(cloud, "A")
    second = make(cloud, "B", first)
    third = make(cloud, "C", second)
    assert refusal(cloud.update, first, {"uses": [third]}) == 409


@pytest.mark.parametrize("state", ["BUILD", "DELETING"])
def test_an_object_that_comes_or_goes_cannot_be_updated(cloud, state):
    made = make(cloud, "A", wait=9 if state == "BUILD" else 0)
    if state == "DELETING":
        cloud.delete(made, wait=9)
    assert refusal(cloud.update, made, {"value": "x"}) == 409


def test_deleting_again_what_is_being_deleted_is_harmless(cloud):
    made = make(cloud, "A")
    cloud.delete(made, wait=1)
    cloud.delete(made)
    assert refusal(cloud.show, made) == 404
    assert refusal(cloud.delete, made) == 404


def test_a_rule_fails_just_the_next_operations_that_match(cloud):
    cloud.fail(FailureRule(op="create", owner="*/B", status=503, times=2))
    make(cloud, "A")
    assert [refusal(make, cloud, "B"), refusal(make, cloud, "B")] == [503, 503]
    make(cloud, "B")
    assert {found["name"] for found in cloud.owned()} == {"A", "B"}


def test_a_refusal_can_say_when_to_come_again(cloud):
    cloud.fail(FailureRule(op="create", status=429, retry_after=7))
    with pytest.raises(Refused) as caught:
        make(cloud, "A")
    assert caught.value.retry_after == 7


def test_a_rule_without_a_count_holds_until_it_is_dropped(cloud):
    cloud.fail(FailureRule(op="show", times=None))
    made = make(cloud, "A")
    assert {refusal(cloud.show, made) for _ in range(5)} == {500}
    cloud.stop_failing()
    assert status(cloud, made) == "ACTIVE"


def test_a_cut_operation_is_carried_out_and_nobody_is_told(cloud):
    cloud.fail(FailureRule(op="create", outcome=Outcome.CUT))
    with pytest.raises(Unreachable):
        make(cloud, "A")
    assert [found["name"] for found in cloud.find("A")] == ["A"]
    assert (cloud.audit()[0].result, cloud.audit()[0].answered) == (200, False)


def test_a_broken_creation_ends_in_error(cloud):
    cloud.fail(FailureRule(op="create", outcome=Outcome.BREAK))
    made = make(cloud, "A", wait=1)
    assert status(cloud, made) == "ERROR"


def test_the_audit_log_tells_every_operation_in_order(cloud):
    used = make(cloud, "A")
    user = make(cloud, "B", used)
    refusal(cloud.delete, used)
    cloud.update(user, {"uses": []})
    cloud.show(user)
    log = [(entry.sequence, entry.op, entry.owner, entry.result) for entry in cloud.audit()]
    assert log == [
        (0, "create", "web/A", 200),
        (1, "create", "web/B", 200),
        (2, "delete", "web/A", 409),
        (3, "update", "web/B", 200),
        (4, "show", "web/B", 200),
    ]
    assert [entry.sequence for entry in cloud.audit(3)] == [3, 4]
    assert cloud.audit()[3].properties == {"uses": []}


def test_what_happens_behind_everybodys_back_is_not_in_the_log(cloud):
    changed, lost = make(cloud, "A"), make(cloud, "B")
    cloud.meddle(changed, {"value": "drifted"})
    cloud.vanish(lost)
    assert cloud.show(changed)["properties"]["value"] == "drifted"
    assert refusal(cloud.show, lost) == 404
    assert {entry.op for entry in cloud.audit()} == {"create", "show"}


def test_reset_forgets_everything(cloud):
    make(cloud, "A")
    cloud.fail(FailureRule())
    cloud.reset()
    assert cloud.owned() == []
    assert list(cloud.audit()) == []
    make(cloud, "A")


# -- behind everybody's back ----------------------------------------------------------------


def test_many_are_shown_by_one_operation(cloud):
    made = [make(cloud, name) for name in "ABC"]
    before = len(cloud.audit())
    cloud.vanish(made[1])
    assert [found["id"] for found in cloud.show_many([*made[:2], "nobody"])] == made[:1]
    assert [entry.op for entry in cloud.audit(before)] == ["show_many"]


def test_showing_many_can_be_told_to_fail(cloud):
    cloud.fail(FailureRule(op="show_many", status=503))
    assert refusal(cloud.show_many, []) == 503


def test_what_is_spoilt_is_in_error(cloud):
    made = make(cloud, "A")
    cloud.spoil(made)
    assert status(cloud, made) == "ERROR"


def test_a_chain_may_lead_to_what_was_deleted_by_hand():
    cloud = Cloud()
    a = cloud.create("a", "k", "s/A", {}, wait=0)["id"]
    b = cloud.create("b", "k", "s/B", {"uses": [a]}, wait=0)["id"]
    cloud.vanish(a)

    assert cloud.create("c", "k", "s/C", {"uses": [b]}, wait=0)["status"] == "ACTIVE"
