# SPDX-License-Identifier: Apache-2.0
"""Connections open quickly, for a server may end all of a process at once, and are kept where they can be."""

from __future__ import annotations

import ssl
from contextlib import ExitStack, closing

import pytest
import sqlalchemy as sa
from oslo_db import exception as oslo_db_exception

from heatconv.db.plumbing.connections import KEPT_OPEN
from heatconv.db.plumbing.session import Database
from heatconv.db.tables import quota


def test_not_each_connection_reads_anew_which_authorities_the_host_trusts(fresh_database, monkeypatch):
    """It takes a tenth of a second, and no other thread runs meanwhile."""
    url = fresh_database("mariadb")
    read, load = [], ssl.SSLContext.load_default_certs

    def load_and_note(context, *arguments):
        read.append(context)
        return load(context, *arguments)

    monkeypatch.setattr(ssl.SSLContext, "load_default_certs", load_and_note)
    with closing(Database.from_url(url)) as database:
        for _ in range(4):
            with database.engine.connect() as one, database.engine.connect() as other:
                assert one.exec_driver_sql("SELECT 1").scalar() == 1
                assert other.exec_driver_sql("SELECT 1").scalar() == 1
            database.close()
    assert len(read) <= 2  # oslo.db opens one of its own to look at the server


def test_a_duplicate_is_recognised_whatever_the_url_calls_a_server_of_mariadb(fresh_database):
    url = fresh_database("mariadb")
    row = {"project_id": "here", "kind": "stack", "atomic_key": 0}

    def add(connection):
        connection.execute(sa.insert(quota).values(row))

    assert url.startswith("mysql+pymysql:")
    with closing(Database.from_url(url.replace("mysql", "mariadb", 1))) as database:
        database.write(add)
        with pytest.raises(oslo_db_exception.DBDuplicateEntry):
            database.write(add)


@pytest.fixture
def file(tmp_path):
    return tmp_path / "heatconv.sqlite"


@pytest.fixture
def on_a_file(file):
    with closing(Database.from_url(f"sqlite:///{file}")) as database:
        quota.metadata.create_all(database.engine, [quota])
        yield database


def _add(database, project):
    row = {"project_id": project, "kind": "stack", "atomic_key": 0}
    database.write(lambda connection: connection.execute(sa.insert(quota).values(row)))


def test_connections_to_a_file_are_kept_open(on_a_file, file):
    """The last one that is closed writes into the file all that was logged, and waits for the disk."""
    opened = []
    sa.event.listen(on_a_file.engine, "connect", lambda *_: opened.append(1))
    on_a_file.engine.dispose()
    for number in range(20):
        _add(on_a_file, str(number))
        found = on_a_file.read(lambda connection: connection.scalar(sa.select(sa.func.count(quota.c.kind))))
        assert found == number + 1
    assert len(opened) == 1
    logged = file.with_name(f"{file.name}-wal")
    assert logged.exists()
    on_a_file.close()
    assert not logged.exists()


def test_who_reads_a_file_does_not_wait_for_those_who_have_all_kept_connections(on_a_file):
    _add(on_a_file, "here")
    with ExitStack() as held:
        for _ in range(KEPT_OPEN):
            held.enter_context(on_a_file.engine.connect())
        assert on_a_file.read(lambda connection: connection.scalar(sa.select(quota.c.project_id))) == "here"


def test_a_connection_that_is_kept_has_what_was_set_when_it_was_opened(on_a_file):
    """A writer that comes meanwhile waits, and what is committed is on the disk (FULL is 2)."""
    settings = {"journal_mode": "wal", "synchronous": 2, "busy_timeout": 30000}
    for _ in range(2):
        with on_a_file.engine.connect() as connection:
            found = {name: connection.exec_driver_sql(f"PRAGMA {name}").scalar() for name in settings}
        assert found == settings
