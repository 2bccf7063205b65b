# SPDX-License-Identifier: Apache-2.0
"""A database that cannot be reached for a while, and one that stays away."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager

import pytest
import sqlalchemy as sa

from heatconv import errors
from heatconv.db.convergence import services
from heatconv.db.observation import schedule
from heatconv.db.plumbing.session import Database
from heatconv.db.tables import stack_observed
from tests.chaos.proxy import Proxy

PATIENCE = 60
STACK = "00000000-0000-4000-8000-000000000002"


@contextmanager
def attempts() -> Iterator[threading.Semaphore]:
    """Yield a semaphore that is released with every attempt to connect."""
    made = threading.Semaphore(0)

    def note(*_):
        made.release()

    # Of all engines: such a listener comes before one of an engine's own, which may be what connects.
    sa.event.listen(sa.Engine, "do_connect", note)
    yield made
    sa.event.remove(sa.Engine, "do_connect", note)


@pytest.mark.parametrize("kind", ["postgresql", "mariadb"])
def test_what_is_asked_of_a_server_that_is_away_is_answered_when_it_is_back(fresh_database, kind, caplog):
    with Proxy(fresh_database(kind)) as line, closing(Database.from_url(line.url)) as database:
        assert services.list_services(database, dead_after=1) == []
        with attempts() as made, ThreadPoolExecutor() as pool:
            line.close()
            asked = pool.submit(services.list_services, database, dead_after=1)
            for _ in range(2):  # the first was refused if there is a second
                assert made.acquire(timeout=PATIENCE)
            line.open()
            assert asked.result(PATIENCE) == []
    assert "A transaction has lost the database, and is tried again for a while: " in caplog.text


def test_a_pool_that_stays_empty_is_a_fault_of_the_storage(fresh_database):
    url = fresh_database("postgresql")
    with (
        closing(Database(connection=url, max_pool_size=1, max_overflow=0, pool_timeout=0.01)) as database,
        database.engine.connect(),
        pytest.raises(errors.StorageError),
    ):
        services.list_services(database, dead_after=1)


def _give_no_time(connection, _record):
    connection.cursor().execute("SET statement_timeout = 1")
    connection.commit()


def test_an_error_that_oslo_db_has_no_name_for_is_a_fault_of_the_storage(fresh_database):
    """Such as a full disk, or here: one statement that is given no time."""
    with closing(Database.from_url(fresh_database("postgresql"))) as database:
        sa.event.listen(database.engine, "connect", _give_no_time)
        with database.engine.connect() as other:
            other.execute(sa.text("SET statement_timeout = 0"))
            other.execute(sa.text("LOCK TABLE service"))
            with pytest.raises(errors.StorageError):
                services.list_services(database, dead_after=1)


def test_a_server_that_has_become_a_standby_is_turned_away_from(fresh_database):
    """As one is that a daemon has a connection to still when another was promoted."""
    with closing(Database.from_url(fresh_database("postgresql"))) as database:
        with database.engine.connect() as connection:
            connection.exec_driver_sql("SET default_transaction_read_only = on")
            connection.commit()  # it goes back to the pool, and is what is used next
        services.heartbeat(
            database,
            engine_id="00000000-0000-4000-8000-000000000001",
            host="here",
            binary="heatconv-worker",
            topic="heatconv-worker",
            interval=60,
        )
        assert len(services.list_services(database, dead_after=60)) == 1


#: What a server answers that is read-only, of whatever statement.
_READ_ONLY = (
    "SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = 1290, MESSAGE_TEXT ="
    " 'The MariaDB server is running with the --read-only option so it cannot execute this statement'"
)


def test_a_server_that_is_read_only_is_asked_again_on_new_connections(fresh_database):
    """Where a name leads to the primary of several servers, the next connection may be to another."""
    asked = []

    def ask(connection):
        asked.append(connection.exec_driver_sql("SELECT CONNECTION_ID()").scalar_one())
        if len(asked) < 3:
            connection.exec_driver_sql(_READ_ONLY)

    with closing(Database.from_url(fresh_database("mariadb"))) as database:
        database.write(ask)
    assert len(set(asked)) == 3


_WAITING = sa.text(
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
)


def test_what_comes_upon_a_row_that_nobody_could_see_before_is_decided_again(fresh_database):
    """Such as a transaction that was taken for lost, while its commit waited for a standby."""
    with (
        closing(Database.from_url(fresh_database("postgresql"))) as database,
        ThreadPoolExecutor() as pool,
        database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as watching,
    ):
        with database.engine.begin() as slow:
            inspect.unwrap(schedule.make_known)(slow, STACK)
            asked = pool.submit(schedule.make_known, database, STACK)
            while not watching.scalar(_WAITING):
                assert not asked.done()
        asked.result(PATIENCE)
        with database.engine.connect() as connection:
            assert connection.scalar(sa.select(sa.func.count()).select_from(stack_observed)) == 1
