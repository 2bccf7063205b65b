# SPDX-License-Identifier: Apache-2.0
"""The database, or the broker, crashes in the middle of a create, and comes back: private ones, really."""

from __future__ import annotations

import threading
import time
from contextlib import closing

import pytest

from tests.chaos.trial import Trial, layered
from tests.functional.servers.databases import MariaDB, PostgreSQL
from tests.functional.servers.private import PrivateMariaDB, PrivatePostgreSQL, PrivateRabbitMQ

DATABASES = {"postgresql": (PrivatePostgreSQL, PostgreSQL), "mariadb": (PrivateMariaDB, MariaDB)}
THINGS = layered(20, 3, wait=2)
#: Seconds: what is done to the end by trying again, and what is longer than anything tries again.
SHORT, LONG = 0, 45


def put_through(daemons, trial, trouble):
    """Cause trouble in the middle of a create; return the seconds from its end to that of the create."""
    trial.create()
    trial.wait_until_made(len(THINGS) // 2)
    trouble()
    over = time.monotonic()
    trial.arrive()
    assert trial.problems() == []
    assert all(process.running for process in daemons.processes.values())
    return time.monotonic() - over


@pytest.mark.timeout(0)
@pytest.mark.parametrize("seconds", [SHORT, LONG])
@pytest.mark.parametrize("kind", [*DATABASES])
def test_a_create_survives_a_crash_of_its_database(private, run_daemons, rabbit_url, add_line, kind, seconds):
    server, databases = DATABASES[kind]
    database = private(server)
    daemons = run_daemons(database_url=databases(database.url).create(), transport_url=rabbit_url, pace={})

    def crash():
        database.stop()
        threading.Event().wait(seconds)
        database.start()

    with closing(Trial(daemons, "crash", THINGS)) as trial:
        took = put_through(daemons, trial, crash)
    add_line(f"{kind} crashed and was away for {seconds} s: CREATE_COMPLETE {took:.0f} s after it was back")


@pytest.mark.timeout(0)
def test_a_create_survives_a_broker_that_comes_back_empty(private, run_daemons, fresh_database, add_line):
    broker = private(PrivateRabbitMQ)
    daemons = run_daemons(database_url=fresh_database("postgresql"), transport_url=broker.url, pace={})

    def crash():
        broker.stop()
        threading.Event().wait(30)
        broker.wipe()
        broker.start()

    with closing(Trial(daemons, "broker", THINGS)) as trial:
        took = put_through(daemons, trial, crash)
    add_line(f"RabbitMQ was away for 30 s and lost all: CREATE_COMPLETE {took:.0f} s after it was back")
