# SPDX-License-Identifier: Apache-2.0
"""A process that stops between two statements of a transaction does not hold up the others."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest
import sqlalchemy as sa

from heatconv.db.convergence import services
from heatconv.db.plumbing import connections, session
from heatconv.db.tables import service
from heatconv.model.ids import new_id


def beat(database, engine_id):
    services.heartbeat(
        database,
        engine_id=engine_id,
        host="here",
        binary="heatconv-worker",
        topic="heatconv-worker",
        interval=60,
    )


@pytest.mark.parametrize("kind", ["postgresql", "mariadb"])
def test_the_server_ends_a_transaction_whose_owner_is_stopped(fresh_database, kind, monkeypatch):
    monkeypatch.setattr(connections, "LONGEST_PAUSE", 1)
    url, engine_id, attempts = fresh_database(kind), new_id(), []
    locked, goes_on = threading.Event(), threading.Event()

    def stop_halfway(connection):
        attempts.append(connection.execute(sa.update(service).values(backlog=7)).rowcount)
        locked.set()
        assert goes_on.wait(60)
        return connection.scalar(sa.select(service.c.backlog))

    with (
        closing(session.Database.from_url(url)) as stopped,
        closing(session.Database.from_url(url)) as other,
        ThreadPoolExecutor() as pool,
    ):
        beat(other, engine_id)
        result = pool.submit(stopped.write, stop_halfway)
        assert locked.wait(60)
        beat(other, engine_id)  # waits for the row until the server has had enough
        goes_on.set()

        assert result.result(60) == 7
        assert attempts == [1, 1]  # the first was undone
