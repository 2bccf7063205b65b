# SPDX-License-Identifier: Apache-2.0
"""The fake cloud's client: ``connect`` gives a ``CloudApi`` whatever the address.

``CloudControl`` is the test's own line to a cloud behind HTTP: the gate, the
failure rules, the audit log.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import cache
from typing import Any

import requests

from heatconv.testing.cloud import IN_PROCESS, AuditEntry, CloudApi, Json
from heatconv.testing.failures import FailureRule, Refused, Unreachable

#: Seconds to connect, and to wait for an answer; the latter is long since the gate holds requests.
TIMEOUT = (3.0, 60.0)


class HttpCloud:
    """A cloud behind HTTP; implements ``CloudApi``.

    Concurrency: may be shared between threads, each has a connection of its own.
    """

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")
        self._local = threading.local()
        self._sessions: list[requests.Session] = []

    def create(self, name: str, kind: str, owner: str, properties: Json, wait: float | None = None) -> Json:
        """Start to make an object."""
        body = {"name": name, "kind": kind, "owner": owner, "properties": properties, "wait": wait}
        return dict(self.ask("POST", "/objects", json=body))

    def show(self, object_id: str) -> Json:
        """Return an object."""
        return dict(self.ask("GET", f"/objects/{object_id}"))

    def find(self, name: str, kind: str | None = None) -> list[Json]:
        """Return the objects of a name."""
        return list(self.ask("GET", "/objects", params={"name": name, "kind": kind}))

    def show_many(self, object_ids: Sequence[str]) -> list[Json]:
        """Return those objects of some ids that are there."""
        return list(self.ask("POST", "/objects/query", json={"ids": list(object_ids)}))

    def update(self, object_id: str, properties: Json, wait: float | None = None) -> Json:
        """Start to change some properties of an object."""
        body = {"properties": properties, "wait": wait}
        return dict(self.ask("PATCH", f"/objects/{object_id}", json=body))

    def delete(self, object_id: str, wait: float | None = None) -> None:
        """Start to delete an object."""
        self.ask("DELETE", f"/objects/{object_id}", json={"wait": wait})

    def owned(self, owner: str = "") -> list[Json]:
        """Return every object whose owner tag starts with ``owner``."""
        return list(self.ask("GET", "/objects", params={"owner": owner}))

    def close(self) -> None:
        """Close the connections of every thread."""
        for session in self._sessions:
            session.close()

    def ask(self, method: str, path: str, **arguments: Any) -> Any:
        """Send a request and return the JSON of its answer.

        Raises:
            Refused: the answer is an error.
            Unreachable: there is no answer.
        """
        try:
            answer = self._session().request(method, self.url + path, timeout=TIMEOUT, **arguments)
        except requests.RequestException as problem:
            raise Unreachable(f"{method} {path}: {problem}") from problem
        if answer.ok:
            return answer.json()
        retry_after = answer.headers.get("Retry-After")
        raise Refused(
            answer.status_code, answer.json()["message"], float(retry_after) if retry_after else None
        )

    def _session(self) -> requests.Session:
        session: requests.Session | None = getattr(self._local, "session", None)
        if session is None:
            session = self._local.session = requests.Session()
            self._sessions.append(session)
            session.trust_env = False  # a proxy must not come between us and loopback
        return session


class CloudControl:
    """What a test does to a cloud behind HTTP."""

    def __init__(self, url: str) -> None:
        self.cloud = HttpCloud(url)
        self._ask = self.cloud.ask

    def hold_after(self, count: int) -> None:
        """Let ``count`` mutating operations pass from now on, and hold the rest."""
        self._ask("PUT", "/control/gate", json={"limit": count})

    def release(self) -> None:
        """Let everything pass."""
        self._ask("PUT", "/control/gate", json={"limit": None})

    def counts(self) -> tuple[int, int]:
        """Return how many mutating operations have arrived, and how many are done."""
        state = self._ask("GET", "/control/gate")
        return state["arrived"], state["done"]

    def wait_for(self, count: int, timeout: float, *, done: bool = False) -> bool:
        """Wait until ``count`` operations in total have arrived (or are done); tell whether they have."""
        query = {"count": count, "timeout": timeout, "done": "true" if done else "false"}
        return bool(self._ask("GET", "/control/gate", params=query)["reached"])

    def fail(self, rule: FailureRule) -> None:
        """Put a failure rule in force."""
        self._ask("POST", "/control/failures", json=rule.to_json())

    def stop_failing(self) -> None:
        """Drop every failure rule."""
        self._ask("DELETE", "/control/failures")

    def owned(self, owner: str = "") -> list[Json]:
        """Return every object whose owner tag starts with ``owner``."""
        return self.cloud.owned(owner)

    def set_latency(self, **seconds: float) -> None:
        """Say how long the transitions of an operation take."""
        self._ask("PUT", "/control/latency", json=seconds)

    def vanish(self, object_id: str) -> None:
        """Remove an object behind everybody's back."""
        self._ask("POST", "/control/meddle", json={"id": object_id, "properties": None})

    def meddle(self, object_id: str, properties: Json) -> None:
        """Change an object behind everybody's back."""
        self._ask("POST", "/control/meddle", json={"id": object_id, "properties": properties})

    def spoil(self, object_id: str) -> None:
        """Let an object be in ERROR behind everybody's back."""
        self._ask("POST", "/control/spoil", json={"id": object_id})

    def audit(self, since: int = 0) -> Sequence[AuditEntry]:
        """Return the operations so far, from sequence number ``since`` on."""
        return [AuditEntry(**entry) for entry in self._ask("GET", "/control/audit", params={"since": since})]

    def reset(self) -> None:
        """Forget everything."""
        self._ask("POST", "/control/reset")


@cache
def connect(address: str) -> CloudApi:
    """Return the cloud at an address: ``http://...``, or ``memory:`` for that of this process."""
    return IN_PROCESS if address == "memory:" else HttpCloud(address)
