# SPDX-License-Identifier: Apache-2.0
"""A heatconv as an operator runs it on a cloud: an API, an engine and two workers that act for users."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import requests
import sqlalchemy as sa
from kombu.connection import Connection
from kombu.entity import Exchange, Queue

from heatconv.client.http import Client
from heatconv.crypto import Keyring
from heatconv.db.plumbing.session import Database
from heatconv.testing.keys import KEY
from tests.functional.servers.bus import own_bus
from tests.functional.servers.catalog import DATABASE_SERVERS, RABBITMQ
from tests.functional.servers.daemons import BRISK, Daemons, Options, merged
from tests.functional.servers.databases import PostgreSQL

PATIENCE = 20.0  #: seconds in which what is to be given back has to be gone


class Operated:
    """Daemons on PostgreSQL and RabbitMQ, with all that they have said on the bus."""

    def __init__(self, daemons, database_url, admin, trustee, tap, password):
        self.daemons = daemons
        self.database_url = database_url
        self.database = Database.from_url(database_url, Keyring(KEY))
        self.root = daemons.endpoint.removesuffix("/default")
        self.password = password  # of the trustee
        self.secrets = {password}  # texts that must not be found anywhere
        self._admin = admin
        self.trustee = trustee
        self._tap = tap

    def client(self, login):
        """Return a client of the API for somebody who is logged in; the token is noted."""
        session = requests.Session()
        token = login.token()
        self.secrets |= {token, login.password}
        session.headers["X-Auth-Token"] = token
        return Client(f"{self.root}/{login.project_id}", session=session)

    def trusts(self, user):
        """Return the trusts that a user has given to this installation."""
        return [
            each
            for each in self._admin.identity.trusts(trustee_user_id=self.trustee.id)
            if each.trustor_user_id == user.id
        ]

    def await_no_trusts(self, user):
        self.await_gone(lambda: self.trusts(user))

    @staticmethod
    def await_gone(look):
        deadline = time.monotonic() + PATIENCE
        while left := look():
            assert time.monotonic() < deadline, f"still there: {left}"
            time.sleep(0.1)

    def dump(self):
        """Return all that is in the database, as text."""
        engine = sa.create_engine(self.database_url)
        known = sa.MetaData()
        known.reflect(engine)
        with engine.connect() as connection:
            rows = [connection.execute(sa.select(table)).all() for table in known.tables.values()]
        engine.dispose()
        return repr(rows)

    def heard(self):
        """Return what was sent to engines and workers on the bus, as text."""
        return self._tap.heard()


class Tap:
    """A queue of our own beside those of engines and workers."""

    def __init__(self, url):
        self._bodies = []
        self._stopping = threading.Event()
        self._connection = Connection(url.replace("rabbit://", "amqp://"))
        exchange = Exchange("openstack", type="topic", durable=False, auto_delete=False)
        queues = [
            Queue(f"tap-{topic}", exchange, routing_key=topic, exclusive=True)
            for topic in ("heatconv-engine", "heatconv-worker")
        ]
        self._consumer = self._connection.Consumer(queues, on_message=self._hear, accept=["json"])
        self._consumer.consume()
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    def _hear(self, message):
        self._bodies.append(message.body.decode() if isinstance(message.body, bytes) else str(message.body))
        message.ack()

    def _listen(self):
        while not self._stopping.is_set():
            try:
                self._connection.drain_events(timeout=0.2)
            except TimeoutError:
                continue

    def heard(self):
        return "\n".join(self._bodies)

    def close(self):
        self._stopping.set()
        self._thread.join()
        self._connection.release()


@dataclass(frozen=True)
class Installed:
    """Daemons, and what they have: a database, a bus, and the users that they log in as."""

    daemons: Daemons
    database_url: str
    bus_url: str
    trustee: Any
    password: str


def installed(
    directory: Path,
    admin: Any,
    until: ExitStack,
    *,
    options: Options | None = None,
    pace: Options = BRISK,
    port: int | None = None,
    engines: int = 1,
    workers: int = 2,
    bus_by: Callable[[str], str] = str,
) -> Installed:
    """Run such daemons until the exit, with what they need in Keystone.

    Args:
        directory: for their files.
        admin: an administrator's connection to the cloud.
        until: when they and all that is theirs goes.
        options: of their configuration, beside those by which they act for users.
        pace: the clocks that they go by.
        port: where the API listens, if not anywhere.
        engines: how many there are.
        workers: how many there are.
        bus_by: by which URL they reach the bus, given its own.
    """
    identity = admin.identity
    password = secrets.token_urlsafe()
    name = f"heatconv-{secrets.token_hex(4)}"
    project = identity.create_project(name=name, domain_id="default")
    until.callback(identity.delete_project, project)
    users = {}
    for role in ("service", "trustee"):
        users[role] = identity.create_user(name=f"{name}-{role}", password=password, domain_id="default")
        until.callback(identity.delete_user, users[role])
    identity.assign_project_role_to_user(project, users["service"], identity.find_role("admin"))
    server = PostgreSQL(DATABASE_SERVERS["postgresql"].provide(until))
    database_url = server.create()
    until.callback(server.drop, database_url)
    bus_url = own_bus(RABBITMQ.provide(until), until)
    auth_url = admin.config.auth["auth_url"]
    login = {
        "auth_type": "password",
        "auth_url": auth_url,
        "user_domain_id": "default",
        "password": password,
    }
    of_the_cloud: Options = {
        "DEFAULT": {"openstack_resources": True, "region_name_for_services": admin.config.region_name},
        "auth": {"strategy": "keystone"},
        "keystone_authtoken": {
            **login,
            "www_authenticate_uri": auth_url,
            "username": users["service"].name,
            "project_name": name,
            "project_domain_id": "default",
        },
        "trustee": {**login, "username": users["trustee"].name},
    }
    daemons = Daemons(
        directory,
        database_url=database_url,
        transport_url=bus_by(bus_url),
        engines=engines,
        workers=workers,
        pace=pace,
        options=merged(of_the_cloud, options or {}),
        port=port,
    )
    return Installed(until.enter_context(daemons), database_url, bus_url, users["trustee"], password)


@contextmanager
def operated(directory: Path, admin: Any) -> Iterator[Operated]:
    """Run such daemons, and listen to what they say; what they need in Keystone is there as long."""
    with ExitStack() as until:
        there = installed(directory, admin, until, options={"DEFAULT": {"debug": True}})
        tap = Tap(there.bus_url)
        until.callback(tap.close)
        yield Operated(there.daemons, there.database_url, admin, there.trustee, tap, there.password)
