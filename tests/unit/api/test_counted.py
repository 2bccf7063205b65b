# SPDX-License-Identifier: Apache-2.0
"""Requests are counted by their routes, which are of the code's making."""

from __future__ import annotations

from typing import Any

import pytest
from falcon import testing

from heatconv.api import deploy
from heatconv.api.watch import HOLD
from heatconv.metrics import declared, instruments
from heatconv.rpc.engine_client import EngineClient
from tests.unit.api.test_watch import FakeHold

STACKS = "/v1/{project}/stacks"


@pytest.fixture
def registry():
    return instruments.switch_on(declared.ALL)


@pytest.fixture
def api(registry, engine, conf):
    return testing.TestClient(deploy.application(EngineClient(engine), conf))


@pytest.fixture
def counted(registry):
    """Return by how much the count of some requests has grown since the test began."""
    before: dict[tuple[str, ...], float] = {}

    def read(method, route, status):
        labels = {"method": method, "route": route, "status": status}
        return registry.get_sample_value("heatconv_api_requests_total", labels) or 0

    def of(method, route, status):
        return read(method, route, status) - before.get((method, route, status), 0)

    for family in registry.collect():
        for sample in family.samples:
            if sample.name == "heatconv_api_requests_total":
                before[tuple(sample.labels[name] for name in ("method", "route", "status"))] = sample.value
    return of


@pytest.mark.parametrize(
    ("method", "path", "counts_as"),
    [
        ("GET", "/v1/default/stacks", ("GET", STACKS, "2xx")),
        ("GET", "/v1/any-project-of-a-user/stacks", ("GET", STACKS, "2xx")),
        ("POST", "/v1/default/stacks", ("POST", STACKS, "4xx")),
        ("GET", "/v1/default/stacks/of-a-user", ("GET", f"{STACKS}/{{stack_name}}", "4xx")),
        ("GET", "/of-a-user", ("GET", "other", "4xx")),
        ("GET", "/v7/of-a-user", ("GET", "other", "3xx")),
        ("GET", "/healthcheck", ("GET", "other", "2xx")),
        ("TRACE", "/v1/default/stacks", ("other", STACKS, "4xx")),
    ],
)
def test_a_request_counts_by_its_route(api, counted, method, path, counts_as):
    api.simulate_request(method, path)

    assert counted(*counts_as) == 1


def test_what_is_held_counts_when_it_is_answered(api, engine, counted):
    stack_id = engine.add_stack("web")
    path = f"/v1/default/stacks/web/{stack_id}"
    route = f"{STACKS}/{{stack_name}}/{{stack_id}}"
    hold: Any = FakeHold()
    tag = api.simulate_get(path).headers["etag"]
    ask = {"params": {"wait": 10}, "headers": {"If-None-Match": tag}, "extras": {HOLD: hold}}

    assert api.simulate_get(path, **ask).status_code == 304
    assert hold.is_begun
    assert counted("GET", route, "3xx") == 0

    hold.end(lambda: None)
    hold.wait.until = 0
    assert api.simulate_get(path, **ask).status_code == 304
    assert counted("GET", route, "3xx") == 1
    assert counted("GET", route, "2xx") == 1
