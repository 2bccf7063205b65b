# SPDX-License-Identifier: Apache-2.0
"""The schema of a plan: published, and as strict as programs that judge plans need it."""

from __future__ import annotations

import jsonschema
import pytest

from heatconv.api.openapi import published
from heatconv.api.schemas.plan_document import PLAN, VERSION
from tests.plan_judge import judged
from tests.unit.cli.made_up_plans import change, plan, resource


def places(schema, path=()):
    """Yield every schema in a schema, with where it is."""
    yield path, schema
    for name, inner in schema.get("properties", {}).items():
        yield from places(inner, (*path, name))
    for key in ("items", *schema.get("anyOf", ())):
        if isinstance(inner := schema.get(key) if isinstance(key, str) else key, dict):
            yield from places(inner, path)


def test_it_is_a_schema_and_the_api_publishes_it(api):
    jsonschema.Draft202012Validator.check_schema(PLAN)
    document = api.simulate_get("/openapi.json").json
    assert document["components"]["schemas"]["Plan"] == published(PLAN)


def test_every_key_is_described():
    assert [path for path, schema in places(PLAN) if path and not schema.get("description", "x")] == []
    assert all(
        "description" in inner for _, one in places(PLAN) for inner in one.get("properties", {}).values()
    )


def test_the_version_is_one_that_it_allows_itself():
    jsonschema.validate(VERSION, PLAN["properties"]["schema_version"])
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate("2.0", PLAN["properties"]["schema_version"])


def test_a_program_that_knows_it_lives_with_the_next_minor_version():
    newer = plan(resource("a")) | {"schema_version": "1.1", "weather": "fine"}
    jsonschema.validate(newer, PLAN)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("action", "explode"),
        ("certainty", "sure"),
        ("path", []),
        ("order", -1),
        ("seconds", "long"),
        ("because", None),
    ],
)
def test_a_resource_of_which_something_else_is_said_is_refused(key, value):
    with pytest.raises(jsonschema.ValidationError):
        plan(resource("a") | {key: value})


def test_whoever_adds_a_key_has_to_publish_it():
    with pytest.raises(jsonschema.ValidationError, match="weather"):
        judged(plan() | {"weather": "fine"})
    with pytest.raises(jsonschema.ValidationError, match="weather"):
        plan(resource("a", changes=[change("x", 1, 2) | {"weather": "fine"}]))


def test_nothing_that_is_there_may_be_missing():
    whole = plan(resource("a", changes=[change("x", 1, 2)]))
    for part in (whole, whole["resources"][0], whole["resources"][0]["changes"][0], whole["summary"]):
        for key, value in list(part.items()):
            del part[key]
            with pytest.raises(jsonschema.ValidationError):
                judged(whole)
            part[key] = value
    judged(whole)
