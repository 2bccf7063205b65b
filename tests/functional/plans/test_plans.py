# SPDX-License-Identifier: Apache-2.0
"""A plan from POST to apply: what it says, what holds, and what refuses it."""

from __future__ import annotations

from tests.functional.nested.conftest import hot, server
from tests.functional.plans.conftest import said

#: What cannot be made.
DOOMED = {
    "type": "OS::Heat::TestResource",
    "properties": {"value": "x", "fail": True},
    "depends_on": ["A"],
}


def test_a_plan_of_an_update_says_what_will_be_and_applied_it_does_that(planned):
    planned.create({"A": server("a"), "B": server({"get_attr": ["A", "id"]}), "C": server("c")})

    plan = planned.plan({"A": server("a", flavor="large"), "B": server({"get_attr": ["A", "id"]})})

    assert said(plan) == {"A": "replace", "B": "update?", "C": "delete"}
    assert plan["summary"]["replace"] == {"certain": 1, "possible": 0}
    (first,) = [each for each in plan["resources"] if each["name"] == "A"]
    assert first["replaced_because"] == ["flavor cannot be updated"]
    assert first["changes"][0]["before"]["made"] == "small"
    (second,) = [each for each in plan["resources"] if each["name"] == "B"]
    assert second["hangs_on"][0]["path"] == ["A"]
    assert second["changes"][0]["unknown"] is True
    assert second["because"][0]["via"] == [["A"]]

    asked = planned.carry_out(plan)

    assert sorted(asked) == ["create A", "delete A", "delete C", "update B"]
    assert planned.apply(plan).status_code == 409


def test_beside_a_change_that_it_does_not_touch_a_plan_goes_through(planned):
    planned.create({"A": server("a"), "B": server("b"), "C": server("c")})
    plan = planned.plan({"A": server("a2"), "B": server("b"), "C": server("c")})
    planned.update({"A": server("a"), "B": server("b2"), "D": server("d")})

    assert planned.carry_out(plan) == ["update A"]
    assert planned.values() == ["a2", "b2", "d"]


def test_after_a_change_that_it_touches_a_plan_is_refused_by_name(planned):
    planned.create({"A": server("a"), "B": server("b")})
    plan = planned.plan({"A": server("a2"), "B": server("b")})
    planned.update({"A": server("a3"), "B": server("b")})

    answer = planned.apply(plan)

    assert answer.status_code == 409
    error = answer.json()["error"]
    assert error["type"] == "PlanStale"
    assert "resources.A was changed as well" in error["message"]
    assert "last changed by" in error["message"]
    assert planned.values() == ["a3", "b"]
    assert planned.apply(plan).status_code == 409


def test_a_change_of_what_a_plan_goes_by_refuses_it(planned):
    planned.create({"A": server("a"), "B": server("b")})
    plan = planned.plan({"A": server("a"), "B": server({"get_attr": ["A", "id"]})})
    planned.update({"A": server("a", flavor="large"), "B": server("b")})

    answer = planned.apply(plan)

    assert answer.status_code == 409, answer.text
    assert planned.values() == ["a", "b"]


def test_plans_of_a_creation_a_rollback_and_a_deletion(planned):
    body = {
        "stack_name": planned.name,
        "template": hot({"A": server("a"), "B": server({"get_attr": ["A", "id"]})}),
    }
    creation = planned.ask("POST", "/plans", body).json()["plan"]
    assert said(creation) == {"A": "create", "B": "create"}
    assert creation["stack"] == {"id": None, "name": planned.name}
    assert planned.state() is None
    assert planned.carry_out(creation, "CREATE_COMPLETE") == ["create A", "create B"]

    planned.client.update_stack(planned.name, {"template": hot({"A": server("a2"), "X": DOOMED})})
    planned.await_failure("UPDATE_FAILED")
    back = planned.plan_of("rollback")
    assert said(back) == {"A": "update", "X": "delete"}
    planned.carry_out(back, "ROLLBACK_COMPLETE")

    end = planned.plan_of("delete")
    assert said(end) == {"A": "delete", "B": "delete"}
    assert sorted(planned.carry_out(end, None)) == ["delete A", "delete B"]


def test_a_patch_is_planned_on_what_there_is(planned):
    parameters = {"a": {"type": "string", "default": "1"}, "b": {"type": "string", "default": "1"}}
    resources = {name.upper(): server({"get_param": name}) for name in parameters}
    planned.client.create_stack({"stack_name": planned.name, "template": hot(resources, None, parameters)})
    planned.await_state("CREATE_COMPLETE")
    first = planned.ask("POST", f"{planned.place}/plans", {"existing": True, "parameters": {"a": "2"}})
    plan = first.json()["plan"]
    planned.client.update_stack(planned.name, {"parameters": {"b": "3"}}, existing=True)
    planned.await_state("UPDATE_COMPLETE")

    assert said(plan) == {"A": "update"}
    assert planned.carry_out(plan) == ["update A"]
    assert planned.values() == ["2", "3"]


def test_plans_are_listed_shown_and_forgotten(planned):
    planned.create({"A": server("a")})
    plans = [planned.plan({"A": server(value)})["id"] for value in "bc"]

    listed = planned.ask("GET", f"{planned.place}/plans").json()["plans"]
    assert [each["id"] for each in listed] == plans[::-1]
    assert "resources" not in listed[0]
    page = planned.ask("GET", f"{planned.place}/plans?limit=1&marker={plans[1]}").json()["plans"]
    assert [each["id"] for each in page] == plans[:1]
    assert planned.ask("GET", f"/plans/{plans[0]}").json()["plan"]["resources"][0]["path"] == ["A"]
    assert planned.ask("DELETE", f"{planned.place}/plans/{plans[0]}").status_code == 204
    assert planned.ask("GET", f"/plans/{plans[0]}").status_code == 404
    assert planned.ask("POST", f"/plans/{plans[0]}/apply").status_code == 404


def test_what_no_template_can_be_is_no_plan(planned):
    planned.create({"A": server("a")})

    answer = planned.ask("POST", f"{planned.place}/plans", {"template": hot({"A": {"type": "No::Such"}})})

    assert answer.status_code == 400
    assert "No::Such" in answer.json()["error"]["message"]


def test_secrets_are_in_no_plan(planned):
    parameters = {"word": {"type": "string", "hidden": True}}
    template = hot({"A": server({"get_param": "word"})}, None, parameters)
    body = {"stack_name": planned.name, "template": template, "parameters": {"word": "first-secret"}}
    planned.client.create_stack(body)
    planned.await_state("CREATE_COMPLETE")

    again = {"template": template, "parameters": {"word": "second-secret"}}
    answer = planned.ask("POST", f"{planned.place}/plans", again)

    (change,) = answer.json()["plan"]["resources"][0]["changes"]
    assert (change["before"]["made"], change["after"]) == ("(hidden)", "(hidden)")
    assert (change["hidden"], change["equal"]) == (True, False)
    assert "secret" not in answer.text.replace("secrets", "")
