# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json

import pytest
from oslo_policy import policy

from heatconv import errors
from heatconv.api.body import checked
from heatconv.api.schemas.notifications import CHANGED

TEMPLATE = {"heat_template_version": "2018-08-31", "resources": {}}


def test_create_answers_201_with_id_and_location(api, engine):
    answer = api.simulate_post("/v1/default/stacks", json={"stack_name": "web", "template": TEMPLATE})

    (stack_id,) = engine.stacks
    href = f"http://falconframework.org/v1/default/stacks/web/{stack_id}"
    assert answer.status_code == 201
    assert answer.headers["location"] == href
    assert answer.json == {"stack": {"id": stack_id, "links": [{"href": href, "rel": "self"}]}}


def test_create_hands_on_source_and_options(api, engine):
    body = {
        "stack_name": "web",
        "template": "heat_template_version: 2018-08-31",
        "environment_files": ["env.yaml"],
        "files": {"env.yaml": "{}"},
        "parameters": {"size": 3},
        "timeout_mins": "5",
        "disable_rollback": "False",
        "tags": "blue,green",
        "unknown": "ignored",
    }
    assert api.simulate_post("/v1/default/stacks", json=body).status_code == 201

    (stack_id,) = engine.stacks
    assert engine.sources[stack_id] == {
        "template": "heat_template_version: 2018-08-31",
        "environment": None,
        "environment_files": ["env.yaml"],
        "files": {"env.yaml": "{}"},
        "parameters": {"size": 3},
    }
    assert engine.options[stack_id] == {
        "disable_rollback": False,
        "tags": ["blue", "green"],
        "timeout_mins": 5,
    }


def test_who_has_made_a_stack_knows_which_it_is(api, engine):
    asked = []
    answering = engine.call

    def call(context, method, **arguments):
        asked.append(method)
        return answering(context, method, **arguments)

    engine.call = call
    api.simulate_post("/v1/default/stacks", json={"stack_name": "web", "template": TEMPLATE})
    (stack_id,) = engine.stacks
    assert api.simulate_get(f"/v1/default/stacks/web/{stack_id}").status_code == 200
    assert asked == ["create_stack", "show_stack"]
    assert api.simulate_get(f"/v1/default/stacks/other/{stack_id}").status_code == 404
    assert api.simulate_get(f"/v1/another/stacks/web/{stack_id}").status_code == 404


def test_create_keeps_what_failed_unless_rollback_is_asked_for(api, engine):
    api.simulate_post("/v1/default/stacks", json={"stack_name": "web", "template": TEMPLATE})
    assert list(engine.options.values()) == [{"disable_rollback": True, "tags": []}]


def test_the_project_of_the_url_is_that_of_the_context(api, engine):
    api.simulate_post("/v1.0/blue/stacks", json={"stack_name": "web", "template": TEMPLATE})
    assert [row["project"] for row in engine.stacks.values()] == ["blue"]
    assert api.simulate_get("/v1/default/stacks").json == {"stacks": []}


def test_a_taken_name_is_a_conflict(api, engine):
    engine.add_stack("web")
    answer = api.simulate_post("/v1/default/stacks", json={"stack_name": "web", "template": TEMPLATE})
    assert answer.status_code == 409
    assert answer.json == {
        "code": 409,
        "title": "Conflict",
        "explanation": "The request conflicts with what is there already.",
        "error": {
            "type": "StackExists",
            "message": "The Stack (web) already exists.",
            "traceback": None,
        },
    }


def test_show_has_heats_keys_and_phase_and_progress(api, engine):
    outputs = [{"output_key": "ip", "description": "", "output_value": "::1"}]
    stack_id = engine.add_stack(
        "web", description="d", tags=["a"], outputs=outputs, progress={"done": 1, "total": 2}
    )
    href = f"http://falconframework.org/v1/default/stacks/web/{stack_id}"
    answer = api.simulate_get(f"/v1/default/stacks/web/{stack_id}")
    assert answer.json == {
        "stack": {
            "id": stack_id,
            "links": [{"href": href, "rel": "self"}],
            "stack_name": "web",
            "description": "d",
            "template_description": "d",
            "stack_status": "CREATE_COMPLETE",
            "stack_status_reason": "Stack CREATE completed successfully",
            "creation_time": "2026-01-31T12:00:00Z",
            "updated_time": None,
            "deletion_time": None,
            "stack_owner": None,
            "parent": None,
            "stack_user_project_id": None,
            "tags": ["a"],
            "phase": "DONE",
            "progress": {"done": 1, "total": 2},
            "parameters": {"OS::stack_name": "web"},
            "outputs": [{**outputs[0], "description": "No description given"}],
            "disable_rollback": True,
            "timeout_mins": None,
            "capabilities": [],
            "notification_topics": [],
            "convergence": None,
            "drift": None,
        }
    }


def test_show_without_outputs(api, engine):
    stack_id = engine.add_stack("web", outputs=[{"output_key": "ip", "output_value": 1}])
    answer = api.simulate_get(f"/v1/default/stacks/web/{stack_id}", query_string="resolve_outputs=False")
    assert answer.json["stack"]["outputs"] == []


@pytest.mark.parametrize("path", ["other/{id}", "web/web", "web/outputs", "web/{id}/nothing"])
def test_a_url_whose_name_and_id_do_not_match_is_not_found(api, engine, path):
    stack_id = engine.add_stack("web")
    answer = api.simulate_get("/v1/default/stacks/" + path.format(id=stack_id))
    assert answer.status_code == 404
    assert answer.json["error"]["message"]


def test_the_engine_proves_a_name_and_id_once_and_for_one_project_only(api, engine):
    stack_id = engine.add_stack("web")
    for _ in range(2):
        assert api.simulate_get(f"/v1/default/stacks/web/{stack_id}").status_code == 200
    assert len(engine.contexts) == 3
    assert api.simulate_get(f"/v1/other/stacks/web/{stack_id}").status_code == 404
    del engine.stacks[stack_id]
    assert api.simulate_get(f"/v1/default/stacks/web/{stack_id}").status_code == 404


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE"])
def test_a_name_leads_to_the_canonical_url(api, engine, method):
    stack_id = engine.add_stack("web")
    answer = api.simulate_request(method, "/v1/default/stacks/web", query_string="a=1&b=2")
    assert answer.status_code == 302
    assert answer.headers["location"] == (
        f"http://falconframework.org/v1/default/stacks/web/{stack_id}?a=1&b=2"
    )


@pytest.mark.parametrize(
    ("method", "below"),
    [
        *(("GET", below) for below in ("resources", "events", "template", "actions", "environment", "files")),
        *(("POST", below) for below in ("resources", "events", "template", "actions")),
    ],
)
def test_what_follows_a_name_is_kept_in_the_redirect(api, engine, method, below):
    stack_id = engine.add_stack("web")
    answer = api.simulate_request(method, f"/v1/default/stacks/web/{below}")
    assert answer.status_code == 302
    assert answer.headers["location"].endswith(f"/v1/default/stacks/web/{stack_id}/{below}")


def test_an_id_and_an_arn_lead_to_the_canonical_url_too(api, engine):
    stack_id = engine.add_stack("web")
    for text in (stack_id, f"arn:openstack:heat::default:stacks/web/{stack_id}"):
        answer = api.simulate_get(f"/v1/default/stacks/{text}")
        assert answer.status_code == 302
        assert answer.headers["location"].endswith(f"/v1/default/stacks/web/{stack_id}")


def test_what_follows_an_arn_follows_the_canonical_url(api, engine):
    stack_id = engine.add_stack("web")
    arn = f"arn%3Aopenstack%3Aheat%3A%3Adefault%3Astacks/web/{stack_id}"

    answer = api.simulate_get(f"/v1/default/stacks/{arn}/resources/one?with_attr=show")

    assert answer.status_code == 302
    assert answer.headers["location"].endswith(f"/stacks/web/{stack_id}/resources/one?with_attr=show")
    assert api.simulate_request("HEAD", f"/v1/default/stacks/{arn}/resources/one").status_code == 405


def test_an_arn_with_the_wrong_name_is_not_found(api, engine):
    stack_id = engine.add_stack("web")
    answer = api.simulate_get(f"/v1/default/stacks/arn:openstack:heat::default:stacks/other/{stack_id}")
    assert answer.status_code == 404


def test_lists_come_in_pages(api, engine):
    ids = [engine.add_stack(name) for name in ("a", "b", "c")]
    first = api.simulate_get("/v1/default/stacks", query_string="limit=2&with_count=true&tags=x,y")
    assert [row["stack_name"] for row in first.json["stacks"]] == ["a", "b"]
    assert first.json["count"] == 3
    (link,) = first.json["links"]
    assert link["rel"] == "next"
    path, _, query = link["href"].removeprefix("http://falconframework.org").partition("?")
    assert f"marker={ids[1]}" in query

    second = api.simulate_get(path, query_string=query)
    assert [row["stack_name"] for row in second.json["stacks"]] == ["c"]
    assert "links" not in second.json
    assert engine.queries[1]["tags"] == ["x", "y"]


def test_list_query_in_the_engines_terms(api, engine):
    query = (
        "sort_keys=stack_name&sort_keys=creation_time&sort_keys=nonsense&sort_dir=asc&name=a&name=b"
        "&status=CREATE_FAILED&stack_status=COMPLETE&action=UPDATE&not_tags_any=t&show_deleted=TRUE"
        "&owner_id=o&parent=p&tenant=t&disable_rollback=TRUE&timeout_mins=5&stack_status_reason=r"
        "&stack_owner=u&stack_user_project_id=s"
    )
    assert api.simulate_get("/v1/default/stacks", query_string=query).status_code == 200
    assert engine.queries == [
        {
            "limit": None,
            "marker": None,
            "sort_keys": ["stack_name", "creation_time"],
            "sort_dir": "asc",
            "with_count": False,
            "show_deleted": True,
            "show_nested": False,
            "all_projects": False,
            "filters": {
                "name": ["a", "b"],
                "status": ["CREATE_FAILED", "COMPLETE"],
                "action": ["UPDATE"],
                "parent": ["o", "p"],
                "project": ["t"],
                "disable_rollback": [True],
                "timeout_mins": [5],
                "reason": ["r"],
                "username": ["u"],
                "stack_user_project_id": ["s"],
            },
            "tags": [],
            "tags_any": [],
            "not_tags": [],
            "not_tags_any": ["t", "data-processing-cluster"],
        }
    ]


def test_hidden_stacks_are_for_who_asks_for_them(api, engine):
    api.simulate_get("/v1/default/stacks", query_string="show_hidden=true&show_nested=true")
    assert engine.queries[0]["not_tags_any"] == []
    assert engine.queries[0]["show_nested"] is True


@pytest.mark.parametrize(
    ("query", "place"),
    [
        ("limit=-1", "limit"),
        ("limit=x", "limit"),
        ("limit=99999999999", "limit"),
        ("sort_dir=up", "sort_dir"),
        ("with_count=maybe", "with_count"),
        ("show_deleted=1", "show_deleted"),
        ("marker=a%00b", "NUL"),
        ("disable_rollback=1", "disable_rollback"),
        ("timeout_mins=soon", "timeout_mins"),
    ],
)
def test_a_bad_query_is_named(api, engine, query, place):
    answer = api.simulate_get("/v1/default/stacks", query_string=query)
    assert answer.status_code == 400
    assert place in answer.json["error"]["message"]


def test_stacks_of_all_projects_are_not_for_everyone(api, engine):
    answer = api.simulate_get("/v1/default/stacks", query_string="global_tenant=true")
    assert answer.status_code == 403
    assert engine.queries == []


@pytest.fixture
def everybody_sees_all(conf, tmp_path):
    policy.Enforcer(conf)  # registers its options
    (tmp_path / "policy.yaml").write_text('"stacks:global_index": ""')
    conf.set_override("policy_file", str(tmp_path / "policy.yaml"), "oslo_policy")


def test_stacks_of_all_projects_say_whose_they_are(everybody_sees_all, api, engine):
    engine.add_stack("web")
    answer = api.simulate_get("/v1/default/stacks", query_string="global_tenant=true")
    assert [row["project"] for row in answer.json["stacks"]] == ["default"]
    assert engine.queries[0]["all_projects"] is True
    api.simulate_get("/v1/default/stacks/detail", query_string="global_tenant=true")
    assert engine.queries[1]["all_projects"] is False


def test_put_drops_tags_and_patch_keeps_them(api, engine):
    stack_id = engine.add_stack("web")
    url = f"/v1/default/stacks/web/{stack_id}"

    answer = api.simulate_put(url, json={"template": TEMPLATE})
    assert answer.status_code == 202
    assert answer.json["code"] == "202 Accepted"
    assert engine.options[stack_id] == {"tags": []}
    assert engine.sources[stack_id]["template"] == TEMPLATE

    answer = api.simulate_patch(url, json={"parameters": {"a": 1}, "clear_parameters": ["b"]})
    assert answer.status_code == 202
    assert engine.options[stack_id] == {}
    assert engine.sources[stack_id] == {"parameters": {"a": 1}, "clear_parameters": ["b"]}
    assert engine.done == [(stack_id, "update"), (stack_id, "patch")]


def test_patch_of_nothing_is_fine_and_put_of_nothing_is_not(api, engine):
    stack_id = engine.add_stack("web")
    assert api.simulate_patch(f"/v1/default/stacks/web/{stack_id}").status_code == 202
    answer = api.simulate_put(f"/v1/default/stacks/web/{stack_id}")
    assert answer.status_code == 400
    assert answer.json["error"]["message"] == "The request body lacks 'template'."


def test_delete_answers_204_without_a_body(api, engine):
    stack_id = engine.add_stack("web")
    answer = api.simulate_delete(f"/v1/default/stacks/web/{stack_id}")
    assert (answer.status_code, answer.content) == (204, b"")
    assert engine.done == [(stack_id, "delete")]


@pytest.mark.parametrize(
    ("action", "done"),
    [
        ("suspend", "suspend"),
        ("resume", "resume"),
        ("check", "check"),
        ("rollback", "rollback"),
        ("cancel_update", "cancel rollback=True"),
        ("cancel_without_rollback", "cancel rollback=False"),
        ("converge", "converge all"),
    ],
)
def test_an_action_answers_200_and_null(api, engine, action, done):
    stack_id = engine.add_stack("web")
    answer = api.simulate_post(f"/v1/default/stacks/web/{stack_id}/actions", json={action: None})
    assert (answer.status_code, answer.text) == (200, "null")
    assert engine.done == [(stack_id, done)]


@pytest.mark.parametrize("body", [{}, {"check": 1, "rollback": 1}, {"explode": None}])
def test_exactly_one_known_action_is_taken(api, engine, body):
    stack_id = engine.add_stack("web")
    answer = api.simulate_post(f"/v1/default/stacks/web/{stack_id}/actions", json=body)
    assert answer.status_code == 400
    assert "exactly one key out of suspend, resume, check" in answer.json["error"]["message"]
    assert engine.done == []


def test_preview_of_a_create_has_resources_and_no_state(api, engine):
    body = {"stack_name": "web", "template": TEMPLATE, "tags": "a"}
    stack = api.simulate_post("/v1/default/stacks/preview", json=body).json["stack"]
    assert stack["id"] == "None"
    assert "stack_status" not in stack
    assert [row["resource_name"] for row in stack["resources"]] == ["a"]
    assert engine.stacks == {}


@pytest.mark.parametrize("method", ["PUT", "PATCH"])
def test_preview_of_an_update_shows_changes(api, engine, method):
    stack_id = engine.add_stack("web")
    engine.add_resource(stack_id, "a")
    url = f"/v1/default/stacks/web/{stack_id}/preview"
    changes = api.simulate_request(method, url, json={"template": TEMPLATE}).json["resource_changes"]
    (row,) = changes.pop("unchanged")
    assert (row["resource_name"], row["resource_action"], row["resource_status"]) == (
        "a",
        "CREATE",
        "COMPLETE",
    )
    assert row["resource_identity"]["path"] == "/resources/a"
    assert changes == {"updated": [], "replaced": [], "added": [], "deleted": []}
    assert engine.done == []


def test_template_environment_and_files_come_bare(api, engine):
    stack_id = engine.add_stack("web")
    engine.sources[stack_id] = {"template": TEMPLATE, "files": {"a.sh": "echo"}}
    url = f"/v1/default/stacks/web/{stack_id}"
    assert api.simulate_get(f"{url}/template").json == TEMPLATE
    assert api.simulate_get(f"{url}/environment").json == {"parameters": {}, "resource_registry": {}}
    assert api.simulate_get(f"{url}/files").json == {"a.sh": "echo"}


def test_outputs(api, engine):
    output = {"output_key": "ip", "description": "where", "output_value": "::1"}
    stack_id = engine.add_stack("web", outputs=[output])
    url = f"/v1/default/stacks/web/{stack_id}/outputs"
    assert api.simulate_get(url).json == {"outputs": [{"output_key": "ip", "description": "where"}]}
    assert api.simulate_get(f"{url}/ip").json == {"output": output}
    assert api.simulate_get(f"{url}/other").status_code == 404


def test_graph(api, engine):
    stack_id = engine.add_stack("web")
    engine.add_resource(stack_id, "a")
    graph = api.simulate_get(f"/v1/default/stacks/web/{stack_id}/graph").json["graph"]
    assert [node["name"] for node in graph["nodes"]] == ["a"]
    assert graph["edges"] == []


@pytest.mark.parametrize("method", ["PUT", "PATCH"])
@pytest.mark.parametrize("asked", [True, False])
def test_an_update_may_look_at_the_real_world_first(api, engine, method, asked):
    stack_id = engine.add_stack("web")
    body = {"template": TEMPLATE, "converge": asked}
    answer = api.simulate_request(method, f"/v1/default/stacks/web/{stack_id}", json=body)
    assert answer.status_code == 202
    assert engine.options[stack_id].get("converge", False) is asked


def test_a_policy_is_handed_on(api, engine):
    stack_id = engine.add_stack("web")
    policy = {"policy": "heal", "interval": None}
    api.simulate_patch(f"/v1/default/stacks/web/{stack_id}", json={"convergence": policy})
    assert engine.options[stack_id] == {"convergence": {"policy": "heal"}}


@pytest.mark.parametrize(
    "policy", [{"policy": "always"}, {"interval": 0}, {"interval": "often"}, {"how": "often"}, "heal"]
)
def test_a_policy_that_is_none_is_refused(api, engine, policy):
    stack_id = engine.add_stack("web")
    url = f"/v1/default/stacks/web/{stack_id}"
    answer = api.simulate_patch(url, json={"convergence": policy})
    assert answer.status_code == 400
    assert "convergence" in answer.json["error"]["message"]


def test_drift_is_shown_with_its_difference(api, engine):
    stack_id = engine.add_stack("web")
    engine.add_resource(stack_id, "a")
    drift = api.simulate_get(f"/v1/default/stacks/web/{stack_id}/drift").json["drift"]
    assert (drift["status"], drift["policy"]) == ("DRIFTED", "detect")
    (drifted,) = drift["resources"]
    assert (drifted["resource_name"], drifted["kind"]) == ("a", "CHANGED")
    assert drifted["differences"] == [{"property": "value", "wanted": "a", "observed": "b"}]


def test_observing_answers_with_the_drift(api, engine):
    stack_id = engine.add_stack("web")
    answer = api.simulate_post(f"/v1/default/stacks/web/{stack_id}/actions", json={"observe": None})
    assert (answer.status_code, answer.json["drift"]["status"]) == (200, "IN_SYNC")
    assert engine.done == [(stack_id, "observe all")]


@pytest.mark.parametrize("action", ["observe", "converge"])
def test_one_resource_is_observed_or_converged(api, engine, action):
    stack_id = engine.add_stack("web")
    engine.add_resource(stack_id, "a")
    url = f"/v1/default/stacks/web/{stack_id}/resources/a"
    assert api.simulate_post(f"{url}/actions", json={action: None}).status_code == 200
    assert api.simulate_post(f"{url}/actions", json={"suspend": None}).status_code == 400
    assert engine.done == [(stack_id, f"{action} a")]
    assert len(api.simulate_get(f"{url}/drift").json["drift"]["resources"]) == 1


@pytest.mark.parametrize(("query", "everywhere"), [("", False), ("global_tenant=true", True)])
def test_what_something_happened_to_is_noted(api, engine, query, everywhere):
    body = {"physical_ids": ["a", "unknown"]}
    answer = api.simulate_post("/v1/default/notifications", query_string=query, json=body)
    assert (answer.status_code, answer.json) == (202, {"taken_up": 1})
    assert engine.noted == [("default", ["a", "unknown"], everywhere)]


@pytest.mark.parametrize("physical_ids", [None, "a", [], [""], [3], ["a" * 256]])
def test_what_are_no_physical_ids_is_refused(api, engine, physical_ids):
    answer = api.simulate_post("/v1/default/notifications", json={"physical_ids": physical_ids})
    assert answer.status_code == 400
    assert "physical_ids" in answer.json["error"]["message"]
    assert engine.noted == []


def test_more_physical_ids_than_a_thousand_are_refused():
    thousand = {"physical_ids": ["a"] * 1000}
    assert checked(thousand, CHANGED) == thousand
    with pytest.raises(errors.BadRequest, match="1 to 1000 of them"):
        checked({"physical_ids": ["a"] * 1001}, CHANGED)


def test_a_timeout_of_nothing_is_the_default(api, engine):
    stack_id = engine.add_stack("web")
    api.simulate_patch(f"/v1/default/stacks/web/{stack_id}", json={"timeout_mins": 0})
    assert engine.options[stack_id] == {"timeout_mins": None}


@pytest.mark.parametrize(("method", "below", "done"), [("DELETE", "abandon", 1), ("GET", "export", 0)])
def test_a_stack_is_abandoned_or_exported_where_the_operator_lets_users(
    api, engine, conf, method, below, done
):
    stack_id = engine.add_stack("web")
    url = f"/v1/default/stacks/web/{stack_id}/{below}"
    answer = api.simulate_request(method, url)
    assert answer.status_code == 400
    assert "enable_stack_abandon" in answer.json["error"]["message"]

    conf.set_override("enable_stack_abandon", True)
    answer = api.simulate_request(method, url)
    assert answer.status_code == 200
    assert answer.json == {"name": "web", "id": stack_id, "resources": {}}
    assert engine.done == [(stack_id, "abandon")] * done


@pytest.fixture
def may_adopt(conf):
    conf.set_override("enable_stack_adopt", True)


def test_what_was_abandoned_is_adopted(api, engine, may_adopt):
    adopted = {"template": TEMPLATE, "resources": {"a": {"resource_id": "7"}}, "name": "old"}
    body = {"stack_name": "web", "adopt_stack_data": json.dumps(adopted), "parameters": {"p": 1}}
    assert api.simulate_post("/v1/default/stacks", json=body).status_code == 201
    (stack_id,) = engine.stacks
    assert engine.sources[stack_id] == {"parameters": {"p": 1}}
    assert engine.options[stack_id]["adopt"] == adopted


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("{", "adopt_stack_data is not JSON"),
        ("[]", "adopt_stack_data has to be a JSON object"),
        ("{}", "adopt_stack_data lacks 'template'"),
        ('{"template": "text"}', "'template' in the adopt_stack_data has to be an object"),
        ('{"template": {}, "resources": {"a": 1}}', "'resources.a' in the adopt_stack_data"),
        ('{"template": {}, "files": {"a": 1}}', "'files.a' in the adopt_stack_data"),
    ],
)
def test_what_cannot_be_adopted_is_named(api, engine, may_adopt, text, sentence):
    body = {"stack_name": "web", "adopt_stack_data": text}
    answer = api.simulate_post("/v1/default/stacks", json=body)
    assert answer.status_code == 400
    assert sentence in answer.json["error"]["message"]
    assert engine.stacks == {}


def test_snapshots(api, engine):
    stack_id = engine.add_stack("web")
    url = f"/v1/default/stacks/web/{stack_id}/snapshots"
    answer = api.simulate_post(url, json={"name": "before"})
    assert answer.status_code == 200
    assert answer.json == {
        "id": "s1",
        "name": "before",
        "action": "CREATE",
        "status": "IN_PROGRESS",
        "status_reason": "",
        "data": None,
        "creation_time": "2026-01-31T12:00:00Z",
    }
    assert api.simulate_post(url).json["name"] is None
    assert [row["id"] for row in api.simulate_get(url).json["snapshots"]] == ["s1"]
    assert api.simulate_get(f"{url}/s1").json["snapshot"]["status"] == "COMPLETE"
    assert api.simulate_get(f"{url}/s2").status_code == 404
    assert api.simulate_post(f"{url}/s1/restore").status_code == 202
    assert api.simulate_delete(f"{url}/s1").status_code == 204
    done = ["snapshot before", "snapshot None", "restore snapshot s1", "delete snapshot s1"]
    assert engine.done == [(stack_id, what) for what in done]


@pytest.mark.parametrize("name", [7, "x" * 256])
def test_a_name_no_snapshot_can_have_is_refused(api, engine, name):
    stack_id = engine.add_stack("web")
    answer = api.simulate_post(f"/v1/default/stacks/web/{stack_id}/snapshots", json={"name": name})
    assert answer.status_code == 400
    assert "'name' in the request body has to be a string" in answer.json["error"]["message"]


@pytest.mark.parametrize(
    ("query", "asked"),
    [
        ({}, {"most": 250, "find": "", "mark": None}),
        ({"limit": "9999", "find": "a"}, {"most": 2000, "find": "a", "mark": None}),
        ({"limit": "300", "mark": "0/done/t"}, {"most": 300, "find": "", "mark": "0/done/t"}),
    ],
)
def test_a_picture_has_no_more_marks_than_may_be(api, engine, query, asked):
    stack_id = engine.add_stack("web")
    answer = api.simulate_get(f"/v1/default/stacks/web/{stack_id}/picture", params=query)
    assert answer.json["picture"]["stack"] == {"name": "web", "id": stack_id}
    assert engine.queries == [asked]


def test_a_list_tells_of_drift_if_that_is_asked_for(api, engine):
    drift = {"status": "DRIFTED", "since": None, "observed_at": None}
    engine.add_stack("web", drift=drift)
    answer = api.simulate_get("/v1/default/stacks", params={"with_drift": "true"})
    assert engine.queries[-1]["with_drift"] is True
    assert answer.json["stacks"][0]["drift"] == drift
