# SPDX-License-Identifier: Apache-2.0
"""Guards: what they forbid is in the plan, and is done neither by it nor without it."""

from __future__ import annotations

import json

import pytest

from heatconv.client.http import ClientError
from heatconv.testing.templates import DISK
from tests.functional.nested.conftest import hot, server
from tests.functional.plans.conftest import said

GUARDS = {
    "databases": {"forbid": ["delete", "replace"], "names": ["db*"]},
    "few": {"max_deletions": 1},
}
ENVIRONMENT = {"guards": GUARDS}


def guarded(planned, resources):
    planned.create(resources, environment=ENVIRONMENT)


def test_a_plan_says_which_guards_it_breaks_and_is_not_applied(planned):
    guarded(planned, {"db1": server("a"), "web": server("b")})

    plan = planned.plan({"db1": server("a", flavor="large"), "web": server("c")}, environment=ENVIRONMENT)

    assert said(plan) == {"db1": "replace", "web": "update"}
    (broken,) = plan["guards"]
    assert (broken["rule"], broken["resources"]) == ("databases", [["db1"]])
    assert plan["state"] == "refused"
    answer = planned.apply(plan)
    assert (answer.status_code, answer.json()["error"]["type"]) == (409, "GuardBroken")
    assert planned.values() == ["a", "b"]


def test_an_update_that_breaks_one_is_refused_with_the_plan_that_shows_it(planned):
    guarded(planned, {"db1": server("a"), "web": server("b")})

    with pytest.raises(ClientError, match="databases: it forbids to delete db1") as refused:
        planned.update({"web": server("b")})

    plan = str(refused.value).rpartition("plan ")[2].split()[0]
    shown = planned.ask("GET", f"/plans/{plan}").json()["plan"]
    assert (said(shown), shown["state"]) == ({"db1": "delete"}, "refused")
    assert planned.values() == ["a", "b"]


def test_to_restore_a_snapshot_breaks_none_either(planned):
    guarded(planned, {"web": server("b")})
    taken = planned.client.create_snapshot(planned.name, "before")["id"]
    planned.await_state("SNAPSHOT_COMPLETE")
    planned.update({"web": server("b"), "db1": server("a")}, environment=ENVIRONMENT)
    there = planned.values()

    with pytest.raises(ClientError, match="databases: it forbids to delete db1"):
        planned.client.restore_snapshot(planned.name, taken)

    assert planned.values() == there


def test_too_many_deletions_and_the_deletion_of_all(planned):
    guarded(planned, {"a": server("a"), "b": server("b"), "c": server("c")})

    with pytest.raises(ClientError, match="few: it lets 1 go at once, and 2 would"):
        planned.update({"a": server("a")}, environment=ENVIRONMENT)
    with pytest.raises(ClientError, match="few: it lets 1 go at once, and 3 would"):
        planned.client.delete_stack(planned.name)
    planned.update({"a": server("a"), "b": server("b")})
    planned.update({})


def test_what_breaks_none_goes_through(planned):
    guarded(planned, {"db1": server("a"), "web": server("b")})

    planned.update({"db1": server("a2"), "web": server("b")})

    assert planned.values() == ["a2", "b"]
    planned.update({"db1": server("a2")})
    planned.update({"web": server("c")})
    assert planned.values() == ["c"]


def disk(value, **more):
    return server(value, **more) | {"type": DISK}


def test_what_holds_data_stays_unless_its_policy_keeps_the_data(planned):
    rule = {"guards": {"data": {"forbid": ["delete", "replace"], "holds_data": True}}}
    kept = disk("k") | {"deletion_policy": "Retain"}
    planned.create({"d": disk("d"), "k": kept, "web": server("w")}, environment=rule)

    with pytest.raises(ClientError, match=r"data: it forbids to delete d[;.]"):
        planned.update({"web": server("w")}, environment=rule)
    with pytest.raises(ClientError, match=r"data: it forbids to replace d[;.]"):
        planned.update({"d": disk("d", flavor="large")}, environment=rule)

    planned.update({"d": disk("d2"), "web": server("w", flavor="large")}, environment=rule)
    assert planned.values() == ["d2", "k", "w"]


def test_a_rule_with_tags_is_about_stacks_that_have_one(planned):
    rule = {"guards": {"live": {"forbid": ["delete"], "tags": ["production", "live-*"]}}}
    nested = {"N": {"type": "inner.yaml"}}
    files = {"inner.yaml": json.dumps(hot({"A": server("a")}))}
    planned.create(nested, environment=rule, tags="live-eu", files=files)

    with pytest.raises(ClientError, match="live: it forbids to delete N/A, N"):
        planned.update({}, environment=rule, tags="staging")
    with pytest.raises(ClientError, match="live: it forbids to delete A"):
        planned.client.delete_stack(planned.nested("N"))
    planned.update(nested, environment=rule, tags="staging", files=files)

    planned.update({}, environment=rule, tags="live-eu")
    assert planned.values() == []


@pytest.mark.parametrize(
    ("guards", "complaint"),
    [
        ({"g": {"forbid": ["explode"]}}, "There are create, update, replace, delete, and no other"),
        ({"g": {"names": ["a"]}}, "It has to say what it forbids"),
        ({"g": {"max_deletions": -1}}, "whole number"),
        ({"g": {"never": 1}}, "There is no 'never' here"),
        ({"g": {"forbid": ["delete"], "holds_data": "yes"}}, "true or false"),
        ({"g": {"forbid": ["delete"], "tags": "production"}}, "a list of texts"),
    ],
)
def test_guards_that_cannot_be(planned, guards, complaint):
    with pytest.raises(ClientError, match=complaint):
        planned.client.create_stack(
            {"stack_name": planned.name, "template": hot({}), "environment": {"guards": guards}}
        )
