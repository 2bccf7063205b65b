# SPDX-License-Identifier: Apache-2.0
"""Writes that are sent together do what they do apart, and are one statement on PostgreSQL."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from heatconv.db.plumbing import bulk
from heatconv.db.plumbing.prepared import Prepared
from heatconv.db.plumbing.session import Database
from heatconv.db.plumbing.together import Together

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
