# SPDX-License-Identifier: Apache-2.0
"""What goes on around the application."""

from __future__ import annotations

import re

import pytest
from falcon import testing
from oslo_config import cfg
from oslo_context import context as oslo_context

from heatconv import conf as options
from heatconv.api import deploy
from heatconv.rpc.engine_client import EngineClient

STACKS = "/v1/default/stacks"
ORIGIN = "https://dashboard.example.org"


@pytest.fixture
def client(engine, tmp_path):
    """Return how to make a client of an API with a configuration file."""

    def make(text=""):
        file = tmp_path / "heatconv.conf"
        file.write_text(text)
        conf = cfg.ConfigOpts()
        options.register(conf)
        conf([], default_config_files=[str(file)])
        conf.set_default("allowed_hosts", ["falconframework.org", "cloud.example.org"], "api")
        return testing.TestClient(deploy.application(EngineClient(engine), conf))

    return make


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", STACKS, 200),
        ("GET", "/", 300),
        ("GET", "/healthcheck", 200),
        ("GET", "/nothing", 404),
        ("GET", f"{STACKS}/nothing", 404),
        ("PUT", STACKS, 405),
        ("POST", STACKS, 400),
        ("OPTIONS", STACKS, 204),
    ],
)
def test_every_answer_has_a_request_id(client, method, path, status):
    api = client()
    answers = [api.simulate_request(method, path) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [status] * 2
    ids = {answer.headers["x-openstack-request-id"] for answer in answers}
    assert len(ids) == 2
    assert all(re.fullmatch(r"req-[0-9a-f-]{36}", each) for each in ids)


def test_log_lines_of_a_request_carry_its_id(client, engine):
    seen = []

    def call(_context, _method, **_arguments):
        current = oslo_context.get_current()
        assert current is not None
        seen.append((current.request_id, current.project_id))
        return {"stacks": []}

    engine.call = call
    answer = client().simulate_get(STACKS)
    assert seen == [(answer.headers["x-openstack-request-id"], "default")]


def test_the_health_check_asks_for_nothing(client, engine):
    strict = client(
        "[auth]\nstrategy = keystone\n[keystone_authtoken]\n"
        "www_authenticate_uri = http://127.0.0.1:9\nauth_type = v3token\nauth_url = http://127.0.0.1:9\n"
    )
    assert strict.simulate_get("/healthcheck").status_code == 200
    assert strict.simulate_head("/healthcheck").status_code == 204
    assert strict.simulate_get("/").status_code == 300
    assert strict.simulate_options(STACKS).status_code == 204
    refused = strict.simulate_get(STACKS, headers={"X-Identity-Status": "Confirmed", "X-Roles": "admin"})
    assert refused.status_code == 401
    assert refused.headers["www-authenticate"] == 'Keystone uri="http://127.0.0.1:9"'
    assert "X-Auth-Token" in refused.json["error"]["message"]
    assert engine.contexts == []


def test_a_browser_may_ask_from_an_origin_that_is_allowed(client):
    api = client(f"[cors]\nallowed_origin = {ORIGIN}\n")
    asked = {
        "Origin": ORIGIN,
        "Access-Control-Request-Method": "PATCH",
        "Access-Control-Request-Headers": "X-Auth-Token",
    }
    preflight = api.simulate_options(STACKS, headers=asked)
    assert preflight.headers["access-control-allow-origin"] == ORIGIN
    assert preflight.headers["access-control-allow-methods"] == "PATCH"
    answer = api.simulate_get(STACKS, headers={"Origin": ORIGIN})
    assert answer.headers["access-control-allow-origin"] == ORIGIN
    assert "X-Openstack-Request-Id" in answer.headers["access-control-expose-headers"]


def test_and_from_no_other(client):
    for text in ("", f"[cors]\nallowed_origin = {ORIGIN}\n"):
        answer = client(text).simulate_get(STACKS, headers={"Origin": "https://evil.example.org"})
        assert "access-control-allow-origin" not in answer.headers


FORWARDED = {
    "X-Forwarded-Proto": "https",
    "X-Forwarded-Host": "cloud.example.org",
    "X-Forwarded-Prefix": "/orchestration",
}


def test_urls_are_the_proxys_if_it_is_believed(client, engine):
    engine.add_stack("web")
    believing = client("[oslo_middleware]\nenable_proxy_headers_parsing = true\n")
    location = believing.simulate_get(f"{STACKS}/web", headers=FORWARDED).headers["location"]
    assert location.startswith("https://cloud.example.org/orchestration/v1/default/stacks/web/")
    location = client().simulate_get(f"{STACKS}/web", headers=FORWARDED).headers["location"]
    assert location.startswith("http://falconframework.org/v1/default/stacks/web/")
