# SPDX-License-Identifier: Apache-2.0
"""Column types and expressions that mean the same on every database."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any
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

LongText = sa.Text().with_variant(mysql.LONGTEXT(), "mysql", "mariadb")
BigInt = sa.BigInteger().with_variant(sa.Integer(), "sqlite")  # SQLite numbers INTEGER keys only
Time = sa.DateTime().with_variant(mysql.DATETIME(fsp=6), "mysql", "mariadb")
Uuid = sa.String(36)


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


class SealedText(sa.types.TypeDecorator[str]):
    """Text that the database keeps encrypted, with the key of the ``Database`` that is asked for it.

    What says nothing is not encrypted, and what was written before there were
    keys is read as it is.  The database cannot compare such values, since no two
    are ever equal there: an expression that would have it do so is refused.
    """

    impl = LongText
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """Write the text."""
        return value and seal(value, dialect)

    def process_result_value(self, value: str | None, dialect: Dialect) -> str | None:
        """Read the text."""
        return value and opened(value, keyring_of(dialect))

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

    def process_bind_param(self, value: Any, dialect: Dialect) -> str | None:
        """Write the value."""
        return super().process_bind_param(None if value is None else dumps(value), dialect)

    def process_result_value(self, value: str | None, dialect: Dialect) -> Any:
        """Read the value."""
        return _read(value if value in _NOTHING else super().process_result_value(value, dialect))


_EMPTY = frozenset({"", "{}", "[]"})
_NOTHING = (None, "{}")  #: what most columns of most rows have


def _read(text: str | None) -> Any:
    """Return the value of a JSON text; those that are read by the thousand are not parsed."""
    if text is None:
        return None
    return {} if text == "{}" else json.loads(text)


_ENCODER = json.JSONEncoder(separators=(",", ":"))  # json.dumps would make one for each value


def dumps(value: Any) -> str:
    """Return plain JSON data as the columns here have it."""
    return _ENCODER.encode(value)


def seal(text: str, dialect: Dialect) -> str:
    """Return a text as a sealed column of an engine's database holds it: for who writes one to many rows."""
    return sealed(text, keyring_of(dialect))


def sealed(text: str, keyring: Keyring) -> str:
    """Return a text as a sealed column holds it."""
    return text if text in _EMPTY else keyring.encrypt(text)


def opened(text: str, keyring: Keyring) -> str:
    """Return the text that a sealed column holds.

    Raises:
        WrongKey: it is encrypted with a key that the keyring lacks.
    """
    return keyring.decrypt(text) if is_token(text) else text


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
@compiles(utcnow, "mariadb")
def _mysql(element: utcnow, compiler: SQLCompiler, **kwargs: Any) -> str:
    return "UTC_TIMESTAMP(6)"


@compiles(utcnow, "sqlite")
def _sqlite(element: utcnow, compiler: SQLCompiler, **kwargs: Any) -> str:
    return "(strftime('%Y-%m-%d %H:%M:%f', 'now') || '000')"


class seconds_ago(FunctionElement[datetime]):  # noqa: N801 - an SQL function, spelt as one
    """A moment so many seconds before now, by the database's clock."""

    type = Time
    inherit_cache = True


@compiles(seconds_ago, "postgresql")
def _ago_postgresql(element: seconds_ago, compiler: SQLCompiler, **kwargs: Any) -> str:
    seconds = compiler.process(element.clauses, **kwargs)
    return f"(timezone('utc', clock_timestamp()) - {seconds} * interval '1 second')"


@compiles(seconds_ago, "mysql")
@compiles(seconds_ago, "mariadb")
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
