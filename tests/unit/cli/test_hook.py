# SPDX-License-Identifier: Apache-2.0
"""Which resources wait at a hook, as the events tell."""

from __future__ import annotations

from heatconv.cli.stack_hook import _waiting


def said(stack, name, reason, physical_id="an id"):
    return {
        "resource_name": name,
        "physical_resource_id": physical_id,
        "resource_status_reason": reason,
        "links": [
            {"rel": "self", "href": f"http://heat/v1/p/stacks/n/{stack}/resources/{name}/events/1"},
            {"rel": "stack", "href": f"http://heat/v1/p/stacks/n/{stack}"},
        ],
    }


def paused(stack, name, hook="pre-create", action="CREATE"):
    return said(stack, name, f"{action} paused until Hook {hook} is cleared")


def cleared(stack, name, hook="pre-create"):
    return said(stack, name, f"Hook {hook} is cleared")


def found(*events):
    return [(event["stack_id"], event["resource_name"], event["hook"]) for event in _waiting(events)]


def test_what_was_told_to_go_on_does_not_wait():
    assert found(paused("1", "a"), paused("1", "b"), cleared("1", "a")) == [("1", "b", "pre-create")]


def test_a_resource_may_wait_at_one_hook_after_the_other():
    events = paused("1", "a"), cleared("1", "a"), paused("1", "a", "pre-update", "UPDATE")
    assert found(*events) == [("1", "a", "pre-update")]


def test_a_nested_stack_is_told_apart_from_the_one_around_it():
    assert found(paused("1", "a"), paused("2", "a"), cleared("2", "a")) == [("1", "a", "pre-create")]


def test_a_new_action_forgets_who_waited_in_its_own_stack():
    events = paused("1", "a"), paused("2", "a"), said("1", "n", "Stack UPDATE started", physical_id="1")
    assert found(*events) == [("2", "a", "pre-create")]


def test_a_reason_may_be_missing():
    assert found(said("1", "a", None)) == []
