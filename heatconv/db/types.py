# SPDX-License-Identifier: Apache-2.0
"""Column types and expressions that mean the same on every database."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import mysql
from sqlalchemy.engine import Dialect
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

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
        return None if value is None else json.dumps(value, separators=(",", ":"))

    def process_result_value(self, value: str | None, dialect: Dialect) -> Any:
        """Read the value."""
        return None if value is None else json.loads(value)


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
    return f"(strftime('%Y-%m-%d %H:%M:%f', 'now', '-' || {seconds} || ' seconds') || '000')"
