# SPDX-License-Identifier: Apache-2.0
"""Tokens of a real Keystone."""

from __future__ import annotations

import pytest
import requests
from falcon import testing

from heatconv import conf as configuration
from heatconv.api import deploy
from heatconv.rpc.engine_client import EngineClient
from tests.functional.servers.catalog import free_port

#: A first run installs Keystone.
pytestmark = pytest.mark.timeout(300)


def status(installation, token, path="/stacks", project="mine"):
    url = f"{installation.endpoint}/v1/{installation.projects[project]}{path}"
    return requests.get(url, headers={"X-Auth-Token": token}, timeout=30).status_code


@pytest.mark.parametrize("token", ["nonsense", "gAAAAABnonsense"])
def test_a_token_that_is_none(by_token, token):
    assert status(by_token, token) == 401


def test_a_token_with_characters_that_no_header_may_have(by_token):
    assert status(by_token, "\x7f") == 400


def test_a_token_that_was_revoked(by_token, identity):
    token = identity.token("owner", project="mine")
    identity.revoke(token)
    assert status(by_token, token) == 401


def test_headers_prove_nothing(by_token, identity):
    claimed = {
        "X-Identity-Status": "Confirmed",
        "X-Project-Id": by_token.projects["mine"],
        "X-User-Id": "me",
        "X-Roles": "admin,member,reader",
        "OpenStack-System-Scope": "all",
    }
    url = f"{by_token.endpoint}/v1/{by_token.projects['mine']}/stacks"
    assert requests.get(url, headers=claimed, timeout=30).status_code == 401
    for token in (
        by_token.headers["guest"]["X-Auth-Token"],
        identity.token("owner"),
        identity.token("admin", domain={"id": "default"}),
    ):
        claimed["X-Auth-Token"] = token
        assert requests.get(url, headers=claimed, timeout=30).status_code == 403


def test_what_a_token_is_for(by_token, identity):
    assert status(by_token, identity.token("owner")) == 403, "for nothing"
    assert status(by_token, identity.token("admin", domain={"id": "default"})) == 403, "for a domain"
    assert status(by_token, identity.token("admin", system={"all": True})) == 200, "for all there is"


def test_the_stack_knows_its_user(by_token):
    path = f"/stacks/shop/{by_token.stack['stack_id']}"
    assert by_token.ask("owner", "GET", path).json()["stack"]["stack_owner"] == "owner"


def test_a_token_that_keystone_does_not_answer_for(tmp_path):
    nowhere = f"http://127.0.0.1:{free_port()}"
    file = tmp_path / "heatconv.conf"
    file.write_text(f"""
[auth]
strategy = keystone
[keystone_authtoken]
www_authenticate_uri = {nowhere}
auth_type = v3token
auth_url = {nowhere}
token = none
http_request_max_retries = 0
""")
    conf = configuration.load([], prog="heatconv-api", default_config_files=[str(file)])
    client = testing.TestClient(deploy.application(EngineClient(NoEngine()), conf))
    answer = client.simulate_get("/v1/mine/stacks", headers={"X-Auth-Token": "gAAAAAB"})
    assert answer.status_code == 503
    assert answer.json["error"]["message"] == "Keystone did not answer; try again later."
    assert client.simulate_get("/").status_code == 300


class NoEngine:
    def call(self, context, method, **arguments):
        raise AssertionError(f"{method} was called")
