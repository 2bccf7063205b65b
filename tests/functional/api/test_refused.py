# SPDX-License-Identifier: Apache-2.0
"""What cannot be is refused with a sentence that names the place, and leaves no trace."""

from __future__ import annotations

import json
import re
import time
import uuid
from pathlib import Path

import pytest
import requests
import yaml

from tests.functional.api.test_stories import PATIENCE, filled

TEMPLATE = {
    "heat_template_version": "2018-08-31",
    "resources": {"kept": {"type": "OS::Heat::TestResource"}},
}
REFUSED = [
    pytest.param(filled(case, {}), id=case["what"])
    for case in yaml.safe_load((Path(__file__).parent / "refused.yaml").read_text())
]
JSON = {"Content-Type": "application/json"}


@pytest.fixture(scope="module")
def stack(endpoint):
    """Return the URL of a stack that bad updates must not change."""
    body = {"stack_name": f"kept-{uuid.uuid4().hex[:8]}", "template": TEMPLATE}
    created = requests.post(f"{endpoint}/stacks", json=body, timeout=PATIENCE)
    assert created.status_code == 201, created.text
    url = created.json()["stack"]["links"][0]["href"]
    deadline = time.monotonic() + PATIENCE
    while shown(url)["stack_status"] != "CREATE_COMPLETE":
        assert time.monotonic() < deadline, shown(url)
        time.sleep(0.05)
    yield url
    assert requests.delete(url, timeout=PATIENCE).status_code == 204


@pytest.fixture
def name():
    return f"refused-{uuid.uuid4().hex[:8]}"


@pytest.mark.parametrize("case", REFUSED)
def test_a_bad_template(endpoint, stack, name, case):
    body = request_of(case)
    before = everything(stack)

    refused(
        requests.post(f"{endpoint}/stacks", json={"stack_name": name, **body}, timeout=PATIENCE), case["says"]
    )
    refused(requests.put(stack, json=body, timeout=PATIENCE), case["says"])

    assert stacks_named(endpoint, name) == []
    assert everything(stack) == before


@pytest.mark.parametrize("case", REFUSED)
def test_validation_of_a_bad_template(endpoint, case):
    answer = requests.post(f"{endpoint}/validate", json=request_of(case), timeout=PATIENCE)
    if case.get("valid"):
        assert answer.status_code == 200, answer.text
    else:
        refused(answer, case["says"])


HOT = {
    "heat_template_version": "2018-08-31",
    "parameters": {"size": {"type": "string"}},
    "conditions": {"large": {"equals": [{"get_param": "size"}, "large"]}},
}
CFN = {"HeatTemplateFormatVersion": "2012-12-12", "Parameters": {"size": {"Type": "String"}}}


@pytest.mark.parametrize(
    ("template", "says"),
    [
        (
            {**HOT, "resources": {"a": {"type": "No::Such"}}},
            "resources.a: There is no resource type No::Such.",
        ),
        ({**HOT, "resources": {"a": {"type": "no.yaml"}}}, "resources.a: There is no file no.yaml."),
        (
            {**CFN, "Resources": {"a": {"Type": "No::Such"}}},
            "Resources.a: There is no resource type No::Such.",
        ),
        ({**HOT, "resources": {"a": {"type": "No::Such", "condition": "large"}}}, None),
        ({**HOT, "resources": {"a": {"type": "OS::Heat::None"}}}, None),
        (HOT, None),
    ],
)
def test_validation_of_types_where_a_parameter_has_no_value(endpoint, template, says):
    answer = requests.post(f"{endpoint}/validate", json={"template": template}, timeout=PATIENCE)
    if says is None:
        assert answer.status_code == 200, answer.text
    else:
        refused(answer, re.escape(says))


@pytest.mark.parametrize(
    ("text", "headers", "says"),
    [
        ('{"stack_name": "NAME", "template":', JSON, "not JSON: .*line 1, column"),
        ('["NAME"]', JSON, "has to be a JSON object"),
        ('"NAME"', JSON, "has to be a JSON object"),
        ("", JSON, "lacks 'stack_name'"),
        ('{"stack_name": "NAME"}', JSON, "lacks 'template'"),
        ('{"template": TEMPLATE}', JSON, "lacks 'stack_name'"),
        ('{"stack_name": "NAME", "template": null}', JSON, "'template'"),
        ('{"stack_name": "NAME", "template": 1}', JSON, "'template'"),
        ('{"stack_name": "1-NAME", "template": TEMPLATE}', JSON, "'stack_name'"),
        ('{"stack_name": "NAME", "template": TEMPLATE, "timeout_mins": -1}', JSON, "'timeout_mins'"),
        ('{"stack_name": "NAME", "template": TEMPLATE, "files": {"a": 1}}', JSON, "'files.a'"),
        ('{"stack_name": "NAME", "template_url": "http://127.0.0.1/x"}', JSON, "template_url"),
        (
            '{"stack_name": "NAME", "template": {"resources": {"a": {}, "a": {}}}}',
            JSON,
            "the key 'a' twice",
        ),
        ('{"stack_name": "NAME", "template": TEMPLATE}', {"Content-Type": "text/html"}, "type 'text/html'"),
        ("stack_name=NAME", {"Content-Type": "application/x-www-form-urlencoded"}, "application/json"),
    ],
)
def test_a_bad_body(endpoint, name, text, headers, says):
    data = text.replace("NAME", name).replace("TEMPLATE", json.dumps(TEMPLATE))
    answer = requests.post(f"{endpoint}/stacks", data=data.encode(), headers=headers, timeout=PATIENCE)
    refused(answer, says)
    assert stacks_named(endpoint, name) == []


def test_a_name_that_is_taken(endpoint, stack):
    before = everything(stack)
    taken = shown(stack)["stack_name"]
    body = {"stack_name": taken, "template": TEMPLATE}
    answer = requests.post(f"{endpoint}/stacks", json=body, timeout=PATIENCE)
    assert answer.status_code == 409
    assert answer.json()["error"]["type"] == "StackExists"
    assert taken in answer.json()["error"]["message"]
    assert len(stacks_named(endpoint, taken)) == 1
    assert everything(stack) == before


def request_of(case):
    keys = ("template", "parameters", "environment", "environment_files")
    return {key: case[key] for key in keys if key in case}


def refused(answer: requests.Response, says: str) -> None:
    assert answer.status_code == 400, answer.text
    message = answer.json()["error"]["message"]
    assert re.search(says, message, re.DOTALL), message
    assert "Traceback" not in answer.text


def shown(url: str) -> dict[str, str]:
    return dict(requests.get(url, timeout=PATIENCE).json()["stack"])


def everything(url: str) -> list[object]:
    """Return all that the API knows of a stack."""
    below = ("", "/template", "/environment", "/files", "/resources", "/events")
    return [requests.get(url + part, timeout=PATIENCE).json() for part in below]


def stacks_named(endpoint: str, name: str) -> list[object]:
    query = {"name": name, "show_deleted": "true"}
    return list(requests.get(f"{endpoint}/stacks", params=query, timeout=PATIENCE).json()["stacks"])
