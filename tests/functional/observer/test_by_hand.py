# SPDX-License-Identifier: Apache-2.0
"""Users look at a stack, read what has drifted, and have it put right."""

from __future__ import annotations

import pytest

from heatconv import errors
from heatconv.testing.templates import Template, attr, thing
from tests.functional.core.world import CONTEXT

#: D and E need C, which needs A and B.
FIRST = Template(
    A=thing("a"),
    B=thing("b"),
    C=thing("c", uses=["A", "B"]),
    D=thing("d", uses=["C"]),
    E=thing(attr("C"), uses=["C"]),
)


@pytest.fixture
def web(world):
    """Return a world whose stack is as FIRST wants it, and that nobody observes."""
    world.create(FIRST)
    world.run()
    assert world.state == "CREATE_COMPLETE"
    return world


def test_what_is_as_it_was_made_is_in_sync(web):
    drift = web.observe()

    assert (drift["status"], drift["resources"]) == ("IN_SYNC", [])
    assert web.observations() == []


def test_before_anybody_looked_nothing_is_known(web):
    drift = web.user.show_drift(CONTEXT, web.stack_id)

    assert (drift["status"], drift["since"], drift["policy"]) == ("UNKNOWN", None, "off")


def test_each_drift_is_told_with_its_difference_and_has_an_event(web):
    web.cloud.meddle(web.object_of("A"), {"value": "drifted"})
    web.cloud.vanish(web.object_of("E"))
    web.cloud.spoil(web.object_of("D"))

    drift = web.observe()

    assert drift["status"] == "DRIFTED"
    assert {each["name"]: each["kind"] for each in drift["resources"]} == {
        "A": "CHANGED",
        "D": "ERROR",
        "E": "MISSING",
    }
    assert drift["resources"][0]["differences"] == [
        {"property": "value", "wanted": "a", "observed": "drifted"}
    ]
    assert web.observations() == [
        'A FAILED: value is "drifted" and was made "a"',
        'D FAILED: Went to status ERROR due to "its service says so"',
        "E FAILED: it is not there any more",
    ]


def test_what_nobody_asked_for_is_told_and_taken_back(web):
    labelled = web.object_of("B")
    web.cloud.meddle(labelled, {"tags": ["mine"]})

    drifted = web.observe()["resources"]

    assert [(each["name"], each["kind"]) for each in drifted] == [("B", "UNEXPECTED")]
    assert drifted[0]["differences"] == [{"property": "tags", "wanted": None, "observed": ["mine"]}]
    assert web.observations() == ['B FAILED: tags is ["mine"] and nobody asked for it']
    before = len(web.cloud.audit())
    web.converge()
    assert web.calls(before) == ["update B"]
    assert web.cloud.show(labelled)["properties"]["tags"] is None
    assert web.observe()["resources"] == []


def test_what_nobody_asked_for_beside_what_differs_is_taken_back_too(web):
    web.cloud.meddle(web.object_of("B"), {"tags": ["mine"], "value": "drifted"})

    drifted = web.observe()["resources"]

    assert [(each["kind"], len(each["differences"])) for each in drifted] == [("CHANGED", 2)]
    web.converge()
    assert web.cloud.show(web.object_of("B"))["properties"]["tags"] is None
    assert web.differences(FIRST) == []


# -- a check is a look -------------------------------------------------------------------------


def test_after_a_check_it_is_known_what_has_drifted(web):
    web.cloud.meddle(web.object_of("A"), {"value": "drifted"})
    web.lifecycle.check_stack(CONTEXT, web.stack_id)
    web.observer.tick()
    assert web.drift() == {}  # the check still goes on

    web.run()
    web.observer.tick()

    assert web.state == "CHECK_COMPLETE"
    assert web.drift() == {"A": "CHANGED"}
    assert web.drift_status() == "DRIFTED"
    looked = len(web.cloud.audit())
    web.observer.tick()
    assert len(web.cloud.audit()) == looked


def test_what_fails_its_check_is_failed_and_what_else_has_drifted_is_known(web):
    web.cloud.spoil(web.object_of("E"))
    web.cloud.meddle(web.object_of("A"), {"value": "drifted"})
    web.lifecycle.check_stack(CONTEXT, web.stack_id)
    web.run()
    web.observer.tick()

    assert web.state == "CHECK_FAILED"
    assert web.rows()["E"] == "CHECK_FAILED v0"
    assert web.drift() == {"A": "CHANGED"}


def test_what_is_no_news_is_told_once(web):
    web.cloud.vanish(web.object_of("E"))
    web.observe()
    web.observe()
    since = web.observe()["since"]

    assert len(web.observations()) == 1
    assert web.observe()["since"] == since


def test_what_is_as_it_was_made_again_is_told_too(web):
    web.cloud.meddle(web.object_of("A"), {"value": "drifted"})
    web.observe()
    web.cloud.meddle(web.object_of("A"), {"value": "a"})

    assert web.observe()["status"] == "IN_SYNC"
    assert web.observations()[1:] == ["A COMPLETE: it is as it was made again"]


def test_looking_changes_nothing_in_the_world(web):
    web.cloud.vanish(web.object_of("E"))
    before = len(web.cloud.audit())

    web.observe()
    web.run()

    assert web.calls(before) == []
    assert web.state == "CREATE_COMPLETE"


def test_one_call_tells_of_all_resources_of_a_type(web):
    before = len(web.cloud.audit())

    web.observe()

    assert [entry.op for entry in web.cloud.audit(before)] == ["show_many"]


def test_converging_touches_what_drifted_and_what_depends_on_what_changes_by_that(web):
    web.cloud.meddle(web.object_of("A"), {"value": "drifted"})
    web.cloud.vanish(web.object_of("D"))
    before = len(web.cloud.audit())

    web.converge()

    assert web.state == "UPDATE_COMPLETE"
    # What is gone is deleted all the same: the cloud says that there is nothing to delete.
    assert sorted(web.calls(before)) == ["create D", "delete ", "update A"]
    assert web.differences(FIRST) == []
    assert web.observe()["status"] == "IN_SYNC"


def test_who_refers_to_what_is_made_anew_is_told(web):
    lost = web.object_of("E")
    for name in "DEC":
        web.cloud.vanish(web.object_of(name))

    web.converge()

    assert web.state == "UPDATE_COMPLETE"
    assert web.differences(FIRST) == []
    assert web.object_of("E") != lost


def test_a_thing_in_error_is_replaced(web):
    broken = web.object_of("E")
    web.cloud.spoil(broken)

    web.converge()

    assert web.state == "UPDATE_COMPLETE"
    assert web.object_of("E") != broken
    assert web.differences(FIRST) == []


def test_what_no_update_can_change_back_is_replaced(web):
    changed = web.object_of("E")
    web.cloud.meddle(changed, {"flavor": "large"})

    web.converge()

    assert web.object_of("E") != changed
    assert web.differences(FIRST) == []


def test_converging_what_is_in_sync_does_nothing(web):
    before = len(web.cloud.audit())

    web.converge()

    assert web.state == "UPDATE_COMPLETE"
    assert web.calls(before) == []


def test_one_resource_is_observed_and_converged_alone(web):
    web.cloud.meddle(web.object_of("A"), {"value": "drifted"})
    web.cloud.meddle(web.object_of("B"), {"value": "drifted"})

    assert [each["name"] for each in web.observe("B")["resources"]] == ["B"]
    assert web.drift() == {"B": "CHANGED"}
    web.observe()
    before = len(web.cloud.audit())
    web.converge("A")

    assert web.calls(before) == ["update A"]
    assert web.drift() == {"B": "CHANGED"}


def test_a_plain_update_puts_right_what_is_known_to_have_drifted(web):
    web.cloud.vanish(web.object_of("E"))
    web.observe()
    second = FIRST.but(B=thing("new"))

    web.update(second)
    web.run()

    assert web.state == "UPDATE_COMPLETE"
    assert web.differences(second) == []


def test_an_update_that_converges_looks_before_it_compares(web):
    web.cloud.vanish(web.object_of("E"))
    web.cloud.meddle(web.object_of("A"), {"value": "drifted"})
    source = {"template": FIRST.hot()}

    web.engine.update_stack(CONTEXT, web.stack_id, source, {"converge": True}, existing=False)
    web.run()

    assert web.state == "UPDATE_COMPLETE"
    assert web.differences(FIRST) == []


def test_an_update_to_what_a_thing_was_changed_to_leaves_it_alone(web):
    web.cloud.meddle(web.object_of("A"), {"value": "drifted"})
    web.observe()
    second = FIRST.but(A=thing("drifted"))
    before = len(web.cloud.audit())

    web.update(second)
    web.run()

    assert web.calls(before) == []
    assert web.differences(second) == []


def test_what_was_found_does_not_count_once_the_resource_was_touched(web):
    web.cloud.meddle(web.object_of("A"), {"value": "drifted"})
    web.observe()
    second = FIRST.but(A=thing("new"))
    web.update(second)
    web.run()

    assert web.drift() == {}
    assert web.differences(second) == []


def test_a_converge_that_was_overtaken_leaves_what_it_had_not_reached_to_be_found(web):
    web.cloud.vanish(web.object_of("E"))
    web.cloud.meddle(web.object_of("A"), {"value": "drifted"})
    web.user.converge_stack(CONTEXT, web.stack_id)
    web.bell.take()
    second = FIRST.but(B=thing("new"))

    web.update(second)
    web.run()

    assert web.state == "UPDATE_COMPLETE"
    assert web.differences(second) == []


def test_what_stands_in_place_of_a_secret_is_not_told(world):
    hot = Template(A=thing("a")).hot()
    hot["parameters"] = {"password": {"type": "string", "hidden": True}}
    hot["resources"]["A"]["properties"]["value"] = {"get_param": "password"}
    source = {"template": hot, "parameters": {"password": "old-and-secret"}}
    world.stack_id = world.engine.create_stack(CONTEXT, "web", source, {"disable_rollback": True})
    world.run()
    world.cloud.meddle(world.object_of("A"), {"value": "new-and-secret"})

    (drifted,) = world.observe()["resources"]

    hidden = {"property": "value", "wanted": "******", "observed": "******"}
    assert drifted["differences"] == [hidden]
    assert world.observations() == ["A FAILED: value is not as it was made"]
    world.converge()
    assert [found["properties"]["value"] for found in world.cloud.owned()] == ["old-and-secret"]


def test_what_is_not_there_cannot_be_observed(web):
    with pytest.raises(errors.NotFound, match="Resource"):
        web.observe("nobody")
    with pytest.raises(errors.NotFound, match="Resource"):
        web.converge("nobody")
