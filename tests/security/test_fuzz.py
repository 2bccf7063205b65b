# SPDX-License-Identifier: Apache-2.0
"""Whatever patterns, queries and groups are made up, no process dies of them, or stops to answer.

They are sent to a heatconv that runs in one process with 3 GB of memory.
``HEATCONV_FUZZ_TEMPLATES`` says how many there are of each, ``HEATCONV_FUZZ_SEED`` which
ones.
"""

from __future__ import annotations

import os
import sys

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from tests.security import nasty
from tests.security.attacked import MEMORY, attacked

TEMPLATES = int(os.environ.get("HEATCONV_FUZZ_TEMPLATES", "60"))
SEED = int(os.environ.get("HEATCONV_FUZZ_SEED", "0"))
PATIENCE = 120  #: seconds an answer may take on a busy machine; what is not bounded takes longer than that

fuzzed = settings(
    max_examples=TEMPLATES,
    phases=[Phase.generate],
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    directory = tmp_path_factory.mktemp("fuzzed")
    with attacked(directory) as running:
        yield running
        running.assert_well()
        most = running.most_memory()
        sys.stdout.write(f"{running.asked} requests were answered with {most >> 20} MB of memory\n")
        assert most < MEMORY
        log = running.process.output
        assert "MemoryError" not in log
        assert "Traceback" not in log, log[log.index("Traceback") - 2000 :][:8000]


def hot(**sections):
    return {"heat_template_version": "2021-04-16", **sections}


def value(of):
    return {"type": "OS::Heat::Value", "properties": {"value": of}}


def is_answered(answer):
    assert answer.status_code < 500, answer.text
    if answer.status_code >= 400:
        assert answer.json()["error"]["message"]


@pytest.mark.timeout(0)
def test_patterns(service):
    @seed(SEED)
    @fuzzed
    @given(pattern=nasty.PATTERNS, text=st.sampled_from(["a" * 5000, "OS::Heat::Value", ""]))
    def ask(pattern, text):
        query = {"name": pattern[:1500]}
        is_answered(service.ask("GET", "/resource_types", params=query, timeout=PATIENCE))
        parameter = {"type": "string", "default": text, "constraints": [{"allowed_pattern": pattern}]}
        is_answered(service.preview(hot(parameters={"p": parameter}), timeout=PATIENCE))

    ask()
    service.assert_well()


@pytest.mark.timeout(0)
def test_queries(service):
    data = {"l": list(range(100)), "t": "some text " * 100}

    @seed(SEED)
    @fuzzed
    @given(expression=nasty.QUERIES)
    def ask(expression):
        asked = {"yaql": {"expression": expression, "data": data}}
        is_answered(service.preview(hot(resources={"V": value(asked)}), timeout=PATIENCE))

    ask()
    service.assert_well()


@pytest.mark.timeout(0)
def test_groups(service):
    @seed(SEED)
    @fuzzed
    @given(stack=nasty.stacks())
    def ask(stack):
        is_answered(service.post("/validate", stack, timeout=PATIENCE))
        is_answered(service.preview(**stack, timeout=PATIENCE))

    ask()
    service.assert_well()


@pytest.mark.timeout(0)
def test_what_only_a_worker_comes_to_know(service):
    made = []

    @seed(SEED)
    @settings(fuzzed, max_examples=-(-TEMPLATES // 10))
    @given(number=nasty.NUMBERS, expression=nasty.QUERIES, type_=st.sampled_from(["group", "scaled"]))
    def ask(number, expression, type_):
        later = {"get_attr": ["V", "value"]}
        member = {"type": "OS::Heat::None"}
        groups = {
            "group": ("OS::Heat::ResourceGroup", {"count": later, "resource_def": member}),
            "scaled": (
                "OS::Heat::AutoScalingGroup",
                {"resource": member, "min_size": 0, "max_size": 10**9, "desired_capacity": later},
            ),
        }
        resources = {
            "V": value(number if not isinstance(number, int) or number > 1000 or number < 0 else 10**9),
            "G": {"type": groups[type_][0], "properties": groups[type_][1]},
            "Q": value({"yaql": {"expression": expression, "data": later}}),
        }
        body = {"stack_name": "late", "template": hot(resources=resources), "timeout_mins": 1}
        answer = service.post("/stacks", body, timeout=PATIENCE)
        is_answered(answer)
        if answer.status_code == 201:
            made.append(number)
            service.settled("late", patience=PATIENCE)
            is_answered(service.ask("DELETE", f"/stacks/late/{service.id_of('late')}"))
            assert service.settled("late", patience=PATIENCE) is None

    ask()
    assert made  # some could be posted
    service.assert_well()
