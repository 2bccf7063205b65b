# SPDX-License-Identifier: Apache-2.0
"""Who a caller is: by password, by token, by a signed URL."""

from __future__ import annotations

from base64 import b64encode
from urllib.parse import urlsplit

import bcrypt
import pytest
from falcon import testing
from oslo_config import cfg

from heatconv import conf as options
from heatconv import errors
from heatconv.api import auth, deploy, tokens
from heatconv.rpc.context import RequestContext
from heatconv.rpc.engine_client import EngineClient
from heatconv.signing import Signer

STACKS = "/v1/web/stacks"
SIGNER = Signer(b"s" * 32, "http://heat")


@pytest.fixture
def conf():
    conf = cfg.ConfigOpts()
    options.register(conf)
    conf([])
    return conf


@pytest.fixture
def users(conf, tmp_path):
    """Return the file of users: each has its name for a password."""
    names = ("alice@web", "bob@web", "root", "web", "carol@web")
    hashed = {name: bcrypt.hashpw(name.encode(), bcrypt.gensalt(4)).decode() for name in names}
    file = tmp_path / "htpasswd"
    file.write_text("".join(f"{name}:{value}\n" for name, value in hashed.items()))
    conf.set_override("strategy", "http_basic", "auth")
    conf.set_override("http_basic_user_file", str(file), "auth")
    conf.set_override("http_basic_roles", {"bob@web": "reader", "root": "admin", "carol@web": "cook"}, "auth")
    return file


@pytest.fixture
def client(engine, conf, users):
    return testing.TestClient(deploy.application(EngineClient(engine), conf, signer=SIGNER))


def password(name, secret=None):
    return {"Authorization": "Basic " + b64encode(f"{name}:{secret or name}".encode()).decode()}


# -- by password -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "project", "roles", "is_admin"),
    [
        ("alice@web", "web", ("member", "reader"), False),
        ("web", "web", ("member", "reader"), False),
        ("bob@web", "web", ("reader",), False),
        ("root", "web", ("admin", "member", "reader"), True),
    ],
)
def test_a_user_has_a_project_and_a_role(client, engine, name, project, roles, is_admin):
    assert client.simulate_get(STACKS, headers=password(name)).status_code == 200
    (context,) = engine.contexts
    assert (context.user_id, context.user_name) == (name, name)
    assert (context.project_id, context.roles, context.is_admin) == (project, roles, is_admin)


NOBODY: list[dict[str, str]] = [
    {},
    password("alice@web", "wrong"),
    password("alice@web", "x" * 73),
    password("alice@web", "a\0b"),
    password("alice"),
    password(""),
    {"Authorization": "Basic"},
    {"Authorization": "Basic !!!"},
    {"Authorization": "Bearer abc"},
    {"Authorization": "Basic " + b64encode(b"\xff:\xff").decode()},
]


@pytest.mark.parametrize("headers", NOBODY)
def test_who_is_not_known_is_asked_for_a_password(client, engine, headers):
    answer = client.simulate_get(STACKS, headers=headers)
    assert answer.status_code == answer.json["code"] == 401
    assert answer.headers["www-authenticate"] == 'Basic realm="heatconv", charset="UTF-8"'
    assert answer.json["error"]["message"].startswith("Give the name and the password of a user")
    assert engine.contexts == []


def test_a_user_acts_in_its_own_project(client, engine):
    assert client.simulate_get("/v1/alice@web/stacks", headers=password("alice@web")).status_code == 403
    assert client.simulate_get("/v1/mail/stacks", headers=password("alice@web")).status_code == 403
    assert engine.contexts == []


def test_a_role_that_the_rules_do_not_know_lets_nobody_in(client):
    assert client.simulate_get(STACKS, headers=password("carol@web")).status_code == 403


def test_a_new_user_needs_no_restart(client, users):
    assert client.simulate_get(STACKS, headers=password("dave@web")).status_code == 401
    with users.open("a") as file:
        file.write(f"dave@web:{bcrypt.hashpw(b'dave@web', bcrypt.gensalt(4)).decode()}\n")
    assert client.simulate_get(STACKS, headers=password("dave@web")).status_code == 200


def test_passwords_are_not_logged(client, caplog):
    caplog.set_level("DEBUG")
    client.simulate_get(STACKS, headers=password("alice@web", "opensesame"))
    client.simulate_get(STACKS, headers=password("alice@web"))
    assert "opensesame" not in caplog.text
    assert password("alice@web")["Authorization"].split()[1] not in caplog.text


@pytest.mark.parametrize("text", ["alice:{SHA}hash\n", None])
def test_a_file_that_is_none_is_refused_at_once(conf, users, text):
    users.write_text(text) if text else users.unlink()
    with pytest.raises(
        errors.Misconfigured, match=r"htpasswd of \[auth\] http_basic_user_file .*'htpasswd -B'"
    ):
        auth.strategy(conf)


# -- without --------------------------------------------------------------------------------


def test_without_authentication_everybody_is_administrator(engine):
    conf = cfg.ConfigOpts()
    options.register(conf)
    conf([])
    conf.set_override("allowed_hosts", ["falconframework.org"], "api")
    open_to_all = testing.TestClient(deploy.application(EngineClient(engine), conf))
    assert open_to_all.simulate_get("/v1/anything/services").status_code != 403
    assert engine.contexts[0].is_admin
    assert engine.contexts[0].project_id == "anything"


# -- by a signed URL ------------------------------------------------------------------------------


@pytest.fixture
def stack(engine):
    stack_id = engine.add_stack("shop", project="web")
    engine.add_resource(stack_id, "alarm")
    return stack_id


def below(url):
    parts = urlsplit(url)
    return f"{parts.path}?{parts.query}"


def test_a_signed_url_is_enough(client, engine, stack):
    url = below(SIGNER.signal_url("web", "shop", stack, "alarm"))
    answer = client.simulate_post(url, json={"status": "SUCCESS"})
    assert answer.status_code == 200, answer.text
    assert {(context.project_id, context.roles) for context in engine.contexts} == {
        ("web", ("heat_stack_user",))
    }
    assert not any(context.is_admin for context in engine.contexts)


def test_a_url_that_is_signed_otherwise_is_forbidden(client, engine, stack):
    forged = Signer(b"t" * 32, "http://heat").signal_url("web", "shop", stack, "alarm")
    expired = SIGNER.signal_url("web", "shop", stack, "alarm", 1)
    for url in (forged, expired):
        for headers in (NOBODY[0], password("root")):  # a password does not mend it
            answer = client.simulate_post(below(url), headers=headers)
            assert answer.status_code == 403, answer.text
    assert engine.contexts == []


def test_a_signed_url_is_for_signals_only(client, stack):
    url = below(SIGNER.signal_url("web", "shop", stack, "alarm"))
    assert client.simulate_get(url).status_code == 405
    assert client.simulate_post(url.replace("/resources/alarm/signal", "/actions")).status_code == 401
    assert client.simulate_delete(url.replace("/resources/alarm/signal", "")).status_code == 401


# -- by token: what keystonemiddleware makes of one is tested against a real Keystone ---------------

CONFIRMED = {
    "X-Identity-Status": "Confirmed",
    "X-Project-Id": "4a41",
    "X-Project-Domain-Id": "default",
    "X-User-Id": "1b85",
    "X-User-Name": "alice",
    "X-User-Domain-Id": "users",
    "X-Roles": "member,reader",
}


def by_token(headers):
    request = testing.create_req(headers=headers)
    request.context.request_id = "req-1"
    return tokens.by_token(request, "4a41")


def test_a_token_tells_user_project_domains_and_roles():
    assert by_token(CONFIRMED) == RequestContext(
        project_id="4a41",
        project_domain_id="default",
        user_id="1b85",
        user_name="alice",
        user_domain_id="users",
        roles=("member", "reader"),
        request_id="req-1",
    )


@pytest.mark.parametrize(("said", "is_so"), [({}, True), ("True", True), ("False", False)])
def test_a_token_tells_whether_its_project_is_the_administrators(said, is_so):
    headers = CONFIRMED | ({"X-Is-Admin-Project": said} if said else {})
    assert by_token(headers).is_admin_project is is_so


def test_a_token_for_the_whole_system_has_no_project():
    headers = {key: value for key, value in CONFIRMED.items() if key != "X-Project-Id"}
    assert by_token(headers | {"OpenStack-System-Scope": "all"}).project_id == ""
    with pytest.raises(errors.Forbidden, match="for no project"):
        by_token(headers)


def test_keystone_needs_its_options(conf):
    conf.set_override("strategy", "keystone", "auth")
    with pytest.raises(errors.Misconfigured, match=r"set \[keystone_authtoken\] www_authenticate_uri"):
        auth.strategy(conf)
    conf.set_override("www_authenticate_uri", "http://keystone", "keystone_authtoken")
    with pytest.raises(errors.Misconfigured, match=r"set \[keystone_authtoken\] auth_type"):
        auth.strategy(conf)
    conf.set_override("auth_type", "password", "keystone_authtoken")
    assert auth.strategy(conf) is tokens.by_token


def test_the_context_crosses_the_bus():
    context = by_token(CONFIRMED)
    assert RequestContext.from_dict(context.to_dict() | {"_unique_id": "x"}) == context
