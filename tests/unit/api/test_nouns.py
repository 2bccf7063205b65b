# SPDX-License-Identifier: Apache-2.0
"""Resources, events, types, templates and the service itself."""

from __future__ import annotations

import re

import pytest

NOW = "2026-01-31T12:00:00Z"


@pytest.fixture
def stack_id(engine):
    stack_id = engine.add_stack("web")
    engine.add_resource(stack_id, "a", required_by=["b"], metadata={"k": "v"}, description="first")
    engine.add_resource(stack_id, "b", physical_id=None, action="INIT")
    return stack_id


@pytest.fixture
def url(stack_id):
    return f"/v1/default/stacks/web/{stack_id}"


def test_resources_have_heats_keys(api, url):
    rows = api.simulate_get(f"{url}/resources").json["resources"]
    base = f"http://falconframework.org{url}"
    assert rows[0] == {
        "resource_name": "a",
        "logical_resource_id": "a",
        "physical_resource_id": "physical-a",
        "resource_type": "OS::Heat::TestResource",
        "resource_status": "CREATE_COMPLETE",
        "resource_status_reason": "state changed",
        "required_by": ["b"],
        "creation_time": NOW,
        "updated_time": NOW,
        "links": [{"href": f"{base}/resources/a", "rel": "self"}, {"href": base, "rel": "stack"}],
    }
    assert rows[1]["physical_resource_id"] == ""
    assert rows[1]["resource_status"] == "INIT_COMPLETE"


def test_resources_are_filtered(api, url):
    rows = api.simulate_get(f"{url}/resources", query_string="physical_resource_id=physical-a&type=x").json
    assert rows == {"resources": []}
    rows = api.simulate_get(f"{url}/resources", query_string="action=INIT&with_detail=true").json
    assert [(row["resource_name"], row["description"]) for row in rows["resources"]] == [("b", "")]


def test_resources_of_nested_stacks_say_where_they_are(api, engine, stack_id, url):
    inner = engine.add_stack("inner")
    engine.add_resource(inner, "c", parent_resource="a")
    (row,) = engine.resources[inner]
    engine.resources[stack_id].append(row)
    engine.resources[stack_id][0]["nested"] = {"name": "inner", "id": inner}

    rows = api.simulate_get(f"{url}/resources", query_string="nested_depth=2").json["resources"]

    assert engine.queries == [{"filters": {}, "nested_depth": 2}]
    below = f"http://falconframework.org/v1/default/stacks/inner/{inner}"
    assert {"href": below, "rel": "nested"} in rows[0]["links"]
    assert "parent_resource" not in rows[0]
    assert rows[2]["parent_resource"] == "a"
    assert rows[2]["links"] == [
        {"href": f"{below}/resources/c", "rel": "self"},
        {"href": below, "rel": "stack"},
    ]


def test_what_is_being_cleared_away_is_listed_if_asked_for(api, engine, stack_id, url):
    engine.add_resource(stack_id, "a", action="DELETE", status="IN_PROGRESS")
    successor = {
        "id": "row",
        "version": 1,
        "physical_id": "physical-a",
        "action": "CREATE",
        "status": "FAILED",
    }
    engine.resources[stack_id][-1] |= {"wanted": False, "replaced_by": successor}

    rows = api.simulate_get(f"{url}/resources", query_string="all=True").json["resources"]

    assert engine.queries == [{"filters": {}, "nested_depth": 0, "every": True}]
    assert [row["wanted"] for row in rows] == [True, True, False]
    assert rows[0]["replaced_by"] is None
    assert rows[2]["replaced_by"] == {
        "version": 1,
        "physical_resource_id": "physical-a",
        "resource_status": "CREATE_FAILED",
    }


def test_an_unknown_filter_of_resources_is_refused(api, url):
    answer = api.simulate_get(f"{url}/resources", query_string="colour=blue")
    assert answer.status_code == 400
    assert "'colour' is not understood in the query" in answer.json["error"]["message"]


def test_one_resource_with_more_attributes(api, url):
    row = api.simulate_get(f"{url}/resources/a", query_string="with_attr=x&with_attr=y").json["resource"]
    assert row["attributes"] == {"output": "a", "x": "asked for", "y": "asked for"}
    assert row["description"] == "first"
    assert api.simulate_get(f"{url}/resources/nothing").status_code == 404


@pytest.mark.parametrize("is_of_before", [False, True])
def test_one_resource_without_attributes(api, url, engine, is_of_before):
    engine.is_of_before = is_of_before
    row = api.simulate_get(f"{url}/resources/a", query_string="with_detail=false").json["resource"]
    assert row["required_by"] == ["b"]
    assert row.keys().isdisjoint({"attributes", "description"})


def test_metadata(api, url):
    assert api.simulate_get(f"{url}/resources/a/metadata").json == {"metadata": {"k": "v"}}
    assert api.simulate_get(f"{url}/resources/nothing/metadata").status_code == 404


@pytest.mark.parametrize("details", [{}, {"unset_hook": "pre-create"}, {"any": ["thing", {"at": "all"}]}])
def test_a_resource_is_signalled(api, engine, url, details):
    answer = api.simulate_post(f"{url}/resources/a/signal", json=details)
    assert (answer.status_code, answer.text) == (200, "null")
    assert engine.signals == [("a", details)]


def test_a_signal_without_a_body_is_one_without_details(api, engine, url):
    assert api.simulate_post(f"{url}/resources/a/signal").status_code == 200
    assert engine.signals == [("a", {})]
    assert api.simulate_post(f"{url}/resources/nothing/signal").status_code == 404
    assert api.simulate_post(f"{url}/resources/a/signal", json=[1]).status_code == 200
    assert engine.signals == [("a", {}), ("a", {})]


@pytest.mark.parametrize(
    ("body", "unhealthy", "reason"),
    [
        ({"mark_unhealthy": True}, True, ""),
        ({"mark_unhealthy": "True", "resource_status_reason": "smoke"}, True, "smoke"),
        ({"mark_unhealthy": False, "resource_status_reason": None}, False, ""),
    ],
)
def test_a_resource_is_marked(api, engine, url, body, unhealthy, reason):
    answer = api.simulate_patch(f"{url}/resources/physical-a", json=body)
    assert (answer.status_code, answer.text) == (200, "null")
    assert engine.signals == [("physical-a", {"unhealthy": unhealthy, "reason": reason})]


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ({}, "lacks 'mark_unhealthy'"),
        ({"mark_unhealthy": None}, "'mark_unhealthy' .* has to be true or false"),
        ({"mark_unhealthy": "perhaps"}, "'mark_unhealthy' .* has to be true or false"),
        ({"mark_unhealthy": True, "colour": "red"}, "no other"),
        ({"mark_unhealthy": True, "resource_status_reason": 7}, "'resource_status_reason' .* a string"),
    ],
)
def test_a_mark_that_cannot_be_is_named(api, engine, url, body, sentence):
    answer = api.simulate_patch(f"{url}/resources/a", json=body)
    assert answer.status_code == 400
    assert re.search(sentence, answer.json["error"]["message"])
    assert engine.signals == []


def test_events_have_heats_keys_and_newest_come_first(api, engine, stack_id, url):
    engine.add_event(stack_id, "web", "CREATE", "IN_PROGRESS", "Stack CREATE started")
    event_id = engine.add_event(stack_id, "a", "CREATE", "FAILED", "r" * 300)
    base = f"http://falconframework.org{url}"
    events = api.simulate_get(f"{url}/events").json["events"]
    assert [event["resource_name"] for event in events] == ["a", "web"]
    assert events[1]["physical_resource_id"] == stack_id
    assert events[0] == {
        "id": event_id,
        "event_time": NOW,
        "resource_name": "a",
        "logical_resource_id": "a",
        "physical_resource_id": "physical-a",
        "resource_status": "CREATE_FAILED",
        "resource_status_reason": "r" * 255,
        "links": [
            {"href": f"{base}/resources/a/events/{event_id}", "rel": "self"},
            {"href": f"{base}/resources/a", "rel": "resource"},
            {"href": base, "rel": "stack"},
        ],
    }


def test_events_query_in_the_engines_terms(api, engine, stack_id, url):
    marker = engine.add_event(stack_id, "a", "CREATE", "COMPLETE")
    query = (
        f"limit=5&marker={marker}&sort_keys=resource_type,colour&sort_dir=asc"
        "&resource_status=CREATE_FAILED&resource_name=a"
    )
    assert api.simulate_get(f"{url}/events", query_string=query).json == {"events": []}
    assert engine.queries == [
        {
            "limit": 5,
            "marker": marker,
            "sort_keys": ["resource_type"],
            "sort_dir": "asc",
            "nested_depth": 0,
            "filters": {"status": ["CREATE_FAILED"], "resource_name": ["a"]},
        }
    ]


def test_events_of_nested_stacks_lead_to_the_root(api, engine, stack_id, url):
    engine.add_event(stack_id, "a", "CREATE", "COMPLETE")
    (event,) = api.simulate_get(f"{url}/events", query_string="nested_depth=1").json["events"]
    assert event["links"][-1] == {"href": f"http://falconframework.org{url}", "rel": "root_stack"}
    assert engine.queries[0]["nested_depth"] == 1


def test_events_of_one_resource(api, engine, stack_id, url):
    event_id = engine.add_event(stack_id, "a", "CREATE", "COMPLETE")
    engine.add_event(stack_id, "b", "CREATE", "COMPLETE")
    events = api.simulate_get(f"{url}/resources/a/events").json["events"]
    assert [event["id"] for event in events] == [event_id]
    assert api.simulate_get(f"{url}/resources/nothing/events").status_code == 404

    event = api.simulate_get(f"{url}/resources/a/events/{event_id}").json["event"]
    assert event["resource_type"] == "OS::Heat::TestResource"
    assert event["resource_properties"] == {"value": "v"}
    assert api.simulate_get(f"{url}/resources/b/events/{event_id}").status_code == 404


def test_resource_types(api, engine):
    assert api.simulate_get("/v1/default/resource_types").json == {"resource_types": ["OS::Heat::None"]}
    answer = api.simulate_get("/v1/default/resource_types", query_string="with_description=true&name=OS")
    assert answer.json == {
        "resource_types": [{"resource_type": "OS::Heat::None", "description": "Does nothing."}]
    }
    assert engine.queries == [{}, {"name": "OS"}]
    assert (
        api.simulate_get("/v1/default/resource_types/OS::Heat::None").json["resource_type"]
        == "OS::Heat::None"
    )
    assert api.simulate_get("/v1/default/resource_types/OS::Heat::Other").status_code == 404


def test_a_template_of_a_type(api):
    url = "/v1/default/resource_types/OS::Heat::None/template"
    assert api.simulate_get(url).json == {"type": "OS::Heat::None", "language": "cfn"}
    assert api.simulate_get(url, query_string="template_type=hot").json["language"] == "hot"
    assert api.simulate_get(url, query_string="template_type=tosca").status_code == 400


def test_validate(api):
    answer = api.simulate_post("/v1/default/validate", json={"template": {"a": 1}})
    assert answer.json == {"Description": "", "Parameters": {}, "Environment": {}}
    assert api.simulate_post("/v1/default/validate", json={}).status_code == 400


def test_validate_passes_over_what_is_known_by_a_code(api):
    body = {"template": {"a": 1}}
    url = "/v1/default/validate"
    assert api.simulate_post(url, json=body, query_string="ignore_errors=99001").status_code == 200
    answer = api.simulate_post(url, json=body, query_string="ignore_errors=99001,7")
    assert answer.status_code == 400
    assert "'7'" in answer.json["error"]["message"]


def test_template_versions_and_functions(api):
    (version,) = api.simulate_get("/v1/default/template_versions").json["template_versions"]
    url = f"/v1/default/template_versions/{version['version']}/functions"
    names = [row["functions"] for row in api.simulate_get(url).json["template_functions"]]
    assert names == ["get_attr"]
    more = api.simulate_get(url, query_string="with_condition_func=true").json["template_functions"]
    assert [row["functions"] for row in more] == ["get_attr", "equals"]


def test_build_info(api):
    answer = api.simulate_get("/v1/default/build_info").json
    assert answer["engine"] == {"revision": "9.9.9"}
    assert answer["api"]["revision"]


def test_permissions(api):
    found = api.simulate_get("/v1/default/permissions").json["permissions"]
    assert {"stacks:delete", "actions:suspend", "service:index"} <= set(found)
    assert "stacks:global_index" not in found
    assert not any(rule.startswith(("resource_types:", "rule:", "project_")) for rule in found)


def test_what_there_is_to_do(api):
    assert api.simulate_get("/v1/default/services/work").json["work"]["oldest_ready"] == 3


def test_services(api):
    (row,) = api.simulate_get("/v1/default/services").json["services"]
    assert (row["binary"], row["hostname"], row["status"]) == ("heatconv-worker", "h", "up")
    assert row["deleted_at"] is None
