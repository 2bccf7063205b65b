# SPDX-License-Identifier: Apache-2.0
"""Where the service is, and who asks: clouds.yaml, OS_* variables, --endpoint."""

from __future__ import annotations

import json
import os
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
import yaml
from keystoneauth1 import fixture as keystone

# openstacksdk and keystoneauth have a say about their own future.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::PendingDeprecationWarning")


class Cloud(ThreadingHTTPServer):
    """A Keystone with one user, and an orchestration service that notes who asks."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.offers = True
        self.asked = []  # (path, token) of each request to the service


class _Handler(BaseHTTPRequestHandler):
    server: Cloud

    def do_GET(self):
        if self.path.startswith("/v1/"):
            self.server.asked.append((self.path, self.headers["X-Auth-Token"]))
            self._answer(200, {"stacks": []})
        else:
            self._answer(200, {"version": keystone.V3Discovery(f"{self.server.url}/v3")})

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        password = body["auth"]["identity"]["password"]["user"]["password"]
        if password != "secret":
            self._answer(401, {"error": {"code": 401, "message": "Wrong password.", "title": "Unauthorized"}})
            return
        token = keystone.V3Token()
        token.set_project_scope()
        if self.server.offers:
            token.add_service("orchestration").add_standard_endpoints(
                public=f"{self.server.url}/v1/mine", region="north"
            )
        self._answer(201, token, {"X-Subject-Token": "a-token"})

    def _answer(self, status, body, headers=()):
        text = json.dumps(body).encode()
        self.send_response(status)
        for name, value in dict(headers).items():
            self.send_header(name, value)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_arguments):
        pass


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch, tmp_path):
    """Have no environment and no clouds but those of the test."""
    for name in [name for name in os.environ if name.startswith("OS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("OS_CLIENT_CONFIG_FILE", str(tmp_path / "clouds.yaml"))


@pytest.fixture
def nowhere(run, monkeypatch):
    """Return the program without an endpoint in its environment."""
    monkeypatch.delenv("HEATCONV_ENDPOINT")
    return run


@pytest.fixture
def cloud(tmp_path):
    with Cloud() as cloud:
        thread = threading.Thread(target=cloud.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        auth = {
            "auth_url": f"{cloud.url}/v3",
            "username": "me",
            "password": "secret",
            "user_domain_id": "default",
            "project_id": "mine",
        }
        there = {"auth": auth, "region_name": "north"}
        wrong = there | {"auth": auth | {"password": "wrong"}}
        text = yaml.safe_dump({"clouds": {"there": there, "wrong": wrong}})
        (tmp_path / "clouds.yaml").write_text(text)
        yield cloud
        cloud.shutdown()
        thread.join()


def test_a_cloud_of_clouds_yaml_tells_the_endpoint_and_gives_a_token(nowhere, cloud):
    ran = nowhere("--os-cloud", "there", "stack", "list", "-f", "json")
    assert (ran.code, ran.json) == (0, [])
    assert cloud.asked == [("/v1/mine/stacks", "a-token")]


def test_the_environment_names_a_cloud_too(nowhere, cloud, monkeypatch):
    monkeypatch.setenv("OS_CLOUD", "there")
    assert nowhere("stack", "list").code == 0
    assert cloud.asked == [("/v1/mine/stacks", "a-token")]


def test_an_endpoint_goes_before_that_of_the_catalog(nowhere, cloud):
    ran = nowhere("--os-cloud", "there", "--endpoint", f"{cloud.url}/v1/other", "stack", "list")
    assert ran.code == 0
    assert cloud.asked == [("/v1/other/stacks", "a-token")]


def test_variables_do_without_keystone(nowhere, cloud, monkeypatch):
    monkeypatch.setenv("OS_AUTH_TYPE", "none")
    monkeypatch.setenv("OS_ENDPOINT", f"{cloud.url}/v1/default")
    assert nowhere("stack", "list").code == 0
    assert [path for path, _ in cloud.asked] == ["/v1/default/stacks"]


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("wrong", "The cloud cannot be logged in to: Wrong password. (HTTP 401)"),
        ("neverland", "The cloud cannot be logged in to: Cloud neverland was not found"),
    ],
)
def test_whoever_is_not_let_in_is_told_why(nowhere, cloud, name, sentence):
    ran = nowhere("--os-cloud", name, "stack", "list")
    assert (ran.code, ran.err[: len(sentence)]) == (1, sentence)
    assert cloud.asked == []


def test_a_cloud_without_the_service_says_what_to_do(nowhere, cloud):
    cloud.offers = False
    ran = nowhere("--os-cloud", "there", "stack", "list")
    assert (ran.code, ran.out) == (1, "")
    assert "no service of type orchestration: register it there, or say where it is" in ran.err


def test_help_asks_nobody(nowhere, cloud):
    assert nowhere("--os-cloud", "wrong", "stack", "create", "--help").code == 0
    assert nowhere("--os-cloud", "wrong", "complete").code == 0
