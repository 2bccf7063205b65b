# SPDX-License-Identifier: Apache-2.0
"""A prepared statement does what the statement does, whatever becomes of what the server has kept of it."""

from __future__ import annotations

import itertools
from datetime import datetime
from typing import Any

import pytest
import sqlalchemy as sa
from oslo_db import exception as oslo_db_exception

from heatconv.db.plumbing import places, types
from heatconv.db.plumbing.prepared import LONGEST, OFTEN, SENT, Prepared
from heatconv.db.plumbing.session import Database, reading, writing
from heatconv.testing.keys import KEYRING

SEEN = datetime.fromisoformat("2026-02-28T23:59:59.123456")
TRICKY = 'it\'s "quoted" \\ 100% %(name)s :name {} $1 ? \N{KEY} \n'

thing = sa.Table(
    "thing_prepared",
    sa.MetaData(),
    sa.Column("name", sa.String(36), primary_key=True),
    sa.Column("number", types.BigInt, unique=True),
    sa.Column("yes", sa.Boolean),
    sa.Column("text", types.LongText),
    sa.Column("json", types.Json),
    sa.Column("secret", types.Sealed),
    sa.Column("at", types.Time),
    mysql_charset="utf8mb4",
)
ALL = Prepared(sa.select(thing).order_by(thing.c.name))
OF_NAMES = Prepared(
    sa.select(thing.c.name, thing.c.name.label("name"), sa.literal("%").label("sign"))
    .where(thing.c.name.in_(sa.bindparam("names", expanding=True)), thing.c.number.in_([1, 2, 3]))
    .order_by(thing.c.name)
)
OF_PAIRS = Prepared(
    sa.select(thing.c.name)
    .where(sa.tuple_(thing.c.name, thing.c.yes).in_(sa.bindparam("pairs", expanding=True)))
    .order_by(thing.c.name)
)
COUNT = Prepared(sa.select(sa.func.count()).select_from(thing))
WRITE = Prepared(
    sa.update(thing)
    .where(thing.c.name == sa.bindparam("of"))
    .values({name: sa.bindparam(name) for name in ("number", "yes", "text", "json", "secret", "at")})
)
NAMES = ("a", "b", "c")


@pytest.fixture
def database(database_url):
    database = Database.from_url(database_url, KEYRING)
    thing.metadata.create_all(database.engine)
    with database.engine.begin() as connection:
        rows = [{"name": name, "number": number} for number, name in enumerate(NAMES, start=1)]
        connection.execute(sa.insert(thing), rows)
    yield database
    thing.metadata.drop_all(database.engine)
    database.close()


@reading
def read(connection: Any, statement: Prepared, parameters: Any) -> list[Any]:
    return [tuple(row) for row in connection.execute(statement, parameters)]


@writing
def write(connection: Any, statement: Prepared, parameters: Any) -> int:
    met: int = connection.execute(statement, parameters).rowcount
    return met


@writing
def alter(connection: Any, statement: str) -> None:
    connection.execute(sa.text(statement))


def values(name: str, **others: Any) -> dict[str, Any]:
    given = {"number": None, "yes": None, "text": None, "json": None, "secret": None, "at": None} | others
    placed = {**places.placed(thing, {**given, "name": name}), "of": name}
    del placed["name"]
    return placed


def read_often(database, statement):
    """Read as often as it takes to have the server keep a statement."""
    for _ in range(OFTEN + 1):
        read(database, statement, {})


def kept(database):
    """Return the texts that the server keeps for the connection that is given out next."""
    with database.engine.connect() as connection:
        found = connection.scalars(sa.text("SELECT statement FROM pg_prepared_statements"))
        return [text for text in found if "thing_prepared" in text]


@pytest.fixture
def one_connection(database_url):
    """Return a database of which one connection is made at a time."""
    single = Database(KEYRING, connection=database_url, max_pool_size=1, max_overflow=0)
    thing.metadata.create_all(single.engine)
    yield single
    thing.metadata.drop_all(single.engine)
    single.close()


def test_what_is_written_is_what_is_read_every_time(database):
    for time in range(2 * OFTEN):
        given = {"number": 2**53 + time, "yes": bool(time % 2), "text": f"{TRICKY}{time}", "at": SEEN}
        sent = values("b", **given, json={"list": [1, None]}, secret={"word": time})
        assert write(database, WRITE, sent) == 1
        with database.engine.connect() as connection:
            _, row, _ = connection.execute(ALL).all()
            opened = places.Opened(thing, row)
            assert {name: getattr(opened, name) for name in given} == given
            assert (opened.json, opened.secret) == ({"list": [1, None]}, {"word": time})


def test_a_write_says_how_many_rows_it_has_met(database):
    nobody = values("nobody")
    assert [write(database, WRITE, nobody) for _ in range(OFTEN + 2)] == [0] * (OFTEN + 2)


def test_who_listens_hears_what_could_be_sent_as_it_is_heard(database):
    found = []

    def send_again(_connection, cursor, statement, parameters, *_rest):
        if statement.startswith("SELECT thing_prepared"):
            cursor.execute(statement, parameters)
            found.append([tuple(row) for row in cursor.fetchall()])

    sa.event.listen(database.engine, "before_cursor_execute", send_again)
    for _ in range(OFTEN + 2):
        read(database, OF_NAMES, {"names": NAMES[:2]})
    assert found == [[("a", "a", "%"), ("b", "b", "%")]] * (OFTEN + 2)


def test_lists_may_be_of_any_length(database):
    names = [*NAMES, *(f"no-{number}" for number in range(LONGEST))]
    for length in (0, 1, 2, 3, LONGEST, LONGEST + 2):
        for _ in range(OFTEN + 2):
            found = [(name, name, "%") for name in NAMES[:length]]
            assert read(database, OF_NAMES, {"names": names[:length]}) == found


def test_pairs_are_found_as_pairs(database):
    for name, yes in zip(NAMES, (True, False, True), strict=True):
        write(database, WRITE, values(name, yes=yes))
    for asked in itertools.product((True, False), repeat=2):
        for _ in range(OFTEN + 2):
            pairs = list(zip(NAMES, asked, strict=False))
            found = [(name,) for name, yes in pairs if yes is (name == "a")]
            assert read(database, OF_PAIRS, {"pairs": pairs}) == found


def test_one_value_can_be_asked_for(database):
    with database.engine.connect() as connection:
        assert [connection.scalar(COUNT) for _ in range(OFTEN + 2)] == [len(NAMES)] * (OFTEN + 2)


def test_what_a_statement_has_no_parameter_for_is_refused(database):
    with database.engine.connect() as connection, pytest.raises(ValueError, match="'other'"):
        connection.execute(COUNT, {"other": 1})


def test_errors_are_those_of_the_statement(database):
    sent = [values(name, number=1) for name in ("a", "b")]
    for _ in range(OFTEN + 2):
        write(database, WRITE, sent[0])
        with pytest.raises(oslo_db_exception.DBDuplicateEntry), database.engine.begin() as connection:
            connection.execute(WRITE, sent[1])


@pytest.mark.parametrize("database_kind", ["postgresql"])
def test_a_server_keeps_what_a_connection_sends_often(one_connection):
    for _ in range(OFTEN):
        assert kept(one_connection) == []
        read(one_connection, COUNT, {})
    read(one_connection, COUNT, {})

    assert len(kept(one_connection)) == 1


@pytest.mark.parametrize("database_kind", ["postgresql"])
def test_where_connections_are_shared_nothing_is_kept(one_connection, caplog):
    """A pooler between daemon and server gives the connection to another client, which knows of nothing."""
    read_often(one_connection, COUNT)
    alter(one_connection, "DEALLOCATE ALL")

    assert read(one_connection, COUNT, {}) == [(0,)]
    assert "shared" in caplog.text
    for _ in range(OFTEN + 1):
        assert read(one_connection, COUNT, {}) == [(0,)]
    assert kept(one_connection) == []


@pytest.mark.parametrize("database_kind", ["postgresql"])
def test_what_another_client_has_kept_is_no_obstacle(one_connection):
    read_often(one_connection, COUNT)
    with one_connection.engine.connect() as connection:
        connection.info.pop(SENT)  # as if another client had sent it before this one

    for _ in range(OFTEN + 2):
        assert read(one_connection, COUNT, {}) == [(0,)]


@pytest.mark.parametrize("database_kind", ["postgresql"])
def test_a_table_may_change_under_what_is_kept(one_connection):
    """An upgrade of the tables, while daemons of the release before are at work."""
    read_often(one_connection, ALL)
    alter(one_connection, "ALTER TABLE thing_prepared ALTER COLUMN number TYPE numeric")

    assert read(one_connection, ALL, {}) == []
    read_often(one_connection, ALL)
    assert len(kept(one_connection)) == 1


@pytest.mark.parametrize("database_kind", ["postgresql"])
def test_a_lost_connection_is_made_again(one_connection, database_url):
    read_often(one_connection, COUNT)
    with one_connection.engine.connect() as connection:
        lost = connection.scalar(sa.text("SELECT pg_backend_pid()"))
    other = sa.create_engine(database_url)
    with other.begin() as connection:
        connection.execute(sa.text("SELECT pg_terminate_backend(:pid)"), {"pid": lost})
    other.dispose()

    for _ in range(OFTEN + 2):
        assert read(one_connection, COUNT, {}) == [(0,)]


def test_who_listens_to_a_connection_hears_of_it(database):
    heard: list[tuple[str, str]] = []
    for event in ("before_cursor_execute", "after_cursor_execute"):
        sa.event.listen(
            database.engine, event, lambda _c, _cursor, text, *_rest, event=event: heard.append((event, text))
        )
    for _ in range(OFTEN + 2):
        read(database, COUNT, {})

    texts = [text for _, text in heard if "count" in text]
    assert len(texts) == 2 * (OFTEN + 2)
    assert len(set(texts)) == 1
