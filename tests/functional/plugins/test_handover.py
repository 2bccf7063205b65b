# SPDX-License-Identifier: Apache-2.0
"""A replacement gets what there can be but one of, and gives it back if it is not wanted any more."""

from __future__ import annotations

import pytest

from heatconv.testing.failures import FailureRule, Outcome

ALL = 1000  #: times


def holder(address, label):
    return {"type": "My::Cloud::Address", "properties": {"address": address, "label": label}}


def held(stack):
    """Return who has which address, by label."""
    return {each["properties"]["label"]: each["properties"]["address"] for each in stack.things()}


def test_a_replacement_gets_the_address_of_what_it_replaces(stack):
    stack.create({"a": holder("10.0.0.1", "old")})
    stack.update({"a": holder("10.0.0.1", "new")})
    assert held(stack) == {"new": "10.0.0.1"}


def test_what_was_replaced_in_vain_has_its_address_again(stack):
    stack.create({"a": holder("10.0.0.2", "old")})
    stack.cloud.fail(FailureRule(op="create", owner=f"{stack.name}/b", status=403, times=ALL))
    refused = {"type": "My::Cloud::Volume", "properties": {"size": 5}, "depends_on": "a"}
    new = {"a": holder("10.0.0.2", "new"), "b": refused}
    stack.update(new, until="ROLLBACK_COMPLETE", rollback=True)
    assert held(stack) == {"old": "10.0.0.2"}
    assert stack.shown("a")["resource_status"] == "CREATE_COMPLETE"
    stack.cloud.stop_failing()
    stack.update({"a": holder("10.0.0.2", "new")})
    assert held(stack) == {"new": "10.0.0.2"}


@pytest.mark.parametrize("status", [503, 409])
def test_a_service_that_is_busy_is_asked_again(stack, status):
    stack.create({"a": holder("10.0.0.3", "old")})
    stack.cloud.fail(FailureRule(op="update", owner=f"{stack.name}/a", status=status, times=2))
    stack.update({"a": holder("10.0.0.3", "new")})
    assert held(stack) == {"new": "10.0.0.3"}


def test_an_address_that_was_handed_over_though_nobody_heard_of_it_comes_back(stack):
    stack.create({"a": holder("10.0.0.4", "old")})
    stack.cloud.fail(FailureRule(op="update", owner=f"{stack.name}/a", outcome=Outcome.CUT))
    stack.cloud.fail(FailureRule(op="create", owner=f"{stack.name}/a", status=403, times=ALL))
    stack.update({"a": holder("10.0.0.4", "new")}, until="ROLLBACK_COMPLETE", rollback=True)
    assert held(stack) == {"old": "10.0.0.4"}


def test_what_may_not_hand_over_stays_as_it_is(stack):
    stack.create({"a": holder("10.0.0.5", "old")})
    stack.cloud.fail(FailureRule(op="update", owner=f"{stack.name}/a", status=403))
    stack.update({"a": holder("10.0.0.5", "new")}, until="UPDATE_FAILED")
    assert "a: It cannot hand over to a replacement: 403" in stack.reason()
    assert held(stack) == {"old": "10.0.0.5"}
    stack.update({"a": holder("10.0.0.5", "old")})
    assert held(stack) == {"old": "10.0.0.5"}
    assert stack.operations() == ["create", "update", "update", "update"]
