# SPDX-License-Identifier: Apache-2.0
"""A regular expression that backtracks for years held up everything else in its process.

``GET /resource_types?name=(..?.?.?)+!`` was matched by ``re``, which lets nobody
else run meanwhile: no health check was answered, no heartbeat written, and SIGTERM
ignored.
"""

from __future__ import annotations

import pytest

from tests.security.attacked import attacked

FOR_YEARS = ["(..?.?.?)+!", "((.+)+)+!", "(.|..)*?!", r"(\w|\w\w|:)*$!", "(?:(?:(?:a?){1000}){1000}){1000}!"]


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    with attacked(tmp_path_factory.mktemp("patterns")) as running:
        yield running


@pytest.mark.parametrize("pattern", FOR_YEARS)
def test_a_pattern_for_the_names_of_types_is_answered(service, pattern):
    answer = service.ask("GET", "/resource_types", params={"name": pattern})

    assert answer.status_code == 200, answer.text
    assert answer.json() == {"resource_types": []}
    service.assert_well()


def test_a_pattern_that_takes_long_to_compile_is_refused(service):
    answer = service.ask("GET", "/resource_types", params={"name": "(?i)" + "[a-\uffff]" * 300})

    assert answer.status_code == 400
    assert "too much work" in answer.json()["error"]["message"]
    service.assert_well()


def test_what_the_matcher_cannot_do_is_said(service):
    answer = service.ask("GET", "/resource_types", params={"name": r"(.)\1"})

    assert answer.status_code == 400
    assert "cannot be looked for: A pattern cannot refer back" in answer.json()["error"]["message"]


def test_a_pattern_still_finds_the_start_of_names(service):
    answer = service.ask("GET", "/resource_types", params={"name": "OS::Heat::(Value|None)"})

    assert answer.json() == {"resource_types": ["OS::Heat::None", "OS::Heat::Value"]}
