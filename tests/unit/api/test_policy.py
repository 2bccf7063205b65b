# SPDX-License-Identifier: Apache-2.0
"""Every route has a rule, and lets in whom it should."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from types import SimpleNamespace

import pytest
from falcon import testing
from oslo_config import cfg
from oslo_policy import opts as oslo_policy

from heatconv import conf as options
from heatconv.api import auth, deploy, policies, policy
from heatconv.api.routes import ROUTES
from heatconv.rpc.context import RequestContext
from heatconv.rpc.engine_client import EngineClient

ROUTE_LIST = [(method, url) for url, handlers in ROUTES.items() for method in handlers]
STACK = "/stacks/{stack_name}/{stack_id}"

#: Of what is neither GET nor for members: these change nothing.
LOOKS = {
    ("POST", "/stacks/preview"),
    ("POST", "/validate"),
    ("PUT", f"{STACK}/preview"),
    ("PATCH", f"{STACK}/preview"),
}
FOR_STACK_USERS = {
    ("GET", f"{STACK}/resources/{{resource_name}}/metadata"),
    ("POST", f"{STACK}/resources/{{resource_name}}/signal"),
    ("PUT", f"{STACK}/resources/{{resource_name}}/signal"),
    ("GET", "/software_deployments/metadata/{server_id}"),
}


def is_lookup(url):
    return re.fullmatch(r"/stacks/{stack_name}(/[a-z]+|/{stack_id}/{arn_id})?", url) is not None


def may(role, method, url):
    """Tell, apart from the rules themselves, whether somebody may use a route in its own project."""
    if role == "admin":
        return True
    if url in ("/services", "/services/work", "/notifications"):
        return False
    if role == "heat_stack_user":
        return is_lookup(url) or (method, url) in FOR_STACK_USERS
    if role == "member":
        return True
    if role == "reader":
        looks = method == "GET" and not url.endswith("/export")
        return looks or is_lookup(url) or (method, url) in LOOKS
    return False


@pytest.fixture
def conf():
    conf = cfg.ConfigOpts()
    options.register(conf)
    conf([])
    conf.set_override("allowed_hosts", ["falconframework.org"], "api")
    return conf


@pytest.fixture
def rules(conf, tmp_path):
    """Return how to put an operator's rules in force."""

    def put(text):
        file = tmp_path / "policy.yaml"
        file.write_text(text)
        oslo_policy.set_defaults(conf)  # registers the options
        conf.set_override("policy_file", str(file), "oslo_policy")

    return put


@pytest.fixture
def as_somebody(engine, conf):
    """Return how to make a client of somebody with some roles."""

    def client(*roles, project="mine", **more):
        def authenticate(request, _project):
            return RequestContext(
                project_id=project, roles=roles, request_id=request.context.request_id, user_id="u", **more
            )

        return testing.TestClient(deploy.application(EngineClient(engine), conf, authenticate))

    return client


def address(url, project="mine"):
    return f"/v1/{project}" + re.sub(r"{\w+}", "x", url)


@pytest.mark.parametrize("role", ["admin", "member", "reader", "heat_stack_user", "nothing"])
def test_every_route_is_for_some_roles(as_somebody, engine, role):
    implied = auth._IMPLIED.get(role, (role,))
    client = as_somebody(*implied)
    for method, url in ROUTE_LIST:
        engine.contexts.clear()
        answer = client.simulate_request(
            method, address(url), json={"check": None} if method == "POST" else {}
        )
        forbidden = answer.status_code == 403
        assert forbidden is not may(role, method, url), f"{role}: {method} {url} -> {answer.status_code}"
        if forbidden:
            assert engine.contexts == [], f"{method} {url} asked an engine before the policy"
            assert answer.json["error"]["type"] == "Forbidden"


@pytest.mark.parametrize("role", ["member", "reader", "heat_stack_user", "nothing"])
def test_nobody_else_acts_in_another_project(as_somebody, engine, role):
    client = as_somebody(*auth._IMPLIED.get(role, (role,)))
    for method, url in ROUTE_LIST:
        answer = client.simulate_request(method, address(url, "theirs"))
        assert answer.status_code == 403, f"{method} {url}"
        assert (
            answer.json["error"]["message"]
            == "You may act in project mine, and this URL is of project theirs."
        )
    assert engine.contexts == []


def test_an_admin_acts_in_any_project(as_somebody, engine):
    theirs = engine.add_stack("web", project="theirs")
    answer = as_somebody("admin").simulate_get(f"/v1/theirs/stacks/web/{theirs}")
    assert answer.status_code == 200
    assert {context.project_id for context in engine.contexts} == {"theirs"}
    assert all(context.is_admin for context in engine.contexts)


def test_an_admin_of_another_project_than_the_admins_own_acts_there_alone(as_somebody, engine):
    theirs = engine.add_stack("web", project="theirs")
    client = as_somebody("admin", "member", "reader", is_admin_project=False)
    assert client.simulate_get(f"/v1/theirs/stacks/web/{theirs}").status_code == 403
    assert client.simulate_get("/v1/mine/services").status_code == 403
    assert engine.contexts == []
    assert client.simulate_get("/v1/mine/stacks").status_code == 200
    assert [context.is_admin for context in engine.contexts] == [False]


def test_a_member_is_no_admin(as_somebody, engine):
    assert as_somebody("member", "reader").simulate_get("/v1/mine/stacks").status_code == 200
    assert [context.is_admin for context in engine.contexts] == [False]


def test_no_rule_is_for_a_route_that_is_not_there():
    assert set(policies.by_route()) - set(ROUTE_LIST) == set()


def test_a_route_without_a_rule_is_not_served():
    with pytest.raises(LookupError, match="GET /secrets lacks a rule"):
        policy.access("GET", "/secrets")


@pytest.mark.parametrize(
    ("request_line", "body", "rule"),
    [
        ("GET /stacks", None, "stacks:index"),
        ("GET /stacks?global_tenant=TRUE", None, "stacks:global_index"),
        ("GET /stacks?global_tenant=false&global_tenant=true", None, "stacks:global_index"),
        ("POST /notifications", None, "notifications:create"),
        ("POST /notifications?global_tenant=true", None, "notifications:global_create"),
        ("PATCH /stacks/web/ID", {}, "stacks:update_no_change"),
        ("PATCH /stacks/web/ID", {"tags": "a"}, "stacks:update_patch"),
        ("POST /stacks/web/ID/actions", {"resume": None}, "actions:resume"),
        (
            "POST /stacks/web/ID/actions",
            {"cancel_without_rollback": None},
            "actions:cancel_without_rollback",
        ),
        ("POST /stacks/web/ID/actions", {"converge": None}, "actions:converge"),
        ("POST /stacks/web/ID/resources/a/actions", {"observe": None}, "resource:observe"),
        ("POST /stacks/web/ID/resources/a/actions", {"converge": None}, "resource:converge"),
        ("POST /stacks/web/ID/actions", {}, "actions:suspend"),
        ("POST /stacks/web/ID/actions", {"reboot": None}, "actions:suspend"),
        ("POST /plans", {"stack_name": "new"}, "stacks:create"),
        ("POST /stacks/web/ID/plans", {}, "stacks:update"),
        ("POST /stacks/web/ID/plans", {"action": "rollback"}, "actions:rollback"),
        ("POST /stacks/web/ID/plans", {"action": "delete"}, "stacks:delete"),
        ("POST /stacks/web/ID/plans", {"action": "explode"}, "plans:create"),
        ("POST /plans/PLAN/apply", None, "plans:apply"),
        ("POST /plans/PLAN/apply", None, "stacks:delete"),
        ("POST /stacks/web/ID/plans/PLAN/apply", None, "stacks:delete"),
    ],
)
def test_what_a_request_asks_for_can_decide(rules, as_somebody, engine, request_line, body, rule):
    rules(f'"{rule}": "!"')
    engine.plans["PLAN"] = "delete"
    method, path = request_line.replace("ID", engine.add_stack("web", project="mine")).split()
    answer = as_somebody("admin").simulate_request(method, f"/v1/mine{path}", json=body)
    assert answer.status_code == 403
    assert f"policy {rule} does not allow it" in answer.json["error"]["message"]


@pytest.mark.parametrize("url", ["/stacks", "/plans", "/plans/PLAN/apply", "/stacks/web/ID/plans"])
def test_what_has_a_template_carried_out_minds_who_may_use_which_types(as_somebody, engine, url):
    engine.plans["PLAN"] = "create"
    path = url.replace("ID", engine.add_stack("web", project="mine"))
    body = {"stack_name": "new", "template": {"heat_template_version": "2018-08-31"}}
    as_somebody("member", "reader").simulate_post(f"/v1/mine{path}", json=body)
    assert "OS::Nova::Flavor" in engine.contexts[-1].refused_types


def test_nobody_lists_all_projects_unless_the_operator_says_so(rules, as_somebody, engine):
    theirs = engine.add_stack("web", project="theirs")
    everywhere = "/v1/mine/stacks?global_tenant=true"
    assert as_somebody("admin").simulate_get(everywhere).status_code == 403
    rules('"stacks:global_index": "rule:context_is_admin"')
    (row,) = as_somebody("admin").simulate_get(everywhere).json["stacks"]
    assert row["project"] == "theirs"
    assert row["links"][0]["href"].endswith(f"/v1/theirs/stacks/web/{theirs}")
    assert as_somebody("member").simulate_get(everywhere).status_code == 403


@pytest.mark.parametrize("query", ["", "global_tenant=true"])
def test_services_tell_what_happened_to_things(as_somebody, engine, query):
    body = {"physical_ids": ["a"]}
    answer = as_somebody("service").simulate_post("/v1/mine/notifications", query_string=query, json=body)
    assert answer.status_code == 202
    assert engine.noted == [("mine", ["a"], bool(query))]


def test_rules_are_documented():
    for rule in policies.list_rules():
        assert re.fullmatch(r".+\.", rule.description or ""), rule.name


def test_who_is_no_administrator_may_not_use_what_is_for_these(conf):
    rules = policy.Policy(conf)
    member = RequestContext(project_id="mine", roles=("member", "reader"))
    admin = RequestContext(project_id="mine", roles=("admin", "member", "reader"))
    assert {"OS::Nova::Flavor", "OS::Keystone::*"} <= set(rules.refused_types(member))
    assert rules.refused_types(admin) == ()


def test_an_operator_says_who_may_use_which_types(conf, tmp_path):
    (tmp_path / "policy.yaml").write_text(
        '"resource_types:OS::Nova::Flavor": ""\n"resource_types:OS::Nova::Server": "role:builder"\n'
    )
    oslo_policy.set_defaults(conf, str(tmp_path / "policy.yaml"))
    rules = policy.Policy(conf)
    refused = rules.refused_types(RequestContext(project_id="mine", roles=("member",)))
    assert "OS::Nova::Server" in refused
    assert "OS::Nova::Flavor" not in refused
    assert "OS::Nova::Server" not in rules.refused_types(
        RequestContext(project_id="mine", roles=("builder",))
    )


def test_a_changed_file_counts_a_moment_later(as_somebody, rules, monkeypatch, tmp_path):
    now = [1000.0]
    monkeypatch.setattr(policy, "time", SimpleNamespace(monotonic=lambda: now[0]))
    rules('"stacks:index": "!"')
    client = as_somebody("member")
    assert client.simulate_get(address("/stacks")).status_code == 403
    file = tmp_path / "policy.yaml"
    file.write_text('"stacks:index": "@"')
    os.utime(
        file, (now[0], 2 * file.stat().st_mtime)
    )  # or it may have changed within one tick of the disk's clock
    assert client.simulate_get(address("/stacks")).status_code == 403
    now[0] += policy.LOOK
    assert client.simulate_get(address("/stacks")).status_code == 200


def test_what_one_caller_may_is_no_other_callers(conf):
    rules = policy.Policy(conf)
    mine = RequestContext(project_id="mine", roles=("member", "reader"), user_id="u")
    assert rules.allows("stacks:index", mine)
    assert rules.allows("stacks:index", replace(mine, request_id="another", token="sealed"))
    assert not rules.allows("stacks:index", replace(mine, roles=()))
    assert rules.allows("stacks:create", mine)
    assert not rules.allows("stacks:create", replace(mine, roles=("reader",)))


@pytest.mark.parametrize("role", ["admin", "member", "reader"])
def test_what_one_may_is_known_before_it_is_tried(as_somebody, engine, role):
    client = as_somebody(*auth._IMPLIED.get(role, (role,)))
    known = set(client.simulate_get("/v1/mine/permissions").json["permissions"])
    assert engine.contexts == [], "an engine was asked"
    for (method, url), rules_of_it in policies.by_route().items():
        if len(rules_of_it) == 1:
            assert (rules_of_it[0] in known) is may(role, method, url), rules_of_it[0]


def test_what_one_may_is_what_the_operator_has_said(rules, as_somebody):
    rules('"stacks:delete": "!"\n"stacks:global_index": "rule:project_reader"')
    known = as_somebody("member", "reader").simulate_get("/v1/mine/permissions").json["permissions"]
    assert "stacks:delete" not in known
    assert "stacks:global_index" in known
