# SPDX-License-Identifier: Apache-2.0
"""By a login that is passed on, a stranger had the API ask whomever he named, and guessed as he liked.

What is sent in one has no address in it, and what is refused is not repeated: not in an answer, nor in a log.
"""

from __future__ import annotations

import http.server
import json
import logging
import threading
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest
from falcon import testing
from oslo_config import cfg

from heatconv import conf as options
from heatconv.api import deploy, login, passwords
from heatconv.rpc.engine_client import EngineClient
from tests.functional.servers.catalog import free_port
from tests.unit.api.fake_engine import FakeEngine

PASSWORD = "s3cret-of-alice"
BY_PASSWORD = {
    "user": "alice",
    "user_domain": "Default",
    "password": PASSWORD,
    "project": "web",
    "project_domain": "Default",
}
BY_CREDENTIAL = {"credential_id": "c1", "credential_secret": PASSWORD}
TOKEN = "gAAAA-a-token-of-alice"
ACCEPTED = {
    "token": {
        "methods": ["password"],
        "expires_at": "2030-01-02T03:04:05.000000Z",
        "issued_at": "2030-01-02T02:04:05.000000Z",
        "user": {"id": "u1", "name": "alice", "domain": {"id": "default", "name": "Default"}},
        "project": {"id": "p1", "name": "web", "domain": {"id": "default", "name": "Default"}},
        "roles": [],
    }
}
WRONG = {"error": {"code": 401, "title": "Unauthorized", "message": f"not {PASSWORD}"}}


@contextmanager
def answering(status=201, body=ACCEPTED, headers=(("X-Subject-Token", TOKEN),), hold=None):
    """Run what answers any POST in one way; yield where it is, and what it was asked."""
    asked: list[tuple[str, Any]] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            length = int(self.headers["Content-Length"])
            asked.append((self.path, json.loads(self.rfile.read(length))))
            if hold is not None:
                hold.wait(30)
            self.send_response(status)
            for name, value in headers:
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(json.dumps(body).encode())

        def do_GET(self):  # as what follows a redirect does
            asked.append((self.path, None))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_said):
            """Say nothing."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield SimpleNamespace(url=f"http://127.0.0.1:{server.server_port}", asked=asked)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture(autouse=True)
def clock(monkeypatch):
    """A clock that stands still."""
    monkeypatch.setattr(passwords, "monotonic", lambda: 1000.0)


@pytest.fixture
def api(tmp_path):
    """Return a function that makes an API whose Keystone is somewhere."""

    def made(url):
        file = tmp_path / "heatconv.conf"
        file.write_text(f"""
[auth]
strategy = keystone
[keystone_authtoken]
www_authenticate_uri = http://192.0.2.1/not-asked
auth_type = password
auth_url = {url}
username = heatconv
password = another
""")
        conf = cfg.ConfigOpts()
        options.register(conf)
        conf([], default_config_files=[str(file)])
        return testing.TestClient(deploy.application(EngineClient(FakeEngine()), conf))

    return made


def test_the_page_knows_of_it(api):
    assert api("http://127.0.0.1:1").simulate_get("/ui/settings.json").json == {
        "login": "keystone",
        "console": None,
    }


def sentence(answer):
    return answer.json["error"]["message"]


def test_who_is_let_in_has_a_token_that_nobody_keeps(api):
    with answering() as keystone:
        answer = api(keystone.url).simulate_post(login.URL, json=BY_PASSWORD)
    assert answer.status_code == 200
    assert answer.headers["cache-control"] == "no-store"
    assert answer.json == {
        "token": TOKEN,
        "expires_at": "2030-01-02T03:04:05+00:00",
        "user": "alice",
        "project": {"id": "p1", "name": "web"},
    }
    ((path, body),) = keystone.asked
    assert path.startswith("/v3/auth/tokens")
    assert body["auth"]["scope"] == {"project": {"name": "web", "domain": {"name": "Default"}}}
    assert body["auth"]["identity"]["password"]["user"]["name"] == "alice"


def test_an_application_credential_has_its_project(api):
    with answering() as keystone:
        assert api(keystone.url).simulate_post(login.URL, json=BY_CREDENTIAL).status_code == 200
    ((_path, body),) = keystone.asked
    sent = {"id": "c1", "secret": PASSWORD}
    assert body["auth"] == {
        "identity": {"methods": ["application_credential"], "application_credential": sent}
    }


@pytest.mark.parametrize("login_by", [BY_PASSWORD, BY_CREDENTIAL])
@pytest.mark.parametrize("key", ["auth_url", "url", "endpoint", "Host", "scope", "token", "auth"])
def test_nobody_says_whom_to_ask_or_for_what(api, login_by, key):
    with answering() as elsewhere, answering() as keystone:
        answer = api(keystone.url).simulate_post(login.URL, json={**login_by, key: elsewhere.url})
    assert answer.status_code == 400
    assert keystone.asked == elsewhere.asked == []
    assert PASSWORD not in answer.text


@pytest.mark.parametrize(
    "name", ["X-Forwarded-Host", "Host", "Forwarded", "X-Original-Url", "X-Auth-Url", "X-Rewrite-Url"]
)
def test_no_header_does_either(api, name):
    with answering() as elsewhere, answering() as keystone:
        there = elsewhere.url.removeprefix("http://")
        answer = api(keystone.url).simulate_post(
            f"{login.URL}?auth_url={elsewhere.url}", json=BY_PASSWORD, headers={name: there}
        )
    assert answer.status_code == 200
    assert len(keystone.asked) == 1
    assert elsewhere.asked == []


@pytest.mark.parametrize("status", [300, 301, 302, 303, 305, 307, 308])
def test_a_redirect_leads_nowhere(api, status):
    with (
        answering() as elsewhere,
        answering(status, {}, [("Location", f"{elsewhere.url}/v3/auth/tokens")]) as keystone,
    ):
        answer = api(keystone.url).simulate_post(login.URL, json=BY_PASSWORD)
    assert answer.status_code == 503
    assert "location" not in answer.headers
    assert elsewhere.asked == []


@pytest.mark.parametrize("status", [400, 401, 403])
def test_a_wrong_password_gets_one_sentence(api, caplog, status):
    caplog.set_level(logging.DEBUG)
    with answering(status, WRONG, []) as keystone:
        answer = api(keystone.url).simulate_post(login.URL, json=BY_PASSWORD)
    assert answer.status_code == 401
    assert sentence(answer).startswith("Keystone does not let you in: the name, the password,")
    assert PASSWORD not in answer.text + caplog.text


@pytest.mark.parametrize(
    ("status", "body", "headers"),
    [
        (500, WRONG, []),
        (503, WRONG, []),
        (404, WRONG, []),
        (200, ["no token"], []),
        (201, ACCEPTED, []),
        (201, {"token": {}}, [("X-Subject-Token", TOKEN)]),
        (201, {"token": None}, [("X-Subject-Token", TOKEN)]),
    ],
)
def test_a_keystone_that_is_unwell_gets_one_sentence(api, caplog, status, body, headers):
    caplog.set_level(logging.DEBUG)
    with answering(status, body, headers) as keystone:
        answer = api(keystone.url).simulate_post(login.URL, json=BY_PASSWORD)
    assert (answer.status_code, sentence(answer)) == (503, "Keystone did not answer; try again later.")
    assert PASSWORD not in caplog.text


def test_so_does_one_that_is_away(api, caplog):
    caplog.set_level(logging.DEBUG)
    answer = api(f"http://127.0.0.1:{free_port()}").simulate_post(login.URL, json=BY_PASSWORD)
    assert (answer.status_code, sentence(answer)) == (503, "Keystone did not answer; try again later.")
    assert "Nobody can log in" in caplog.text
    assert PASSWORD not in caplog.text


def test_neither_password_nor_token_is_in_any_log(api, caplog):
    for logger in (None, "keystoneauth", "urllib3"):  # a daemon that was set up here may have quietened these
        caplog.set_level(logging.DEBUG, logger)
    with answering() as keystone:
        client = api(keystone.url)
        for sent in (BY_PASSWORD, BY_CREDENTIAL, {**BY_PASSWORD, "user": ""}, {"password": PASSWORD}):
            client.simulate_post(login.URL, json=sent)
    assert len(keystone.asked) == 2
    assert "/v3/auth/tokens" in caplog.text, "the log was not looked at"
    assert PASSWORD not in caplog.text
    assert TOKEN not in caplog.text


@pytest.mark.parametrize(
    "sent",
    [
        {**BY_PASSWORD, "password": "x" * 1025},
        {**BY_PASSWORD, "user": "x" * 256},
        {**BY_PASSWORD, "password": "x" * 9000},
        {**BY_PASSWORD, "password": {"deep": 1}},
        {**BY_PASSWORD, "project": ""},
        {key: value for key, value in BY_PASSWORD.items() if key != "project"},
        {**BY_CREDENTIAL, **BY_PASSWORD},
        {},
    ],
)
def test_what_is_no_login_goes_no_further(api, sent):
    with answering() as keystone:
        answer = api(keystone.url).simulate_post(login.URL, json=sent)
    assert answer.status_code == 400
    assert keystone.asked == []
    assert PASSWORD not in answer.text


def test_a_form_of_another_site_logs_nobody_in(api):
    with answering() as keystone:
        text = json.dumps(BY_PASSWORD)
        answer = api(keystone.url).simulate_post(login.URL, body=text, headers={"Content-Type": "text/plain"})
    assert answer.status_code == 400
    assert keystone.asked == []


def test_guessing_is_slow(api):
    with answering(401, WRONG, []) as keystone:
        client = api(keystone.url)
        statuses = [client.simulate_post(login.URL, json=BY_PASSWORD).status_code for _ in range(25)]
        another = client.simulate_post(login.URL, json={**BY_PASSWORD, "user": "bob"})
    assert statuses == [401] * 20 + [429] * 5
    assert len(keystone.asked) == 21
    assert another.status_code == 401


def test_a_slow_keystone_leaves_the_api_its_threads(api):
    hold = threading.Event()
    with answering(hold=hold) as keystone:
        client = api(keystone.url)
        statuses: list[int] = []

        def log_in():
            statuses.append(client.simulate_post(login.URL, json=BY_PASSWORD).status_code)

        waiting = [threading.Thread(target=log_in) for _ in range(login.AT_ONCE + 3)]
        for each in waiting:
            each.start()
        for each in waiting[login.AT_ONCE :]:
            each.join(0)
        while len(statuses) < 3:
            waiting[0].join(0.01)
        assert statuses == [503] * 3
        hold.set()
        for each in waiting:
            each.join(30)
    assert sorted(statuses) == [200] * login.AT_ONCE + [503] * 3


@pytest.mark.parametrize("strategy", ["noauth", "http_basic"])
def test_without_keystone_there_is_no_such_door(tmp_path, strategy):
    (tmp_path / "users").write_text("")
    conf = cfg.ConfigOpts()
    options.register(conf)
    conf([], default_config_files=[])
    conf.set_override("strategy", strategy, "auth")
    conf.set_override("http_basic_user_file", str(tmp_path / "users"), "auth")
    conf.set_override("allowed_hosts", ["falconframework.org"], "api")
    client = testing.TestClient(deploy.application(EngineClient(FakeEngine()), conf))
    assert client.simulate_post(login.URL, json=BY_PASSWORD).status_code == 405
