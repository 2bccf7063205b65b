# SPDX-License-Identifier: Apache-2.0
"""The API's stories, told in YAML, against a heatconv that runs.

A file in ``stories`` holds any number of stories.  A story is a list of steps;
a step is a request and what is expected of its answer::

    - POST: /stacks                     # method and path below the endpoint
      json: {stack_name: $name}         # or ``text`` and ``headers``
      status: 201
      keep: {id: stack.id}              # from now on $id is that
      until: {stack.stack_status: CREATE_COMPLETE}   # ask again until it is so
      expect: {stack.tags.0: blue}      # values at places of the answer
      matches: {error.message: ^The}    # regular expressions, likewise

``$name`` is a name that no other story has; what is kept and is no text is kept
as JSON.  Redirects are not followed.
"""

from __future__ import annotations

import json
import re
import time
import uuid
from pathlib import Path
from string import Template
from typing import Any

import pytest
import requests
import yaml

STORIES = [
    pytest.param(story["steps"], id=story["story"])
    for path in sorted((Path(__file__).parent / "stories").glob("*.yaml"))
    for story in yaml.safe_load_all(path.read_text())
]
PATIENCE = 30  #: seconds until what is waited for has to be so
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD")


@pytest.mark.parametrize("steps", STORIES)
def test_story(endpoint, steps):
    names = {"name": f"story-{uuid.uuid4().hex[:8]}", "endpoint": endpoint}
    with requests.Session() as session:
        for step in steps:
            take(session, endpoint, filled(step, names), names)


def take(session: requests.Session, endpoint: str, step: dict[str, Any], names: dict[str, str]) -> None:
    """Take one step: ask, as often as it says, and compare."""
    deadline = time.monotonic() + PATIENCE
    while True:
        response = ask(session, endpoint, step)
        assert response.status_code == step.get("status", 200), f"{step} -> {response.text}"
        unlike = differences(response, step.get("until", {}))
        if not unlike:
            break
        assert time.monotonic() < deadline, f"{step}: after {PATIENCE} seconds still {unlike}"
        time.sleep(0.05)
    assert not differences(response, step.get("expect", {})), response.text
    for place, pattern in step.get("matches", {}).items():
        assert re.search(pattern, str(at(response.json(), place))), f"{place} in {response.text}"
    for name, pattern in step.get("headers_match", {}).items():
        assert re.search(pattern, response.headers.get(name, "")), f"{name} in {response.headers}"
    for name, place in step.get("keep", {}).items():
        found = at(response.json(), place)
        names[name] = found if isinstance(found, str) else json.dumps(found)


def ask(session: requests.Session, endpoint: str, step: dict[str, Any]) -> requests.Response:
    (method,) = (method for method in METHODS if method in step)
    url = step[method] if step[method].startswith("http") else endpoint + step[method]
    return session.request(
        method,
        url,
        json=step.get("json"),
        data=step["text"].encode() if "text" in step else None,
        headers=step.get("headers"),
        params=step.get("query"),
        timeout=PATIENCE,
        allow_redirects=False,
    )


def differences(response: requests.Response, expected: dict[str, Any]) -> dict[str, Any]:
    """Return what is found at the places where it is not what is expected."""
    found = {place: at(response.json(), place) for place in expected}
    return {place: value for place, value in found.items() if value != expected[place]}


def at(answer: Any, place: str) -> Any:
    """Return what is at a place such as ``stack.outputs.0.output_value``; None if nothing is."""
    for step in filter(None, place.split(".")):
        if isinstance(answer, list):
            answer = len(answer) if step == "length" else dict(enumerate(answer)).get(int(step))
        else:
            answer = answer.get(step) if isinstance(answer, dict) else None
    return answer


def filled(value: Any, names: dict[str, str]) -> Any:
    """Return a step with names put in and what is ``repeat``ed written out."""
    if isinstance(value, str):
        return Template(value).safe_substitute(names)
    if isinstance(value, list):
        return [filled(item, names) for item in value]
    if isinstance(value, dict) and value.keys() == {"repeat", "times"}:
        return value["repeat"] * value["times"]
    if isinstance(value, dict):
        return {key: filled(item, names) for key, item in value.items()}
    return value
