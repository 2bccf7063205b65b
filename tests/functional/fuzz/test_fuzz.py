# SPDX-License-Identifier: Apache-2.0
"""Whatever is asked of the API, its answer is no fault of ours.

Requests are made up from the API's own description, right ones and wrong ones,
many of them about stacks that are really there, and sent to a heatconv that runs
in one process.  ``HEATCONV_FUZZ_REQUESTS`` says how many, ``HEATCONV_FUZZ_SEED``
which ones.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from heatconv.api import openapi
from tests.functional.fuzz import corpus
from tests.functional.servers.one_process import heatconv_all

REQUESTS = int(os.environ.get("HEATCONV_FUZZ_REQUESTS", "500"))
SEED = int(os.environ.get("HEATCONV_FUZZ_SEED", "0"))
PATIENCE = 60  #: seconds an answer may take on a busy machine
PROJECT = "default"

SCHEMA = schemathesis.openapi.from_dict(openapi.describe("http://heatconv"))
FOUND: list[Any] = list(SCHEMA.get_all_operations())
OPERATIONS = [found.ok() for found in FOUND]
EACH = -(-REQUESTS // len(OPERATIONS))  #: requests an operation


class Service:
    """A heatconv with some stacks that are there again whenever a round begins."""

    def __init__(self, endpoint: str, log: Path) -> None:
        self.endpoint = endpoint
        self.root = endpoint.partition("/v1/")[0]
        self.log = log
        self.known: dict[str, list[str]] = {}
        self.sent = 0
        self._session = requests.Session()

    def get(self, path: str) -> Any:
        """Return the answer to a GET below the endpoint."""
        answer = self._session.get(f"{self.endpoint}{path}", timeout=PATIENCE)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def settle(self) -> None:
        """Make the stacks that are gone, and learn what paths can be made of those there."""
        there = {row["stack_name"] for row in self.get("/stacks")["stacks"]}
        for name in set(corpus.NAMES[:3]) - there:
            body = {"stack_name": name, "template": corpus.TEMPLATES[1]}
            answer = self._session.post(f"{self.endpoint}/stacks", json=body, timeout=PATIENCE)
            assert answer.status_code == 201, answer.text
        rows = self.get("/stacks?show_deleted=true&limit=10")["stacks"]
        events = [
            event["id"]
            for row in rows[:3]
            for event in self.get(f"/stacks/{row['id']}/events?limit=3")["events"]
        ]
        self.known = {
            "project": [PROJECT],
            "stack_name": [row["stack_name"] for row in rows],
            "stack_id": [row["id"] for row in rows],
            "arn_id": [row["id"] for row in rows],
            "resource_name": ["one", "two", "three", *corpus.NAMES],
            "event_id": events or ["none"],
            "output_key": ["joined", "replaced"],
            "snapshot_id": ["none"],
            "type_name": ["OS::Heat::RandomString", "OS::Heat::Value"],
            "version": ["heat_template_version.2018-08-31", "2018-08-31"],
        }

    def stacks(self) -> list[tuple[str, str]]:
        """Return the name and the id of stacks that are, or were, there."""
        return list(zip(self.known["stack_name"], self.known["stack_id"], strict=True))


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory, cloud_url: str) -> Iterator[Service]:
    directory = tmp_path_factory.mktemp("fuzzed")
    config = directory / "heatconv.conf"
    config.write_text("[DEFAULT]\nenable_stack_abandon = true\nenable_stack_adopt = true\n")
    with heatconv_all(directory, cloud_url, "--config-file", str(config)) as endpoint:
        yield Service(endpoint, directory / "heatconv-all.log")


def about_what_is_there(service: Service, names: list[str]) -> st.SearchStrategy[dict[str, str]]:
    """Return paths to what is there, or nearly."""

    @st.composite
    def paths(draw: st.DrawFn) -> dict[str, str]:
        path = {name: draw(st.sampled_from(service.known.get(name, ["none"]))) for name in names}
        if {"stack_name", "stack_id"} <= path.keys() and draw(st.integers(0, 9)):
            path["stack_name"], path["stack_id"] = draw(st.sampled_from(service.stacks()))
        return path

    return paths()


def cases(operation: Any, service: Service) -> st.SearchStrategy[Any]:
    """Return requests of an operation, right ones and wrong ones."""
    names = re.findall(r"{(\w+)}", operation.path)
    hooks = schemathesis.hooks.HookDispatcher(scope=schemathesis.hooks.HookScope.TEST)

    def before_generate_path_parameters(_context: Any, made_up: Any) -> Any:
        there = about_what_is_there(service, names)
        return st.integers(0, 9).flatmap(lambda number: there if number else made_up)

    def before_generate_body(_context: Any, made_up: Any) -> Any:
        return st.one_of(corpus.STACKS, made_up)

    hooks.register_hook_with_name(before_generate_path_parameters, "before_generate_path_parameters")
    if _describes_a_stack(operation):
        hooks.register_hook_with_name(before_generate_body, "before_generate_body")
    modes = [schemathesis.GenerationMode.POSITIVE]
    if list(operation.query) or list(operation.body):
        modes.append(schemathesis.GenerationMode.NEGATIVE)
    return st.one_of([operation.as_strategy(mode, hooks=hooks) for mode in modes])


def _describes_a_stack(operation: Any) -> bool:
    body = operation.definition.raw.get("requestBody") or {}
    schema: Mapping[str, Any] = body.get("content", {}).get("application/json", {}).get("schema", {})
    return "template" in schema.get("properties", {})


@pytest.mark.timeout(0)
@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.label)
def test_no_request_is_answered_by_a_fault_of_ours(service, operation):
    service.settle()
    session = requests.Session()
    session.trust_env = False

    @seed(SEED)
    @settings(
        max_examples=EACH,
        phases=[Phase.generate],
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(case=cases(operation, service))
    def ask(case: Any) -> None:
        service.sent += 1
        answer = case.call(base_url=service.root, session=session, timeout=PATIENCE, allow_redirects=False)
        curl = case.as_curl_command()
        assert answer.status_code < 500, f"{curl}\n{answer.text}"
        assert answer.headers["x-openstack-request-id"], curl
        if answer.status_code >= 400:
            assert answer.json()["error"]["message"], curl

    ask()


def test_it_is_alive_in_the_end_and_its_log_knows_no_fault(service):
    assert service.get("/stacks")["stacks"]
    assert service.get("/services")["services"][0]["status"] == "up"
    log = service.log.read_text()
    assert "Traceback" not in log, log[log.index("Traceback") - 2000 :][:8000]
    sys.stdout.write(f"{service.sent} requests were answered\n")
