# SPDX-License-Identifier: Apache-2.0
"""A real Keystone for the tests, from PyPI, in a virtual environment that is kept for the next run."""

from __future__ import annotations

import fcntl
import hashlib
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import requests

from tests.functional.servers.processes import Process
from tests.functional.servers.provision import Unavailable

HERE = Path(__file__).parent
REQUIREMENTS = HERE / "keystone-requirements.txt"
KEPT = HERE.parents[2] / ".tox" / "keystone"

PASSWORD = "secret"
DEFAULT_DOMAIN = {"id": "default"}


@contextmanager
def keystone(directory: Path) -> Iterator[Identity]:
    """Run a Keystone with a new database.

    Raises:
        Unavailable: it cannot be installed.
    """
    process = Process([str(_python()), str(HERE / "keystone_server.py"), str(directory)], directory / "log")
    try:
        yield Identity(process.wait_for(r"keystone is up: (\S+)", patience=120)[1])
    finally:
        process.kill()


def _python() -> Path:
    """Return the Python of a virtual environment that has Keystone; make it if need be."""
    KEPT.mkdir(parents=True, exist_ok=True)
    python, made_of = KEPT / "bin" / "python", KEPT / "requirements.sha256"
    wanted = hashlib.sha256(REQUIREMENTS.read_bytes()).hexdigest()
    with (KEPT / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # another test run may be at it
        if not made_of.exists() or made_of.read_text() != wanted:
            _run(sys.executable, "-m", "venv", str(KEPT))
            _run(str(python), "-m", "pip", "install", "--quiet", "--no-deps", "-r", str(REQUIREMENTS))
            made_of.write_text(wanted)
    return python


def _run(*command: str) -> None:
    # Our constraints are for our own environment.
    environment = {name: value for name, value in os.environ.items() if name != "PIP_CONSTRAINT"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Unavailable(f"Keystone cannot be installed: `{' '.join(command)}` says {done.stderr[-500:]}")


class Identity:
    """Keystone's API, as its administrator uses it."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._token = ""
        self._token = self.token("admin", project="admin")
        self._roles = {role["name"]: role["id"] for role in self._ask("GET", "/roles")["roles"]}

    def token(self, user: str, *, password: str = PASSWORD, **scope: Any) -> str:
        """Return a new token: for ``project=NAME``, ``system={"all": True}``, ``domain={...}`` or nothing."""
        asked: dict[str, Any] = {
            "identity": {
                "methods": ["password"],
                "password": {"user": {"name": user, "password": password, "domain": DEFAULT_DOMAIN}},
            }
        }
        if "project" in scope:
            asked["scope"] = {"project": {"name": scope["project"], "domain": DEFAULT_DOMAIN}}
        elif scope:
            asked["scope"] = scope
        answer = requests.post(f"{self.url}/auth/tokens", json={"auth": asked}, timeout=30)
        assert answer.status_code == 201, answer.text
        return answer.headers["X-Subject-Token"]

    def revoke(self, token: str) -> None:
        """Make a token invalid."""
        self._ask("DELETE", "/auth/tokens", headers={"X-Subject-Token": token})

    def add_project(self, name: str) -> str:
        """Make a project and return its id."""
        made = self._ask("POST", "/projects", json={"project": {"name": name, "domain_id": "default"}})
        return str(made["project"]["id"])

    def add_user(self, name: str, role: str, project_id: str) -> None:
        """Make a user who has a role in a project."""
        user = {"name": name, "password": PASSWORD, "domain_id": "default"}
        self._ask("POST", "/users", json={"user": user})
        self.grant(name, role, project_id)

    def grant(self, name: str, role: str, project_id: str) -> None:
        """Give a user a role in a project."""
        if role not in self._roles:
            made = self._ask("POST", "/roles", json={"role": {"name": role}})
            self._roles[role] = made["role"]["id"]
        self._ask("PUT", f"/projects/{project_id}/users/{self._user_id(name)}/roles/{self._roles[role]}")

    def add_service(self, kind: str, url: str, region: str) -> None:
        """Put a service and its public endpoint into the catalog."""
        made = self._ask("POST", "/services", json={"service": {"name": kind, "type": kind}})
        endpoint = {"interface": "public", "service_id": made["service"]["id"], "url": url}
        self._ask("POST", "/endpoints", json={"endpoint": endpoint | {"region_id": region}})

    def make_domain_admin(self) -> None:
        """Let the administrator have the whole domain, too."""
        me = self._user_id("admin")
        self._ask("PUT", f"/domains/default/users/{me}/roles/{self._roles['admin']}")

    def _user_id(self, name: str) -> str:
        return str(self._ask("GET", "/users", params={"name": name})["users"][0]["id"])

    def _ask(self, method: str, path: str, **more: Any) -> Any:
        headers = {"X-Auth-Token": self._token} | more.pop("headers", {})
        answer = requests.request(method, self.url + path, headers=headers, timeout=30, **more)
        assert answer.ok, f"{method} {path}: {answer.text}"
        return answer.json() if answer.content else None
