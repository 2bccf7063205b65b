# SPDX-License-Identifier: Apache-2.0
"""The servers of the functional tests give what they promise."""

from __future__ import annotations

import sys
from contextlib import ExitStack

import amqp
import pytest
import sqlalchemy as sa

from heatconv.db import tables
from tests.functional.servers import provision
from tests.functional.servers.processes import Process


def inspect(url):
    return sa.inspect(sa.create_engine(url, poolclass=sa.NullPool))


def test_a_fresh_database_is_what_a_migration_makes(databases, database_kind, database_url):
    template = inspect(databases(database_kind)._template)
    fresh = inspect(database_url)

    names = fresh.get_table_names()
    assert set(tables.metadata.tables) <= set(names)
    assert sorted(names) == sorted(template.get_table_names())
    for name in names:
        for aspect in ("get_foreign_keys", "get_indexes", "get_unique_constraints", "get_pk_constraint"):
            assert _sorted(getattr(fresh, aspect)(name)) == _sorted(getattr(template, aspect)(name))


def _sorted(facts):
    return sorted(map(repr, facts)) if isinstance(facts, list) else facts


def test_what_one_test_writes_the_next_one_does_not_see(fresh_database, database_kind):
    first, second = fresh_database(database_kind), fresh_database(database_kind)
    engine = sa.create_engine(first, poolclass=sa.NullPool)
    with engine.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE mine (id INTEGER)")

    assert "mine" in inspect(first).get_table_names()
    assert "mine" not in inspect(second).get_table_names()


def test_an_empty_database_has_no_table(empty_database_url):
    assert inspect(empty_database_url).get_table_names() == []


def test_the_bus_takes_and_gives(rabbit_url):
    url = sa.make_url(rabbit_url)
    with amqp.Connection(
        f"{url.host}:{url.port}", userid=url.username, password=url.password, virtual_host=url.database or "/"
    ) as connection:
        channel = connection.channel()
        channel.queue_declare("doorbell", auto_delete=True)
        channel.basic_publish(amqp.Message("ding"), routing_key="doorbell")

        assert channel.basic_get("doorbell", no_ack=True).body == "ding"


def test_a_server_that_cannot_be_had_says_what_to_install(monkeypatch):
    def refuse(*_):
        raise ConnectionRefusedError("nobody there")

    server = provision.Server(
        name="NoSQL",
        binary="/nonexistent/*",
        package="nosql-server",
        start="true",
        addresses=("nosql://127.0.0.1/",),
        probe=refuse,
        enter=refuse,
        private=refuse,
    )
    monkeypatch.setattr("os.geteuid", lambda: 1000)

    with pytest.raises(provision.Unavailable, match="install nosql-server, or start it"):
        server.provide(ExitStack())


def test_waiting_for_a_program_that_ends_tells_what_it_said(tmp_path):
    process = Process([sys.executable, "-c", "print('out of order')"], tmp_path / "log")

    with pytest.raises(AssertionError, match="out of order"):
        process.wait_for("never said")
    assert process.stop() == 0


def test_a_program_that_ignores_the_request_to_stop_is_killed(tmp_path):
    ignore = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)"
    stubborn = f"{ignore}; print('up', flush=True); signal.pause()"
    process = Process([sys.executable, "-c", stubborn], tmp_path / "log")
    process.wait_for("up")

    assert process.stop(patience=0.2) < 0
    assert not process.running
