# SPDX-License-Identifier: Apache-2.0
"""Rows that are given as one parameter arrive as they are, on every database."""

from __future__ import annotations

from typing import Any

import pytest
import sqlalchemy as sa
from oslo_db import exception as oslo_db_exception

from heatconv.crypto import is_token
from heatconv.db.plumbing import bulk, places, types
from heatconv.db.plumbing.session import Database
from heatconv.testing.keys import KEYRING

TRICKY = 'it\'s "quoted" \\ 100% :given {} \N{KEY} \n\t\u2028'

thing = sa.Table(
    "thing_given",
    sa.MetaData(),
    sa.Column("id", types.BigInt, primary_key=True),
    sa.Column("name", sa.String(36), nullable=False, unique=True),
    sa.Column("number", types.BigInt),
    sa.Column("yes", sa.Boolean),
    sa.Column("text", types.LongText),
    sa.Column("json", types.Json),
    sa.Column("secret", types.Sealed),
    sa.Column("at", types.Time),
    info={places.ROW: ("name",)},
    mysql_charset="utf8mb4",
)
ADD = bulk.Insert(thing, ["name", "number", "yes", "text", "json", "secret"], same={"at": types.utcnow()})
CHANGE = bulk.Update(
    thing,
    ["name", "number"],
    ["text", "secret"],
    same={"yes": sa.bindparam("now"), "number": thing.c.number + 1},
)


def row(name: str, **values: Any) -> dict[str, Any]:
    return {"name": name, "number": None, "yes": None, "text": None, "json": None, "secret": None} | values


@pytest.fixture
def connection(database_url):
    database = Database.from_url(database_url, KEYRING)
    thing.metadata.create_all(database.engine)
    with database.engine.connect() as connection:
        yield connection
    thing.metadata.drop_all(database.engine)
    database.close()


def found(connection):
    names = ("name", "number", "yes", "text", "json", "secret")
    query = sa.select(*(thing.c[name] for name in names)).order_by(thing.c.id)
    rows = [places.Opened(thing, row) for row in connection.execute(query)]
    return [{name: getattr(row, name) for name in names} for row in rows]


def test_every_kind_of_value_arrives(connection):
    rows = [
        row(
            "full", number=2**53 + 1, yes=True, text=TRICKY, json={TRICKY: [None, 1.5]}, secret={"a": TRICKY}
        ),
        row("no", number=-1, yes=False, text="", json={}, secret={}),
        row("nothing"),
    ]

    ADD.execute(connection, rows)

    assert found(connection) == rows
    assert connection.scalar(sa.select(sa.func.count(thing.c.at))) == 3


def test_every_character_arrives(connection):
    """All of the basic plane in texts of 997, which shifts them against each other, and some beyond."""
    characters = [chr(code) for code in range(1, 0x10000) if not 0xD800 <= code < 0xE000]
    characters += [chr(code) for code in range(0x10000, 0x110000, 251)]
    texts = ["".join(characters[start : start + 997]) for start in range(0, len(characters), 997)]

    ADD.execute(connection, [row(str(number), text=text) for number, text in enumerate(texts)])

    assert [each["text"] for each in found(connection)] == texts


def test_what_is_to_be_sealed_is(connection):
    ADD.execute(connection, [row("a", secret={"password": "horse"})])

    raw = connection.scalar(sa.select(sa.type_coerce(thing.c.secret, sa.Text)))
    assert is_token(raw)


def test_many_rows_arrive_in_their_order(connection):
    names = [f"r{number}" for number in range(2 * bulk.MOST + 7)]

    ADD.execute(connection, [row(name, text="x" * 1000) for name in names])

    assert [each["name"] for each in found(connection)] == names


def test_no_rows_are_no_statement(connection):
    ADD.execute(connection, [])
    CHANGE.execute(connection, [], {"now": True})

    assert found(connection) == []


def test_each_row_is_changed_by_what_is_given_for_it_where_that_fits(connection):
    ADD.execute(connection, [row("a", number=1), row("b", number=2), row("c", number=3, text="as it was")])

    CHANGE.execute(
        connection,
        [
            {"name": "a", "number": 1, "text": TRICKY, "secret": {"a": 1}},
            {"name": "b", "number": 2, "text": None, "secret": None},
            {"name": "c", "number": 4, "text": "overtaken", "secret": None},
        ],
        {"now": True},
    )

    assert found(connection) == [
        row("a", number=2, yes=True, text=TRICKY, secret={"a": 1}),
        row("b", number=3, yes=True),
        row("c", number=3, text="as it was"),
    ]


def test_what_does_not_fit_its_column_is_refused_and_not_cut(connection):
    name = "n" * 37
    try:
        ADD.execute(connection, [row(name)])
    except oslo_db_exception.DBError:
        return
    assert [each["name"] for each in found(connection)] == [name]  # SQLite takes texts of any length
