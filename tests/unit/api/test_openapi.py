# SPDX-License-Identifier: Apache-2.0
"""The document that describes the API to programs."""

from __future__ import annotations

import re

import jsonschema
import pytest

from heatconv.api import openapi, routes


@pytest.fixture
def document(api):
    answer = api.simulate_get("/openapi.json")
    assert answer.status_code == 200
    return answer.json


def operations(document):
    for url, path in document["paths"].items():
        for method, operation in path.items():
            if method != "parameters":
                yield method.upper(), url.removeprefix(openapi.BELOW), path, operation


def test_every_route_is_in_it_and_nothing_else(document):
    there = {(method, url) for url, handlers in routes.ROUTES.items() for method in handlers}
    assert {(method, url) for method, url, _, _ in operations(document)} == there


def test_every_operation_has_words_and_a_name_of_its_own(document):
    names = [operation["operationId"] for _, _, _, operation in operations(document)]
    assert len(set(names)) == len(names)
    assert [
        name for *_, operation in operations(document) for name in [operation["summary"]] if not name
    ] == []


def test_every_part_of_a_path_is_described(document):
    for _, url, path, _ in operations(document):
        described = {place["name"] for place in path["parameters"] if place["description"]}
        assert described == set(re.findall(r"{(\w+)}", openapi.BELOW + url))


def test_queries_and_bodies_are_those_that_handlers_take(document):
    stacks = document["paths"]["/v1/{project}/stacks"]
    limit = next(each for each in stacks["get"]["parameters"] if each["name"] == "limit")
    assert limit["in"] == "query"
    assert limit["schema"] == {"type": "integer", "minimum": 0, "maximum": 999_999_999}
    body = stacks["post"]["requestBody"]
    assert body["required"]
    assert body["content"]["application/json"]["schema"]["required"] == ["stack_name"]
    assert set(stacks["post"]["responses"]) == {"201", "default"}


def test_schemas_are_json_schemas_whose_patterns_end_as_everywhere(document):
    for *_, operation in operations(document):
        if "requestBody" in operation:
            schema = operation["requestBody"]["content"]["application/json"]["schema"]
            jsonschema.Draft202012Validator.check_schema(schema)
            assert r"\Z" not in str(schema)


def test_it_says_where_it_was_got_from(document):
    assert document["servers"] == [{"url": "http://falconframework.org"}]
    assert document["openapi"].startswith("3.1")
