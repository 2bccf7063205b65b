# SPDX-License-Identifier: Apache-2.0
"""Each door by which something may be deleted or replaced: guards are asked there, or are not on purpose."""

from __future__ import annotations

import json

import pytest

from heatconv.client.http import ClientError
from tests.functional.nested.conftest import SERVER, hot, server
from tests.functional.nested.test_scaling import group, policy, signal

KEEP = {"guards": {"keep": {"forbid": ["delete", "replace"], "names": ["db*"]}}}
FORBIDDEN = "keep: it forbids to delete db1"
HOUR = {"type": "OS::Heat::TestResource", "properties": {"action_wait_secs": {"create": 3600}}}
FILES = {"inner.yaml": json.dumps(hot({"db1": server("inside"), "web": server("w")}))}
NESTED = {"N": {"type": "inner.yaml"}}


@pytest.fixture
def under_way(planned):
    """Begin an update that has made a database, and goes on for an hour."""
    planned.create({"web": server("b")}, environment=KEEP)
    late = HOUR | {"depends_on": "db1"}
    resources = {"web": server("b"), "db1": server("a"), "late": late}
    planned.client.update_stack(planned.name, {"template": hot(resources), "environment": KEEP})
    planned.await_resource(planned.name, "late", "CREATE_IN_PROGRESS")
    return planned


def test_an_update_that_is_taken_back_is_a_rollback_like_another(under_way):
    with pytest.raises(ClientError, match=FORBIDDEN) as refused:
        under_way.client.act(under_way.name, "cancel_update")

    assert under_way.values() == ["a", "b"]
    assert under_way.state() == "UPDATE_IN_PROGRESS"
    plan = str(refused.value).rpartition("plan ")[2].split()[0]
    assert under_way.ask("GET", f"/plans/{plan}").json()["plan"]["action"] == "rollback"
    under_way.client.act(under_way.name, "cancel_without_rollback")
    under_way.await_failure("UPDATE_FAILED")
    under_way.update({"web": server("b"), "db1": server("a")})
    assert under_way.values() == ["a", "b"]


def test_a_rollback_after_a_failure_is_not_asked_about(planned):
    planned.create({"web": server("b")}, environment=KEEP)
    doomed = {"type": "OS::Heat::TestResource", "properties": {"fail": True}, "depends_on": "db1"}
    resources = {"web": server("b"), "db1": server("a"), "late": doomed}
    body = {"template": hot(resources), "environment": KEEP, "disable_rollback": False}
    planned.client.update_stack(planned.name, body)

    planned.await_state("ROLLBACK_COMPLETE")

    assert planned.values() == ["b"]


def test_the_snapshots_of_a_stack_stay_whose_deletion_is_refused(planned):
    planned.create({"db1": server("a")}, environment=KEEP)
    planned.client.create_snapshot(planned.name, "kept")
    planned.await_state("SNAPSHOT_COMPLETE")
    there = planned.values()

    with pytest.raises(ClientError, match=FORBIDDEN):
        planned.client.delete_stack(planned.name)

    assert planned.values() == there
    assert [each["name"] for each in planned.client.list_snapshots(planned.name)] == ["kept"]


def test_a_deletion_that_was_planned_takes_the_snapshots_along(planned):
    planned.create({"web": server("a")})
    planned.client.create_snapshot(planned.name, "taken")
    planned.await_state("SNAPSHOT_COMPLETE")
    assert len(planned.owned()) == 2

    planned.carry_out(planned.plan_of("delete"), None)

    assert planned.owned() == []


def test_a_stack_that_is_nested_is_under_the_rules_of_its_root(planned):
    planned.create(NESTED, environment=KEEP, files=FILES)
    inside = planned.nested("N")

    with pytest.raises(ClientError, match=FORBIDDEN):
        planned.client.update_stack(inside, {"template": hot({"web": server("w")})})
    with pytest.raises(ClientError, match=FORBIDDEN):
        planned.client.delete_stack(inside)

    assert planned.values() == ["inside", "w"]
    planned.update(NESTED, files=FILES)  # which drops the rule
    planned.client.update_stack(inside, {"template": hot({"web": server("w")})})
    while planned.nested_state("N") != "UPDATE_COMPLETE":
        pass
    assert planned.values() == ["w"]


def test_a_signal_is_refused_if_what_it_wishes_breaks_a_rule(planned):
    rule = {"guards": {"members": {"forbid": ["delete"], "types": [SERVER]}}}
    planned.create({"G": group(1, desired_capacity=2), "P": policy(-1)}, environment=rule)

    with pytest.raises(ClientError, match="members: it forbids to delete"):
        signal(planned)

    assert planned.values() == ["v", "v"]


def test_to_abandon_a_stack_deletes_nothing_and_breaks_no_rule(planned):
    planned.create({"db1": server("a")}, environment=KEEP)

    planned.client.abandon_stack(planned.name)
    planned.await_state(None)

    assert planned.values() == ["a"]
