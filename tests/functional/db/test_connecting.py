# SPDX-License-Identifier: Apache-2.0
"""Connections are opened quickly: when a server ends one, a process opens all of its own anew."""

from __future__ import annotations

import ssl
from contextlib import closing

import pytest
import sqlalchemy as sa
from oslo_db import exception as oslo_db_exception

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
