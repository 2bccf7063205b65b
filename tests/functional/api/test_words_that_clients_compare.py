# SPDX-License-Identifier: Apache-2.0
"""Words and shapes that Heat's clients, and suites for it, compare with Heat's own."""

from __future__ import annotations

import json
import time
import uuid

import pytest
import requests

PATIENCE = 60  #: seconds
VALUE = {"type": "OS::Heat::Value", "properties": {"value": "v"}}


def template(resources=None, **more):
    return {"heat_template_version": "2021-04-16", "resources": resources or {"v": VALUE}, **more}


@pytest.fixture
def name():
    return f"words-{uuid.uuid4().hex[:8]}"


@pytest.fixture
def make(endpoint, name):
    """Return how to make a stack; it returns the stack's URL."""
    made = []

    def create(**body):
        answer = requests.post(f"{endpoint}/stacks", json={"stack_name": name, **body}, timeout=PATIENCE)
        assert answer.status_code == 201, answer.text
        made.append(answer.json()["stack"]["links"][0]["href"])
        return made[-1]

    yield create
    for url in made:
        requests.delete(url, timeout=PATIENCE)


def get(url):
    return requests.get(url, timeout=PATIENCE).json()


def test_what_is_not_described_says_so(make):
    url = make(template=template(outputs={"o": {"value": "x"}}))
    stack = get(url)["stack"]
    assert stack["description"] == stack["template_description"] == "No description"
    assert [output["description"] for output in stack["outputs"]] == ["No description given"]
    assert get(f"{url}/outputs")["outputs"] == [{"output_key": "o", "description": "No description given"}]
    assert get(f"{url}/outputs/o")["output"]["description"] == "No description given"


def test_a_preview_shows_properties_attributes_and_who_requires_whom(endpoint, name):
    resources = {
        "one": {"type": "OS::Heat::TestResource", "properties": {"value": "fred"}},
        "two": {
            "type": "OS::Heat::TestResource",
            "properties": {"value": {"get_attr": ["one", "output"]}},
        },
    }
    body = {"stack_name": name, "template": template(resources)}
    stack = requests.post(f"{endpoint}/stacks/preview", json=body, timeout=PATIENCE).json()["stack"]
    assert stack["template_description"] == "No description"
    assert stack["parameters"]["OS::stack_id"] == "None"
    one, two = sorted(stack["resources"], key=lambda row: row["resource_name"])
    assert one["required_by"] == ["two"]
    assert two["required_by"] == []
    assert one["properties"]["value"] == "fred"
    assert one["properties"]["wait_secs"] == 0
    assert two["properties"]["value"] is None
    assert one["attributes"]["output"] is None


def test_a_preview_hides_what_is_hidden(endpoint, name):
    secret = {"secret": {"type": "string", "hidden": True}}
    resources = {"v": {"type": "OS::Heat::Value", "properties": {"value": {"get_param": "secret"}}}}
    body = {
        "stack_name": name,
        "template": template(resources, parameters=secret),
        "parameters": {"secret": "s3cret-indeed"},
    }
    answer = requests.post(f"{endpoint}/stacks/preview", json=body, timeout=PATIENCE)
    assert answer.json()["stack"]["resources"][0]["properties"]["value"] == "******"
    assert "s3cret-indeed" not in answer.text


NUMBER = {"type": "number", "default": 10, "description": "how long"}
RANDOM = {"type": "OS::Heat::RandomString", "properties": {"length": {"get_param": "size"}}}


def test_validation_shows_the_merged_environment_and_the_values_of_nested_templates(endpoint):
    nested = {"type": "nested.yaml", "properties": {"size": {"get_param": "outer"}}}
    body = {
        "template": template({"n": nested}, parameters={"outer": {"type": "number", "default": 5}}),
        "files": {"nested.yaml": json.dumps(template({"r": RANDOM}, parameters={"size": NUMBER}))},
        "parameters": {"outer": 7},
    }
    answer = requests.post(f"{endpoint}/validate?show_nested=true", json=body, timeout=PATIENCE).json()
    assert answer == {
        "Description": "No description",
        "Parameters": {
            "outer": {
                "Default": 5,
                "Description": "",
                "Label": "outer",
                "NoEcho": "false",
                "Type": "Number",
                "Value": 7,
            }
        },
        "NestedParameters": {
            "n": {
                "Type": "nested.yaml",
                "Description": "No description",
                "Parameters": {
                    "size": {
                        "Default": 10,
                        "Description": "how long",
                        "Label": "size",
                        "NoEcho": "false",
                        "Type": "Number",
                        "Value": 7,
                    }
                },
            }
        },
        "Environment": {
            "event_sinks": [],
            "parameter_defaults": {},
            "parameters": {"outer": 7},
            "resource_registry": {"nested.yaml": "nested.yaml", "resources": {}},
        },
    }


@pytest.mark.parametrize(
    ("posted", "says"),
    [
        ({"heat_template_version": "invalid"}, "The template version is invalid"),
        (
            template({"v": {"type": "OS::Heat::Value", "properties": {"value": {"get_param": "gone"}}}}),
            "Property error: : resources.v.properties.value: : The Parameter (gone) was not provided.",
        ),
        (
            template(parameters={"a": {"type": "string"}, "b": {"type": "string"}}),
            "The Parameter (a, b) was not provided.",
        ),
    ],
)
def test_mistakes_are_told_in_heats_words(endpoint, name, posted, says):
    answer = requests.post(
        f"{endpoint}/stacks", json={"stack_name": name, "template": posted}, timeout=PATIENCE
    )
    assert answer.status_code == 400
    assert says in answer.json()["error"]["message"]


def test_immutable_parameters_are_told_together(make):
    fixed = {"type": "string", "default": "x", "immutable": True}
    posted = template(parameters={"a": fixed, "b": fixed})
    url = make(template=posted)
    body = {"template": posted, "parameters": {"a": "y", "b": "y"}}
    error = requests.put(url, json=body, timeout=PATIENCE).json()["error"]
    assert error["type"] == "ImmutableParameterModified"
    assert error["message"] == "The following parameters are immutable and may not be updated: a, b"


def test_a_function_is_described_as_heat_does(endpoint):
    version = "heat_template_version.2016-04-08"
    listed = get(f"{endpoint}/template_versions/{version}/functions")["template_functions"]
    described = {each["functions"]: each["description"] for each in listed}
    assert described["get_file"] == "A function for including a file inline."


def test_a_default_of_the_environment_is_a_value_for_a_nested_template(make):
    nested = template({"r": RANDOM}, parameters={"size": {"type": "number"}})
    url = make(
        template=template({"n": {"type": "nested.yaml"}}),
        files={"nested.yaml": json.dumps(nested)},
        environment={"parameter_defaults": {"size": 12}},
    )
    until(url, "CREATE_COMPLETE")


def until(url, status):
    deadline = time.monotonic() + PATIENCE
    while (stack := get(url)["stack"])["stack_status"] != status:
        assert time.monotonic() < deadline, stack
        time.sleep(0.1)
