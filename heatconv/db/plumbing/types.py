# SPDX-License-Identifier: Apache-2.0
"""Column types and expressions that mean the same on every database."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import sqlalchemy as sa
from sqlalchemy.dialects import mysql
from sqlalchemy.engine import Dialect
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql import operators
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

from heatconv import errors
from heatconv.crypto import Keyring, is_token
from heatconv.db.plumbing import collation

LongText = (
    sa.Text()
    .with_variant(mysql.LONGTEXT(), "mysql")
    .with_variant(sa.Text(collation=collation.POSTGRESQL), "postgresql")
)
BigInt = sa.BigInteger().with_variant(sa.Integer(), "sqlite")  # SQLite numbers INTEGER keys only
Time = sa.DateTime().with_variant(mysql.DATETIME(fsp=6), "mysql")


def string(length: int) -> sa.String:
    """Return a text of at most so many characters, which compares as its bytes do."""
    return sa.String(length).with_variant(sa.String(length, collation=collation.POSTGRESQL), "postgresql")


Uuid = string(36)


class Json(sa.types.TypeDecorator[Any]):
    """Plain JSON data as compact text, which every database can keep and compare."""

    impl = LongText
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> str | None:
        """Write the value."""
        return None if value is None else dumps(value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> Any:
        """Read the value."""
        return _read(value)


class Place(NamedTuple):
    """Where a sealed value stands."""

    table: str
    column: str
    row: tuple[str, ...]  #: what tells the row from all others, and whose it is

    @property
    def bound(self) -> bytes:
        """What is authenticated along with the value."""
        return bound(self.table, self.column, joined(self.row))


def bound(table: str, column: str, row: str) -> bytes:
    """Return what a value is sealed with, so that it is for one place; no two places have the same.

    Args:
        table: the name of the table.
        column: the name of the column.
        row: the ``joined`` texts that tell the row from all others.
    """
    return f"{table}.{column} {row}".encode()


def joined(parts: tuple[str, ...]) -> str:
    """Return a text of some; those of no other texts are the same."""
    return "".join([f"{len(part)}:{part}" for part in parts])


class Placed:
    """A value on its way to a sealed column."""

    __slots__ = ("bound", "value")

    def __init__(self, value: Any, bound: bytes) -> None:
        self.value = value
        self.bound = bound


class Closed:
    """A value as a sealed column holds it: it tells nothing but to who says where it stands."""

    __slots__ = ("_keyring", "_read", "_text")

    def __init__(self, text: str, keyring: Keyring, read: Callable[[str], Any]) -> None:
        self._text = text
        self._keyring = keyring
        self._read = read

    def opened(self, place: Place) -> Any:
        """Return the value that was sealed for a place.

        Raises:
            BrokenSeal: it was sealed for another, or not at all, or with a key that the keyring lacks.
        """
        return self._read(opened(self._text, place, self._keyring))


class SealedText(sa.types.TypeDecorator[str]):
    """Text that the database keeps encrypted, with the key of the ``Database`` that is asked for it.

    It is bound to its table, column and row: ``Placed`` is what is written, and ``Closed``
    what is read; ``heatconv.db.plumbing.places`` makes the one, and opens the other.  What says nothing
    is not encrypted.  The database cannot compare such values, since no two are ever equal
    there: an expression that would have it do so is refused.
    """

    impl = LongText
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> str | None:
        """Write the value.

        Raises:
            TypeError: it is not said which row it is for.
        """
        if isinstance(value, Placed):
            return keyring_of(dialect).encrypt(self._written(value.value), value.bound)
        if value is None or (text := self._written(value)) in SAYING_NOTHING:
            return value if value is None else text
        raise TypeError(
            "what is written to a sealed column has to be placed: see heatconv.db.plumbing.places"
        )

    def process_result_value(self, value: str | None, dialect: Dialect) -> Any:
        """Read the value, which is closed unless it says nothing."""
        if value is None or value in SAYING_NOTHING:
            return value if value is None else self._read(value)
        return Closed(value, keyring_of(dialect), self._read)

    def _written(self, value: Any) -> str:
        text: str = value
        return text

    def _read(self, text: str) -> Any:
        return text

    class Comparator(sa.types.TypeDecorator.Comparator[Any]):
        """No comparisons but with null."""

        def operate(self, op: Any, *other: Any, **kwargs: Any) -> Any:
            """Build an expression, unless it cannot mean what it says."""
            if op not in (operators.is_, operators.is_not):
                raise TypeError(f"{self.expr} is encrypted: the database cannot do {op.__name__} with it")
            return super().operate(op, *other, **kwargs)

    comparator_factory = Comparator


class Sealed(SealedText):
    """Plain JSON data that the database keeps encrypted."""

    cache_ok = True

    def _written(self, value: Any) -> str:
        return dumps(value)

    def _read(self, text: str) -> Any:
        return _read(text)


SAYING_NOTHING = frozenset({"", "{}", "[]"})  #: texts that are not encrypted


def _read(text: str | None) -> Any:
    """Return the value of a JSON text; those that are read by the thousand are not parsed."""
    if text is None:
        return None
    return {} if text == "{}" else json.loads(text)


_ENCODER = json.JSONEncoder(separators=(",", ":"))  # json.dumps would make one for each value


def dumps(value: Any) -> str:
    """Return plain JSON data as the columns here have it; there is nothing in most of it."""
    if value == {}:
        return "{}"
    return _ENCODER.encode(value)


def opened(text: str, place: Place, keyring: Keyring) -> str:
    """Return the text that a sealed column holds at a place.

    Raises:
        BrokenSeal: it was sealed for another, or not at all, or with a key that the keyring lacks.
    """
    if keyring.accepts_unbound and not is_token(text):
        return text
    try:
        return keyring.decrypt(text, place.bound)
    except (errors.WrongKey, errors.Unbound) as problem:
        why = _WHY[type(problem)]
        column, row = f"{place.table}.{place.column}", "/".join(place.row)
        raise errors.BrokenSeal(column=column, row=row, reason=why) from problem


_WHY = {
    errors.WrongKey: "it was sealed for another place, or with a key that auth_encryption_old_keys lacks",
    errors.Unbound: "it is not bound to that row; if an earlier release has written it, set "
    "accept_unbound_values until 'heatconv-manage update_params encrypt' is through",
}


_KEYRINGS: WeakKeyDictionary[Dialect, Keyring] = WeakKeyDictionary()


def give_keyring(dialect: Dialect, keyring: Keyring) -> None:
    """Let the sealed columns of whatever speaks a dialect, one engine, be written and read."""
    _KEYRINGS[dialect] = keyring


def keyring_of(dialect: Dialect) -> Keyring:
    """Return the keys that an engine's sealed columns are written and read with.

    Raises:
        NoKey: it was given none.
    """
    try:
        return _KEYRINGS[dialect]
    except KeyError:
        raise errors.NoKey from None


class utcnow(FunctionElement[datetime]):  # noqa: N801 - an SQL function, spelt as one
    """The database's own clock, in UTC: the only clock that all daemons share."""

    type = Time
    inherit_cache = True


@compiles(utcnow, "postgresql")
def _postgresql(element: utcnow, compiler: SQLCompiler, **kwargs: Any) -> str:
    return "timezone('utc', clock_timestamp())"


@compiles(utcnow, "mysql")
def _mysql(element: utcnow, compiler: SQLCompiler, **kwargs: Any) -> str:
    return "UTC_TIMESTAMP(6)"


@compiles(utcnow, "sqlite")
def _sqlite(element: utcnow, compiler: SQLCompiler, **kwargs: Any) -> str:
    return "(strftime('%Y-%m-%d %H:%M:%f', 'now') || '000')"


class seconds_ago(FunctionElement[datetime]):  # noqa: N801 - an SQL function, spelt as one
    """A moment so many seconds before the statement began, by the database's clock.

    It is the same all through a statement: PostgreSQL looks into no index for what may change meanwhile.
    """

    type = Time
    inherit_cache = True


@compiles(seconds_ago, "postgresql")
def _ago_postgresql(element: seconds_ago, compiler: SQLCompiler, **kwargs: Any) -> str:
    seconds = compiler.process(element.clauses, **kwargs)
    return f"(timezone('utc', statement_timestamp()) - {seconds} * interval '1 second')"


@compiles(seconds_ago, "mysql")
def _ago_mysql(element: seconds_ago, compiler: SQLCompiler, **kwargs: Any) -> str:
    seconds = compiler.process(element.clauses, **kwargs)
    return f"(UTC_TIMESTAMP(6) - INTERVAL {seconds} SECOND)"


@compiles(seconds_ago, "sqlite")
def _ago_sqlite(element: seconds_ago, compiler: SQLCompiler, **kwargs: Any) -> str:
    seconds = compiler.process(element.clauses, **kwargs)
    return f"(strftime('%Y-%m-%d %H:%M:%f', 'now', (-{seconds}) || ' seconds') || '000')"


def in_seconds(seconds: float) -> seconds_ago:
    """Return the moment so many seconds after now, by the database's clock."""
    return seconds_ago(-seconds)


def is_past(moment: sa.ColumnElement[datetime]) -> sa.ColumnElement[bool]:
    """Return whether a moment has come, by the database's clock, as an index of it answers."""
    return moment <= seconds_ago(0)
