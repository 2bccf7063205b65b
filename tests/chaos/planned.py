# SPDX-License-Identifier: Apache-2.0
"""A stack that is changed by plans over REST, and the cloud's own log of what came of that."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import requests

from heatconv.client.http import Client, ClientError
from heatconv.testing.cloud import AuditEntry
from heatconv.testing.cloud_client import CloudControl
from heatconv.testing.templates import Template
from heatconv.testing.trees import found_by, place_of, source
from tests.chaos.driver import NOT_NOW, PAUSE
from tests.functional.servers.daemons import Daemons
from tests.functional.servers.one_process import fake_cloud, heatconv_all
from tests.plan_judge import judged

Json = dict[str, Any]

TICK = 0.05  #: seconds between two looks at a stack
PATIENCE = 180.0  #: seconds in which a stack has to come to rest


@dataclass(frozen=True)
class Service:
    """Where a heatconv is, and the cloud that its stacks are in."""

    endpoint: str
    cloud_url: str
    daemons: Daemons | None = None  #: None of one that is all in one process


@contextmanager
def running(
    directory: Path, database_url: str, transport_url: str | None, **options: Any
) -> Iterator[Service]:
    """Run daemons on a database and a bus; without a bus, all in one process with SQLite of its own."""
    if transport_url is None:
        with fake_cloud(directory) as cloud_url, heatconv_all(directory, cloud_url) as endpoint:
            yield Service(endpoint, cloud_url)
        return
    with Daemons(
        directory, database_url=database_url, transport_url=transport_url, workers=2, **options
    ) as daemons:
        yield Service(daemons.endpoint, daemons.cloud_url, daemons)


class Planned:
    """A stack, and what is done to it; its users ask again whenever there was no answer."""

    def __init__(self, service: Service, name: str, users: Sequence[str] = ("",)) -> None:
        """Take the users' names, each its password too; one without a name needs none."""
        self.name = name
        self.cloud = CloudControl(service.cloud_url)
        self._clients = [_client(service.endpoint, user) for user in users]
        self._seen = 0

    def close(self) -> None:
        for client in self._clients:
            client.close()
        self.cloud.cloud.close()

    # -- what users ask for ----------------------------------------------------------------------

    def create(self, template: Template) -> None:
        body = {"stack_name": self.name, **source(template), "disable_rollback": True}
        self._clients[0].create_stack(body)

    def update(self, template: Template, *, user: int = 0) -> None:
        body = {**source(template), "disable_rollback": True}
        answered(lambda: self._clients[user].update_stack(self.name, body))

    def observe(self) -> None:
        answered(lambda: self._clients[0].observe(self.name))

    def plan(self, template: Template) -> Json:
        return self.plan_of(source(template))

    def plan_of(self, posted: Json, *, existing: bool = False) -> Json:
        """Return the plan of an update; with ``existing`` of what is posted alone."""
        body = {**posted, "existing": existing}
        return judged(answered(lambda: self._clients[0].plan_change(self.name, body)))

    def carry_out(self, plan: Json) -> tuple[str, Sequence[AuditEntry]]:
        """Apply a plan; return how that ended, and what the cloud was asked for it."""
        self.asked()
        refusal = self.apply(plan)
        if refusal is not None:
            return f"the plan was refused: {refusal}", []
        ended, asked = self.rest(), self.asked()
        self.forget(plan)
        return ended, asked

    def apply(self, plan: Json) -> ClientError | None:
        """Apply a plan; return the refusal, if that was the answer."""
        try:
            answered(lambda: self._clients[0].apply_plan(plan["id"]))
        except ClientError as refusal:
            # An answer may have been lost of one who asked twice.
            is_done = answered(lambda: self._clients[0].show_plan(plan["id"]))["state"] == "applied"
            return None if is_done else refusal
        return None

    def forget(self, plan: Json) -> None:
        answered(lambda: self._clients[0].delete_plan(plan["id"]))

    def delete(self) -> None:
        answered(lambda: self._clients[0].delete_stack(self.name))

    # -- what came of it --------------------------------------------------------------------------

    def shown(self) -> Json:
        return dict(answered(lambda: self._clients[0].show_stack(self.name, resolve_outputs=False)))

    def rest(self) -> str:
        """Wait until nothing is under way; return how that ended."""
        deadline = time.monotonic() + PATIENCE
        while (shown := self.shown())["stack_status"].endswith("IN_PROGRESS"):
            if time.monotonic() > deadline:
                break
            time.sleep(TICK)
        return f"{shown['stack_status']} {shown['stack_status_reason']}"

    def owned(self) -> list[Json]:
        return found_by(self.cloud.owned(self.name)).get(self.name, [])

    def asked(self) -> list[AuditEntry]:
        """Return what the cloud changed since the last time, by its own log."""
        entries = self.cloud.audit(self._seen)
        self._seen += len(entries)
        return [
            entry
            for entry in entries
            if entry.op in ("create", "update", "delete")
            and entry.succeeded
            and place_of(entry.owner)[0] == self.name
        ]


def _client(endpoint: str, user: str) -> Client:
    session = requests.Session()
    session.trust_env = False  # a proxy must not come between us and loopback
    if user:
        session.auth = (user, user)
    return Client(endpoint, session=session)


def answered(ask: Callable[[], Any]) -> Any:
    """Ask until there is an answer.

    Raises:
        ClientError: the answer is a refusal, or there was none for ``PATIENCE``.
    """
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            return ask()
        except ClientError as error:
            if error.status not in NOT_NOW or time.monotonic() > deadline:
                raise
            time.sleep(PAUSE)
