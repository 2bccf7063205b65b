# SPDX-License-Identifier: Apache-2.0
"""What is refused before an engine hears of it, and how errors look."""

from __future__ import annotations

import re

import pytest

from heatconv import errors

STACKS = "/v1/default/stacks"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('{"stack_name": "a",', "not JSON: .* line 1, column 20"),
        ('{"template": {"resources": {"a": 1, "a": 2}}}', "has the key 'a' twice"),
        ('["stack_name"]', "has to be a JSON object"),
        ('{"stack_name": NaN}', "NaN is not a JSON number"),
        ("[" * 1900, "nested too deeply"),
        ('{"a":' * 150 + "1" + "}" * 150, "nested too deeply"),
        ('{"stack_name": "a\\u0000b"}', "a character that no text may have"),
        ('{"stack_name": "a\\ud800b"}', "a character that no text may have"),
        ('{"timeout_mins": 1e999}', "a number that is too large"),
        ('{"timeout_mins": ' + "1" * 1900 + "}", "'timeout_mins' .* has to be a whole number"),
        (b'{"stack_name": "\xff"}', "not UTF-8"),
        ("", "The request body lacks 'stack_name'"),
    ],
)
def test_a_body_that_is_no_json_object_is_refused(api, engine, text, sentence):
    answer = api.simulate_post(STACKS, body=text, headers={"Content-Type": "application/json"})
    assert answer.status_code == 400
    assert answer.json["error"]["type"] == "HTTPBadRequest"
    _matches(answer, sentence)
    assert engine.stacks == {}


def test_a_body_of_another_type_is_refused(api, engine):
    answer = api.simulate_post(STACKS, body="stack_name=a", headers={"Content-Type": "application/xml"})
    assert answer.status_code == 400
    _matches(answer, "of type 'application/xml'.*Content-Type: application/json")


def test_a_body_that_is_too_large_is_refused_and_read_to_its_end(api, engine):
    answer = api.simulate_post(STACKS, json={"stack_name": "a", "template": "x" * 200_000})
    assert answer.status_code == 400
    assert answer.json["error"]["type"] == "RequestLimitExceeded"
    _matches(answer, r"has 2000\d\d bytes; at most 2000 are accepted")
    assert engine.stacks == {}


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"stack_name": None}, "lacks 'stack_name'|'stack_name' .* has to be a letter"),
        ({"stack_name": "1web"}, "'stack_name' in the request body has to be a letter"),
        ({"stack_name": "web\n"}, "'stack_name' .* has to be a letter"),
        ({"stack_name": "a" * 256}, "'stack_name' .* has to be a letter"),
        ({"template": None}, "lacks 'template'"),
        ({"template": ""}, "lacks 'template'"),
        ({"template": 7}, "'template' .* has to be a template"),
        ({"template_url": "http://localhost/x"}, "template_url is not supported"),
        ({"environment": []}, "'environment' .* has to be an environment"),
        ({"environment_files": [1]}, r"'environment_files\[0\]' .* has to be the name of a file"),
        ({"files": {"a.sh": 1}}, r"'files.a.sh' .* has to be the text of a file"),
        ({"parameters": []}, "'parameters' .* has to be an object"),
        ({"timeout_mins": -1}, "'timeout_mins' .* has to be a whole number"),
        ({"timeout_mins": "soon"}, "'timeout_mins' .* has to be a whole number"),
        ({"disable_rollback": "maybe"}, "'disable_rollback' .* has to be true or false"),
        ({"tags": "x" * 81}, "'tags' .* at most 80 characters"),
        ({"files_container": "c"}, "files_container is not supported"),
        ({"adopt_stack_data": "{}"}, "Adopting a stack.* enable_stack_adopt.* is not supported"),
        ({"converge": True}, "'converge' is for updates"),
    ],
)
def test_what_cannot_be_is_named(api, engine, change, sentence):
    body = {"stack_name": "web", "template": {"heat_template_version": "2018-08-31"}} | change
    answer = api.simulate_post(STACKS, json=body)
    assert answer.status_code == 400
    _matches(answer, sentence)
    assert engine.stacks == {}


def test_null_stands_for_not_given(api, engine):
    keys = ("environment", "environment_files", "files", "parameters", "timeout_mins", "tags", "template_url")
    body = {"stack_name": "web", "template": {"a": 1}, **dict.fromkeys(keys)}
    assert api.simulate_post(STACKS, json=body).status_code == 201


def test_all_mistakes_in_a_template_come_at_once(api, engine):
    answer = api.simulate_post("/v1/default/validate", json={"template": "broken"})
    assert answer.status_code == 400
    assert answer.json["error"]["type"] == "StackValidationFailed"
    assert answer.json["error"]["message"] == "resources.a.type: unknown type\noutputs.b: no value"


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (errors.NotFound(entity="Stack", name="a"), 404, "EntityNotFound"),
        (errors.ActionInProgress(name="a", action="CREATE"), 409, "ActionInProgress"),
        (errors.Forbidden(), 403, "Forbidden"),
        (errors.NotSupported(feature="x"), 400, "NotSupported"),
        (errors.UserError(), 400, "Error"),
        (errors.StorageError(reason="gone"), 503, "ServiceUnavailable"),
        (errors.TransportError(reason="timeout"), 503, "ServiceUnavailable"),
    ],
)
def test_errors_of_the_engine_keep_their_names(api, engine, error, status, code):
    engine.broken = error
    answer = api.simulate_get(STACKS)
    assert answer.status_code == answer.json["code"] == status
    assert answer.json["error"] == {"type": code, "message": str(error), "traceback": None}


@pytest.mark.parametrize("error", [KeyError("secret"), errors.StaleWrite(entity="secret")])
def test_a_fault_of_ours_says_no_more_than_where_to_look(api, engine, error, caplog):
    engine.broken = error
    answer = api.simulate_get(STACKS)
    assert answer.status_code == 500
    assert answer.json["error"]["type"] == "InternalServerError"
    assert answer.headers["x-openstack-request-id"] in answer.json["error"]["message"]
    assert "secret" not in answer.text
    assert "secret" in caplog.text


def test_every_request_has_an_id_of_its_own_that_the_engine_is_told(api, engine):
    ids = [api.simulate_get(STACKS).headers["x-openstack-request-id"] for _ in range(2)]
    assert [context.request_id for context in engine.contexts] == ids
    assert ids[0] != ids[1]


def test_an_unknown_method_is_answered_405_with_those_known(api):
    answer = api.simulate_put(STACKS)
    assert answer.status_code == 405
    assert {"GET", "POST"} <= set(answer.headers["allow"].split(", "))
    assert answer.json["error"]["message"]
    assert api.simulate_head(STACKS).status_code == 405


def test_options_are_told(api):
    answer = api.simulate_options(STACKS)
    assert (answer.status_code, answer.headers["allow"]) == (204, "GET, POST")


def test_an_unknown_url_is_not_found(api):
    answer = api.simulate_get("/v1/default/nothing")
    assert answer.status_code == 404
    assert answer.json["title"] == "Not Found"


@pytest.mark.parametrize("path", ["/", "/versions", "/v1", "/v1/", "/v1.0", "/v2/default/stacks", "/v3"])
def test_without_a_version_that_is_there_the_versions_are_told(api, path):
    answer = api.simulate_get(path)
    assert answer.status_code == 300
    assert answer.json == {
        "versions": [
            {
                "id": "v1.0",
                "status": "CURRENT",
                "links": [{"rel": "self", "href": "http://falconframework.org/v1/"}],
            }
        ]
    }


def _matches(answer, sentence):
    assert re.search(sentence, answer.json["error"]["message"]), answer.json["error"]["message"]
