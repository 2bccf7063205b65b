# SPDX-License-Identifier: Apache-2.0
"""Installations that ask who one is: a Keystone of PyPI's, a file of passwords."""

from __future__ import annotations

import os
from base64 import b64encode
from contextlib import ExitStack, contextmanager

import bcrypt
import pytest
import requests

from tests.functional.auth.identity import PASSWORD, keystone
from tests.functional.auth.installation import Installation
from tests.functional.servers.one_process import heatconv_all
from tests.functional.servers.provision import Unavailable

#: Name, role and project of the users; the administrator is Keystone's own.
USERS = [
    ("owner", "member", "mine"),
    ("auditor", "reader", "mine"),
    ("guest", "guest", "mine"),
    ("server", "heat_stack_user", "mine"),
    ("neighbour", "member", "theirs"),
]


@contextmanager
def installed(directory, cloud_url, config, projects, headers):
    """Run a heatconv with a configuration; yield it with one of everything in ``mine``."""
    file = directory / "heatconv.conf"
    file.write_text(config)
    with (
        heatconv_all(directory, cloud_url, "--config-file", str(file)) as url,
        requests.Session() as session,
    ):
        installation = Installation(url.removesuffix("/v1/default"), projects, headers, session)
        installation.furnish()
        yield installation


@pytest.fixture(scope="session")
def identity(tmp_path_factory):
    """Return a Keystone with the projects and the users."""
    with ExitStack() as until:
        try:
            running = until.enter_context(keystone(tmp_path_factory.mktemp("keystone")))
        except Unavailable as problem:
            (pytest.fail if os.environ.get("CI") else pytest.skip)(str(problem))
        yield running


@pytest.fixture(scope="session")
def by_token(identity, tmp_path_factory, cloud_url):
    """Return an installation with ``[auth] strategy = keystone``."""
    projects = {name: identity.add_project(name) for name in ("mine", "theirs")}
    for name, role, project in USERS:
        identity.add_user(name, role, projects[project])
    identity.make_domain_admin()
    tokens = {name: identity.token(name, project=project) for name, _role, project in USERS}
    tokens["admin"] = identity.token("admin", project="admin")
    config = f"""
[auth]
strategy = keystone
[keystone_authtoken]
www_authenticate_uri = {identity.url}
auth_type = password
auth_url = {identity.url}
username = admin
password = {PASSWORD}
project_name = admin
user_domain_id = default
project_domain_id = default
"""
    headers = {name: {"X-Auth-Token": token} for name, token in tokens.items()}
    with installed(tmp_path_factory.mktemp("by-token"), cloud_url, config, projects, headers) as installation:
        yield installation


@pytest.fixture(scope="session")
def by_password(tmp_path_factory, cloud_url):
    """Return an installation with ``[auth] strategy = http_basic``."""
    directory = tmp_path_factory.mktemp("by-password")
    logins = {name: f"{name}@{project}" for name, _role, project in USERS} | {"admin": "admin"}
    hashed = {name: bcrypt.hashpw(name.encode(), bcrypt.gensalt(4)).decode() for name in logins}
    (directory / "htpasswd").write_text("".join(f"{logins[name]}:{hashed[name]}\n" for name in logins))
    roles = [f"{logins[name]}:{role}" for name, role, _project in USERS if role != "member"]
    config = f"""
[auth]
strategy = http_basic
http_basic_user_file = {directory}/htpasswd
http_basic_roles = {",".join([*roles, "admin:admin"])}
"""
    headers = {
        name: {"Authorization": "Basic " + b64encode(f"{login}:{name}".encode()).decode()}
        for name, login in logins.items()
    }
    projects = {"mine": "mine", "theirs": "theirs"}
    with installed(directory, cloud_url, config, projects, headers) as installation:
        yield installation


@pytest.fixture(params=["by_token", "by_password"])
def installation(request):
    return request.getfixturevalue(request.param)
