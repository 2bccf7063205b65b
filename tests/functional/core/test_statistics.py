# SPDX-License-Identifier: Apache-2.0
"""PostgreSQL learns at once that there is a large stack, where the tables were empty when it last looked."""

from __future__ import annotations

from contextlib import closing

import pytest
import sqlalchemy as sa

from heatconv.db.plumbing import statistics
from heatconv.db.plumbing.connections import LONGEST_PAUSE, MANY_ROWS, unhurried
from heatconv.db.plumbing.session import Database
from heatconv.engine import prepare
from heatconv.graph import traversal
from heatconv.testing.templates import Template, thing
from tests.functional.core.test_plans import plans
from tests.functional.waiting import until

MANY = Template(**{f"R{number}": thing("1") for number in range(300)})
FEW = Template(**{f"R{number}": thing("1") for number in range(10)})
PLANNED = ["graph_edge", "resource", "sync_point"]


def believe_in_nothing(database):
    """Let the tables be what autovacuum leaves behind when it has looked at them while they were empty."""
    with database.engine.begin() as connection:
        connection.execute(
            sa.text("UPDATE pg_class SET reltuples = 0, relpages = 1 WHERE relname IN :tables").bindparams(
                sa.bindparam("tables", PLANNED, expanding=True)
            )
        )


def counted(database):
    """Return how many rows PostgreSQL counted while they were written."""
    return look(database, "pg_stat_get_live_tuples(oid)")


def believed(database):
    """Return of how many rows PostgreSQL knows when it plans."""
    return look(database, "reltuples")


def look(database, column):
    with database.engine.connect() as connection:
        rows = connection.execute(
            sa.text(f"SELECT relname, {column} FROM pg_class WHERE relname IN :tables").bindparams(
                sa.bindparam("tables", PLANNED, expanding=True)
            )
        )
        return {name: int(count) for name, count in rows}


@pytest.mark.parametrize("database_kind", ["postgresql"])
def test_a_large_stack_is_not_read_as_a_whole_for_each_of_its_nodes(world):
    believe_in_nothing(world.database)
    found = plans(world.worker.database, "sender_state")
    world.create(MANY)
    world.run()
    assert world.state == "CREATE_COMPLETE"
    believe_in_nothing(world.database)
    world.delete()
    world.run()

    assert world.state == "DELETE_COMPLETE"
    assert found
    assert [plan for plan in found if "Join Filter" in plan] == []


@pytest.mark.parametrize("database_kind", ["postgresql"])
def test_what_has_grown_is_looked_at_once(world):
    world.create(MANY)
    believe_in_nothing(world.database)

    assert statistics.correct(world.database, planned=601) == PLANNED
    assert min(believed(world.database).values()) >= 300
    assert statistics.correct(world.database, planned=601) == []


@pytest.mark.parametrize("database_kind", ["postgresql"])
def test_the_tick_finds_what_grew_little_by_little(world, engines):
    world.create(MANY)
    believe_in_nothing(world.database)
    world.engine._database.engine.dispose()  # a server process has counted what it wrote when it ends
    until(lambda: min(counted(world.database).values()) >= 300)

    engines[0].tick()

    assert min(believed(world.database).values()) >= 300


@pytest.mark.parametrize("database_kind", ["postgresql"])
def test_a_small_stack_is_nothing_to_learn_of(world):
    believe_in_nothing(world.database)
    world.create(FEW)

    assert believed(world.database) == dict.fromkeys(PLANNED, 0)


def test_other_databases_look_for_themselves(world, database_kind):
    world.create(MANY)

    assert database_kind == "postgresql" or statistics.correct(world.database, planned=601) == []


#: How a server is asked for how long a transaction may pause.
PAUSES = {
    "postgresql": "SELECT setting::int / 1000 FROM pg_settings"
    " WHERE name = 'idle_in_transaction_session_timeout'",
    "mariadb": "SELECT @@SESSION.idle_transaction_timeout",
}


@pytest.mark.parametrize("database_kind", PAUSES)
def test_a_transaction_about_many_rows_may_pause_for_longer(database_url, database_kind):
    with closing(Database.from_url(database_url)) as database, database.engine.begin() as connection:
        pause = sa.text(PAUSES[database_kind])
        with unhurried(connection, MANY_ROWS - 1):
            assert connection.scalar(pause) == LONGEST_PAUSE
        with unhurried(connection, MANY_ROWS):
            assert connection.scalar(pause) == 3 * LONGEST_PAUSE
        assert connection.scalar(pause) == LONGEST_PAUSE


@pytest.mark.parametrize("database_kind", PAUSES)
def test_no_transaction_waits_while_a_new_stack_is_planned(world, monkeypatch):
    open_meanwhile = []

    def plan(*arguments):
        open_meanwhile.append(world.engine._database.engine.pool.checkedout())
        return real(*arguments)

    real = traversal.plan
    monkeypatch.setattr(prepare, "plan", plan)
    world.create(FEW)

    assert open_meanwhile == [0]
