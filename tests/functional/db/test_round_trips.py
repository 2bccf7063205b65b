# SPDX-License-Identifier: Apache-2.0
"""PostgreSQL's transactions are whole, though none of their beginnings and few of their ends go alone."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from heatconv import errors
from heatconv.db.plumbing.prepared import ALONE, LAST, OFTEN, Prepared
from heatconv.db.plumbing.session import Database, reading, writing
from heatconv.db.plumbing.together import Together

thing = sa.Table(
    "thing_of_round_trips",
    sa.MetaData(),
    sa.Column("name", sa.String(36), primary_key=True),
    sa.Column("number", sa.Integer),
)
ADD = Prepared(sa.insert(thing).values(name=sa.bindparam("called"), number=sa.bindparam("of")))
RENUMBER = Prepared(
    sa.update(thing).where(thing.c.name == sa.bindparam("its_name")).values(number=sa.bindparam("becomes"))
)
ALL = Prepared(sa.select(thing).order_by(thing.c.name))
TIMES = pytest.mark.parametrize("times", [1, OFTEN + 2], ids=["as a text", "by its name"])


@pytest.fixture
def database(fresh_database):
    database = Database.from_url(fresh_database("postgresql"))
    thing.metadata.create_all(database.engine)
    with database.engine.begin() as connection:
        connection.execute(sa.insert(thing), [{"name": "a", "number": 0}, {"name": "b", "number": 0}])
    yield database
    database.close()


@pytest.fixture
def outside(database):
    """Return what tells what others see: the numbers of things, and how many transactions are open."""
    other = Database.from_url(database.engine.url.render_as_string(hide_password=False))
    open_ones = sa.text(
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
        " AND state LIKE 'idle in transaction%'"
    )

    @reading
    def look(connection):
        return {row.name: row.number for row in connection.execute(ALL)}, connection.scalar(open_ones)

    yield lambda: look(other)
    other.close()


class Broken(Exception):
    """Something was wrong in the midst of a transaction."""


@TIMES
def test_what_is_broken_off_leaves_nothing(database, outside, times):
    @writing
    def write(connection, number):
        connection.execute(RENUMBER, {"its_name": "a", "becomes": number})
        assert outside() == ({"a": 0, "b": 0}, 1)
        connection.execute(RENUMBER, {"its_name": "b", "becomes": number})
        raise Broken

    for number in range(1, times + 1):
        with pytest.raises(Broken):
            write(database, number)
        assert outside() == ({"a": 0, "b": 0}, 0)


def test_nor_do_many_rows_that_come_first(database, outside):
    @writing
    def write(connection, statement, rows):
        connection.execute(statement, rows)
        assert outside() == ({"a": 0, "b": 0}, 1)
        raise Broken

    by_row = sa.text("UPDATE thing_of_round_trips SET number = :number WHERE name = :name")
    for statement in (sa.insert(thing), by_row):
        with pytest.raises(Broken):
            write(database, statement, [{"name": name, "number": 1} for name in "cd"])
    assert outside() == ({"a": 0, "b": 0}, 0)


@TIMES
def test_what_fails_first_fails_the_whole_transaction_and_no_other(database, outside, times):
    @writing
    def add(connection, name):
        connection.execute(ADD, {"called": name, "of": 1})

    for _ in range(times):
        with pytest.raises(errors.StorageError):
            add(database, "a")
    add(database, "c")
    assert outside() == ({"a": 0, "b": 0, "c": 1}, 0)


@TIMES
def test_the_last_statement_commits_all(database, outside, times):
    @writing
    def write(connection, number):
        connection.execute(RENUMBER, {"its_name": "a", "becomes": number})
        connection.execute(RENUMBER, {"its_name": "b", "becomes": number}, execution_options=LAST)
        assert outside() == ({"a": number, "b": number}, 0)

    for number in range(1, times + 1):
        write(database, number)
    assert outside() == ({"a": times, "b": times}, 0)


@TIMES
@pytest.mark.parametrize("is_only", [True, False])
def test_writes_that_are_last_are_committed_if_all_is_met_and_else_undone(database, outside, times, is_only):
    @writing
    def write(connection, number, *, expected):
        if not is_only:
            connection.execute(RENUMBER, {"its_name": "b", "becomes": number})
        writes = Together(connection)
        writes.execute(RENUMBER, {"its_name": "a", "becomes": number}, rows=expected)
        writes.execute(ADD, {"called": f"c{number}", "of": number})
        all_met = writes.send(last=True)
        assert (outside()[0]["a"] == number) is all_met is (expected == 1)
        if not all_met:
            raise Broken

    added = {}
    for number in range(1, times + 1):
        with pytest.raises(Broken):
            write(database, number, expected=2)
        write(database, number, expected=1)
        added[f"c{number}"] = number
        assert outside() == ({"a": number, "b": 0 if is_only else number, **added}, 0)


@TIMES
def test_what_goes_alone_is_a_transaction_if_it_is_first_and_else_part_of_one(database, outside, times):
    @writing
    def write(connection, number):
        alone = connection.execute(RENUMBER, {"its_name": "a", "becomes": number}, execution_options=ALONE)
        assert alone.rowcount == 1
        assert outside() == ({"a": number, "b": 0}, 0)
        connection.execute(RENUMBER, {"its_name": "b", "becomes": number})
        found = connection.execute(ALL, execution_options=ALONE).all()
        assert found == [("a", number), ("b", number)]
        connection.execute(RENUMBER, {"its_name": "a", "becomes": -1}, execution_options=ALONE)
        assert outside() == ({"a": number, "b": 0}, 1)
        raise Broken

    for number in range(1, times + 1):
        with pytest.raises(Broken):
            write(database, number)
        assert outside() == ({"a": number, "b": 0}, 0)


def test_who_wants_each_statement_for_itself_has_that(database, outside):
    with database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(sa.update(thing).values(number=1))
        assert outside() == ({"a": 1, "b": 1}, 0)
    with database.engine.connect() as connection:
        connection.execute(sa.update(thing).values(number=2))
        assert outside() == ({"a": 1, "b": 1}, 1)
    assert outside() == ({"a": 1, "b": 1}, 0)
