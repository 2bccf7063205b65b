# SPDX-License-Identifier: Apache-2.0
"""What each connection to a database is told when it is opened, and for how long a transaction may pause.

It is opened in milliseconds: a server that ends one connection, because of a
pause, has all those of its process opened anew, while others wait for an answer.
"""

from __future__ import annotations

import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pymysql.connections
import sqlalchemy as sa
from sqlalchemy.dialects.mysql.base import MySQLDialect
from sqlalchemy.engine import Connection, Engine

from heatconv.db.plumbing.postgresql import PlainConnection

#: Seconds a process may pause in the middle of a transaction.  The server ends that of one
#: that is stopped, or whose machine is gone, and with it the locks that others wait for.
LONGEST_PAUSE = 3

#: Connections to a file of SQLite's that are kept; more are opened as needed, and closed after that.
KEPT_OPEN = 16

#: Seconds after which MySQL, which has no limit for transactions, closes an idle connection.
LONGEST_IDLE = 10

#: From so many rows on, what is computed in the midst of a transaction may take longer: seconds for each.
MANY_ROWS, PAUSE_FOR_ROW = 6_000, 0.001


def for_oslo_db(url: str) -> str:
    """Return a URL whose dialect oslo.db knows: of a server of the MySQL family it knows that of MySQL alone.

    By SQLAlchemy's own for MariaDB it would take no deadlock and no duplicate for what it is.
    """
    is_mariadb = url.startswith(("mariadb:", "mariadb+"))
    return f"mysql{url.removeprefix('mariadb')}" if is_mariadb else url


def open_as_needed(engine: Engine) -> None:
    """Have an engine open its connections in the way that its server needs."""
    if engine.dialect.name == "sqlite":
        _keep_open(engine)
        sa.event.listen(engine, "connect", _open_sqlite)
    elif engine.dialect.name == "mysql":
        sa.event.listen(engine, "connect", _open_mysql)
        if engine.dialect.driver == "pymysql":
            sa.event.listen(engine, "do_connect", _connect_to_mysql)
    else:
        if engine.dialect.driver == "psycopg2":
            sa.event.listen(engine, "do_connect", _connect_to_postgresql)
        sa.event.listen(engine, "connect", _open_postgresql)


def _keep_open(engine: Engine) -> None:
    """Keep the connections to a file of SQLite's, which oslo.db closes at the end of each transaction.

    With the last one that is closed all that was logged goes into the file, and the disk is waited for; the
    next one reads the schema again.  As many as are needed are opened: a reader waits for nobody who writes.
    """
    closing = engine.pool
    if isinstance(closing, sa.NullPool):
        engine.pool = sa.QueuePool(
            closing._creator,  # noqa: SLF001 - what oslo.db has made to open them has no other name
            pool_size=KEPT_OPEN,
            max_overflow=-1,
            dialect=engine.dialect,
            _dispatch=closing.dispatch,
        )


def _open_sqlite(connection: Any, _record: object) -> None:
    connection.execute("PRAGMA journal_mode = WAL")
    # As with a server: what a service is asked for by then is known, even if the power fails.
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA busy_timeout = 30000")


class _PyMySQL(pymysql.connections.Connection):
    """A connection that has not read again which authorities the host trusts, unless it is told to ask one.

    PyMySQL does so for each connection, to be ready to encrypt where nobody has said how, and
    checks no certificate then. With the authorities of a usual host it takes a tenth of a second, in which
    no other thread runs.
    """

    _ready_to_encrypt: ssl.SSLContext | None = None

    def _create_ssl_ctx(self, options: Mapping[str, Any]) -> ssl.SSLContext:
        if options:
            return self._made(options)
        if _PyMySQL._ready_to_encrypt is None:
            _PyMySQL._ready_to_encrypt = self._made(options)
        return _PyMySQL._ready_to_encrypt

    def _made(self, options: Mapping[str, Any]) -> ssl.SSLContext:
        context: ssl.SSLContext = super()._create_ssl_ctx(options)  # type: ignore[misc]  # no stub has it
        return context


def _connect_to_mysql(
    _dialect: object, _record: object, arguments: list[Any], options: dict[str, Any]
) -> Any:
    return _PyMySQL(*arguments, **options)


def _open_mysql(connection: Any, _record: object) -> None:
    is_mariadb = "MariaDB" in connection.get_server_info()
    limit, seconds = _limit_of_pauses(is_mariadb=is_mariadb)
    with connection.cursor() as cursor:
        cursor.execute("SET NAMES utf8mb4")  # or some characters are none, if the URL does not say so
        cursor.execute("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED")
        cursor.execute(f"SET SESSION {limit} = {seconds}")


def _limit_of_pauses(*, is_mariadb: bool) -> tuple[str, int]:
    # MySQL has none for transactions: there it is one for idle connections, which are not to go so soon.
    return ("idle_transaction_timeout", LONGEST_PAUSE) if is_mariadb else ("wait_timeout", LONGEST_IDLE)


def _connect_to_postgresql(
    _dialect: object, _record: object, _arguments: list[Any], options: dict[str, Any]
) -> None:
    options["connection_factory"] = PlainConnection


def _open_postgresql(connection: Any, _record: object) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"SET idle_in_transaction_session_timeout = '{LONGEST_PAUSE}s'")
        # A handful of rows is looked up by their keys, however small their table is still: by
        # the server's default, a page that an index leads to costs four times one that comes next.
        cursor.execute("SET random_page_cost = 1.1")
    connection.commit()  # or the end of the first transaction would take it back


@contextmanager
def apart(connection: Connection) -> Iterator[None]:
    """Let each statement be a transaction of its own, where one around them all costs round trips.

    For who only reads: at READ COMMITTED each statement sees what is committed by then, in one
    transaction or in several.  psycopg2 would ask the server to begin, and to roll back.
    """
    if connection.dialect.driver != "psycopg2":
        yield
        return
    raw: Any = connection.connection.driver_connection
    raw.autocommit = True
    try:
        yield
    finally:
        if not raw.closed:
            raw.autocommit = False


@contextmanager
def unhurried(connection: Connection, rows: int) -> Iterator[None]:
    """Let the server wait for longer, if what is done meanwhile is about so many rows."""
    if rows < MANY_ROWS or connection.dialect.name == "sqlite":
        yield
        return
    _allow(connection, LONGEST_PAUSE + rows * PAUSE_FOR_ROW)
    try:
        yield
    except Exception:
        if isinstance(
            connection.dialect, MySQLDialect
        ):  # where it is the connection's, and outlives the transaction
            _allow(connection, LONGEST_PAUSE)
        raise  # PostgreSQL takes it back with the transaction, and nothing else any more
    _allow(connection, LONGEST_PAUSE)


def _allow(connection: Connection, pause: float) -> None:
    dialect = connection.dialect
    if isinstance(dialect, MySQLDialect):
        limit, seconds = _limit_of_pauses(is_mariadb=dialect.is_mariadb)
        setting = f"SESSION {limit} = {max(pause, seconds):.0f}"
    else:
        setting = f"LOCAL idle_in_transaction_session_timeout = '{pause:.0f}s'"
    connection.execute(sa.text(f"SET {setting}"))
