# SPDX-License-Identifier: Apache-2.0
"""Writes that are sent together do what they do apart, and are one statement on PostgreSQL."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest
import sqlalchemy as sa

from heatconv.db.plumbing import bulk
from heatconv.db.plumbing.prepared import Prepared
from heatconv.db.plumbing.session import Database
from heatconv.db.plumbing.together import Together
from tests.functional.waiting import until

PATIENCE = 30
METADATA = sa.MetaData()
parent = sa.Table("together_parent", METADATA, sa.Column("name", sa.String(36), primary_key=True))
child = sa.Table(
    "together_child",
    METADATA,
    sa.Column("name", sa.String(36), primary_key=True),
    sa.Column("number", sa.Integer),
)
ADD_PARENTS = bulk.Insert(parent, ["name"])
ADD_CHILDREN = bulk.Insert(child, ["name", "number"])
RENUMBER = bulk.Update(child, ["name"], ["number"])
RENAME = Prepared(
    sa.update(child).where(child.c.name == sa.bindparam("was")).values(name=sa.bindparam("becomes"))
)


@pytest.fixture
def connection(database_url):
    database = Database.from_url(database_url)
    METADATA.create_all(database.engine)
    with database.engine.connect() as connection:
        ADD_CHILDREN.execute(connection, [{"name": "first", "number": 1}, {"name": "second", "number": 2}])
        yield connection
    METADATA.drop_all(database.engine)
    database.close()


@pytest.fixture
def sent(connection):
    """Return the statements that the database is sent."""
    statements: list[str] = []
    sa.event.listen(
        connection,
        "after_cursor_execute",
        lambda _c, _cursor, statement, *_rest: statements.append(statement),
    )
    return statements


def children(connection):
    return {row.name: row.number for row in connection.execute(sa.select(child))}


def test_all_of_them_are_carried_out(connection, sent, database_kind):
    writes = Together(connection)
    ADD_PARENTS.execute(writes, [{"name": "new"}, {"name": "other"}])
    RENUMBER.execute(writes, [{"name": "first", "number": 10}])
    writes.execute(RENAME, {"was": "second", "becomes": "last"}, rows=1)
    assert sent == []

    assert writes.send()

    assert len(sent) == (1 if database_kind == "postgresql" else 3)
    assert set(connection.scalars(sa.select(parent.c.name))) == {"new", "other"}
    assert children(connection) == {"first": 10, "last": 2}


def test_what_was_sent_is_not_sent_again(connection):
    writes = Together(connection)
    ADD_PARENTS.execute(writes, [{"name": "new"}])
    writes.send()
    ADD_CHILDREN.execute(writes, [{"name": "third", "number": 3}])
    writes.send()
    writes.send()
    assert list(connection.scalars(sa.select(parent.c.name))) == ["new"]
    assert children(connection) == {"first": 1, "second": 2, "third": 3}


def test_one_statement_twice_has_the_parameters_of_each(connection):
    writes = Together(connection)
    writes.execute(RENAME, {"was": "first", "becomes": "A"}, rows=1)
    writes.execute(RENAME, {"was": "second", "becomes": "B"}, rows=1)
    writes.send()
    assert children(connection) == {"A": 1, "B": 2}


@pytest.mark.parametrize("beside", [[], [{"name": "new"}]], ids=["alone", "beside another"])
def test_whoever_sends_them_hears_that_one_met_other_rows_than_it_has_to(connection, beside):
    writes = Together(connection)
    ADD_PARENTS.execute(writes, beside)
    writes.execute(RENAME, {"was": "nobody", "becomes": "A"}, rows=1)
    assert not writes.send()


def test_what_is_like_another_has_that_sent_before_it(connection, sent, monkeypatch):
    monkeypatch.setattr(bulk, "MOST", 2)
    writes = Together(connection)
    ADD_PARENTS.execute(writes, [{"name": f"P{number}"} for number in range(5)])
    assert len(sent) == 2  # of three; none waits for more than what is like it

    assert writes.send()

    assert len(set(connection.scalars(sa.select(parent.c.name)))) == 5


def test_whoever_sends_the_last_hears_of_the_first(connection):
    writes = Together(connection)
    writes.execute(RENAME, {"was": "nobody", "becomes": "A"}, rows=1)
    writes.execute(RENAME, {"was": "second", "becomes": "B"}, rows=1)
    assert not writes.send()


def named(*, locked=False):
    """Return a query for children by their names."""
    query = (
        sa.select(child).where(child.c.name.in_(sa.bindparam("names", expanding=True))).order_by(child.c.name)
    )
    return Prepared(query.with_for_update(of=child) if locked else query)


FIND, LOCK = named(), named(locked=True)


@pytest.mark.parametrize("query", [FIND, LOCK], ids=["found", "locked"])
def test_what_is_read_after_the_writes_goes_along_with_them(connection, sent, database_kind, query):
    writes = Together(connection)
    ADD_PARENTS.execute(writes, [{"name": "new"}])
    writes.execute(RENAME, {"was": "first", "becomes": "A"}, rows=1)

    found = writes.read(query, {"names": ["second", "nobody"]})

    assert [(row.name, row.number) for row in found] == [("second", 2)]
    assert len(sent) == (1 if database_kind == "postgresql" else 3)
    assert writes.read(query, {"names": ["nobody"]}) == []
    assert writes.send()
    assert children(connection) == {"A": 1, "second": 2}


def test_nothing_is_found_where_a_write_has_not_met_its_rows(connection):
    writes = Together(connection)
    writes.execute(RENAME, {"was": "nobody", "becomes": "A"}, rows=1)
    assert not writes.read(FIND, {"names": ["second"]})
    assert not writes.read(FIND, {"names": ["second"]})
    assert not writes.send()


def test_nothing_found_is_no_write_that_met_nothing(connection):
    writes = Together(connection)
    writes.execute(RENAME, {"was": "first", "becomes": "A"}, rows=1)
    assert not writes.read(FIND, {"names": ["nobody"]})
    assert writes.send()


@pytest.mark.parametrize("database_kind", ["postgresql"])
def test_what_is_read_is_not_locked_before_it_is_written(connection, database_url):
    """Who waits for a row that it is to write holds none of those that it is to read."""
    connection.commit()
    with closing(Database.from_url(database_url)) as other, ThreadPoolExecutor(1) as pool:
        with other.engine.begin() as holder:
            holder.execute(LOCK, {"names": ["first"]}).all()
            writes = Together(connection)
            writes.execute(RENAME, {"was": "first", "becomes": "A"}, rows=1)
            read = pool.submit(writes.read, LOCK, {"names": ["second"]})
            waiting = sa.text("SELECT count(*) FROM pg_locks WHERE NOT granted")
            until(lambda: holder.scalar(waiting))
            found = holder.execute(sa.select(child.c.name).with_for_update(skip_locked=True)).scalars()
            assert set(found) == {"first", "second"}
        assert [row.name for row in read.result(PATIENCE)] == ["second"]
        with other.engine.begin() as holder:
            assert not holder.execute(sa.select(child.c.name).with_for_update(skip_locked=True)).all()
    assert writes.send()


@pytest.mark.parametrize("database_kind", ["postgresql"])
def test_two_that_give_a_parameter_different_values_cannot_be_one_statement(connection):
    retire = Prepared(sa.delete(child).where(child.c.name == sa.bindparam("was")))
    writes = Together(connection)
    writes.execute(RENAME, {"was": "first", "becomes": "last"})
    writes.execute(retire, {"was": "second"})
    with pytest.raises(ValueError, match="different values"):
        writes.send()
    assert children(connection) == {"first": 1, "second": 2}
