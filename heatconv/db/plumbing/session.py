# SPDX-License-Identifier: Apache-2.0
"""How a function of this package gets its transaction, and who retries it.

``@writing`` and ``@reading`` turn ``function(connection, ...)`` into
``function(database, ...)``, which runs in one transaction of its own; what only
reads may do so in one for each statement.  This is the one place where deadlocks
and lost connections are retried, around the whole function: what raced is decided
again on what is there now.
"""

from __future__ import annotations

import functools
import logging
import threading
from collections.abc import Callable
from datetime import datetime
from typing import Any, Concatenate, ParamSpec, TypeVar

import sqlalchemy as sa
from oslo_config import cfg
from oslo_db import api as oslo_db_api
from oslo_db import exception as oslo_db_exception
from oslo_db import options as oslo_db_options
from oslo_db.sqlalchemy import enginefacade
from sqlalchemy.dialects.postgresql.psycopg2 import EXECUTEMANY_VALUES_PLUS_BATCH
from sqlalchemy.engine import Connection, Engine

from heatconv import errors
from heatconv.crypto import Keyring
from heatconv.db.plumbing.clusters import cannot_serve, turn_away_as_needed, wait_for_the_cluster
from heatconv.db.plumbing.connections import apart, for_oslo_db, open_as_needed
from heatconv.db.plumbing.files import keep_private
from heatconv.db.plumbing.types import give_keyring, keyring_of, utcnow
from heatconv.metrics.declared import CONNECTIONS
from heatconv.metrics.transactions import Counted

LOG = logging.getLogger(__name__)

#: Connections of a process, unless the operator says otherwise.  64 threads that each
#: hold one for a millisecond share 16, and a server's default limit of 100 has room
#: for several daemons.  All that were needed once are kept: to open one again costs the
#: server more than many a transaction, and where one is closed that was too many, it is
#: opened again in the next moment.
_POOL = {"max_pool_size": 16, "max_overflow": 0}

#: The options of oslo.db that apply to enginefacade.
_OPTIONS = (
    "connection",
    "slave_connection",
    "mysql_sql_mode",
    "mysql_wsrep_sync_wait",
    "connection_recycle_time",
    "connection_debug",
    "connection_trace",
    "max_pool_size",
    "max_overflow",
    "pool_timeout",
    "max_retries",
    "retry_interval",
    "sqlite_synchronous",
)

_PLACES = ("connection", "slave_connection")  #: those of the options that are URLs

#: What a database can answer that is no fault of ours: oslo.db leaves some errors as they come.
_FAULTS = (oslo_db_exception.DBError, sa.exc.DBAPIError, sa.exc.TimeoutError)

P = ParamSpec("P")
R = TypeVar("R")


class Database:
    """A database, ready to run transactions; safe to share between threads."""

    #: How many groups of calls of a kind have their transactions at a time.  The threads of a
    #: process compute one at a time anyway; fewer groups are larger, and cost less.
    groups_abreast = 1

    def __init__(self, keyring: Keyring | None = None, **settings: Any) -> None:
        """Keep the settings, which are enginefacade's; nothing connects before the first use.

        Without a keyring, whatever would touch a user's secret raises ``NoKey``.
        """
        self._keyring = keyring
        self._facade = enginefacade.transaction_context()
        places = {name: for_oslo_db(settings[name]) for name in _PLACES if settings.get(name)}
        # Each time that a connection is given back, oslo.db has the thread pause, so that green threads take
        # turns.  While it waits for a server another one runs anyway; SQLite answers at once.
        pauses = str(settings.get("connection")).startswith("sqlite")
        configured = {**_POOL, "thread_checkin": pauses, **settings, **places}
        self._waits_as_asked = settings.get("mysql_wsrep_sync_wait") is not None
        self._facade.configure(**configured)
        #: how many connections this process opens at most
        self.most_connections: int = configured["max_pool_size"] + configured["max_overflow"]
        keep_private(settings.get("connection"))
        self._facade.append_on_engine_create(self._prepare_engine)
        self._mode = threading.local()
        self.groups: dict[object, Any] = {}  #: who shares transactions here, see ``group_commit``
        retry = oslo_db_api.wrap_db_retry(
            max_retries=20,
            retry_interval=0.05,
            inc_retry_interval=True,
            max_retry_interval=2,
            retry_on_disconnect=True,
            retry_on_deadlock=True,
            exception_checker=_is_worth_another_try,
            jitter=True,
        )
        self.read = retry(self._read)
        self.write = retry(self._write)

    @classmethod
    def from_conf(cls, conf: cfg.ConfigOpts, keyring: Keyring | None = None) -> Database:
        """Return the database of the ``[database]`` options, which are oslo.db's."""
        oslo_db_options.set_defaults(conf, **_POOL)
        return cls(keyring, **{name: conf.database[name] for name in _OPTIONS})

    @classmethod
    def from_url(cls, url: str, keyring: Keyring | None = None) -> Database:
        """Return the database at an SQLAlchemy URL."""
        return cls(keyring, connection=url)

    @property
    def keyring(self) -> Keyring:
        """What its sealed columns are encrypted with.

        Raises:
            NoKey: it was given no keyring.
        """
        return keyring_of(self.engine.dialect)

    @property
    def engine(self) -> Engine:
        """SQLAlchemy's engine, for migrations and for counting statements."""
        engine: Engine = self._facade.writer.get_engine()
        return engine

    def close(self) -> None:
        """Close every connection."""
        self._facade.dispose_pool()

    def _read(self, function: Callable[[Connection], Any]) -> Any:
        self._mode.writes = False
        engine = self._facade.reader.get_engine()
        try:
            with Counted("read", _outcome), engine.connect() as connection, apart(connection):
                return function(connection)
        except Exception as error:
            _log_if_lost(error)
            raise

    def _write(self, function: Callable[[Connection], Any]) -> Any:
        try:
            return self._write_once(function)
        except oslo_db_exception.DBDuplicateEntry:
            # Another, or a try of this whose answer was lost, has committed a row that could not be seen
            # before.  Now it can.
            return self._write_once(function)

    def _write_once(self, function: Callable[[Connection], Any]) -> Any:
        self._mode.writes = True
        try:
            with Counted("write", _outcome), self.engine.begin() as connection:
                return function(connection)
        except Exception as error:
            _log_if_lost(error)
            raise

    def _prepare_engine(self, engine: Engine) -> None:
        # A ping before each transaction would cost a round trip; a lost connection
        # shows in the first statement, and the transaction is retried.
        engine.pool._pre_ping = False  # noqa: SLF001 - oslo.db offers no option for it
        engine.dispose()  # of connections that were opened before this hook
        engine.hide_parameters = True  # from errors and logs, whatever oslo.db is asked to log
        if self._keyring is not None:
            give_keyring(engine.dialect, self._keyring)
        open_as_needed(engine)
        turn_away_as_needed(engine)
        if engine.dialect.name == "mysql" and not self._waits_as_asked:
            sa.event.listen(engine, "connect", lambda connection, _record: wait_for_the_cluster(connection))
        sa.event.listen(engine, "connect", lambda *_: CONNECTIONS.add())
        if engine.dialect.name == "sqlite":
            sa.event.listen(engine, "before_cursor_execute", self._begin_sqlite, retval=True)
        elif engine.dialect.name == "postgresql":
            # Lists of keys are joined as tables then, which is planned well whatever their number.
            engine.dialect.tuple_in_values = True
            # Of many updates send as many as fit in one go; nobody asks how many rows each has met.
            setattr(engine.dialect, "executemany_mode", EXECUTEMANY_VALUES_PLUS_BATCH)  # noqa: B010 - of psycopg2's

    def _begin_sqlite(
        self, connection: Connection, cursor: Any, statement: str, parameters: Any, *rest: Any
    ) -> tuple[str, Any]:
        # oslo.db sends a plain BEGIN.  A writer has to take its lock at once: one that
        # began to read first may not get it later.
        if statement == "BEGIN" and getattr(self._mode, "writes", True):
            statement = "BEGIN IMMEDIATE"
        return statement, parameters


def _is_worth_another_try(error: BaseException) -> bool:
    """Tell whether an error came before or after all statements, or of a server that cannot serve.

    oslo.db knows older servers' texts only for that they could not be connected to, and none of these.
    """
    error = getattr(error, "inner_exception", None) or error
    if not isinstance(error, sa.exc.DBAPIError):
        return False
    return error.statement is None or cannot_serve(error.orig)


def _outcome(error: BaseException) -> str:
    """Return what a transaction counts as that an exception has ended."""
    match error:
        case oslo_db_exception.DBDeadlock():
            return "deadlock"
        case oslo_db_exception.DBConnectionError():
            return "disconnected"
        case _ if _is_worth_another_try(error):
            return "disconnected"
        case _:
            return "error" if isinstance(error, _FAULTS) else "undone"


def _log_if_lost(error: Exception) -> None:
    if _outcome(error) == "disconnected":
        LOG.warning(
            "A transaction has lost the database, and is tried again for a while: %s", _reason_of(error)
        )


class Undo(Exception):
    """Raised in a ``@writing`` function to roll back and return ``result`` all the same."""

    def __init__(self, result: Any) -> None:
        super().__init__()
        self.result = result


def _reason_of(error: Exception) -> str:
    """Return what the server said, in one line: the statement and its values are for the log."""
    wrapped = getattr(error, "inner_exception", None) or error
    said = getattr(wrapped, "orig", None) or wrapped
    words = str(said.args[-1] if said.args else said).strip()
    return words.splitlines()[0] if words else type(said).__name__


def reading(
    function: Callable[Concatenate[Connection, P], R],
) -> Callable[Concatenate[Database, P], R]:
    """Run a function that writes nothing, and of whose statements each may see more than the one before."""

    def run(database: Database, /, *args: P.args, **kwargs: P.kwargs) -> R:
        try:
            result: R = database.read(lambda connection: function(connection, *args, **kwargs))
        except _FAULTS as error:
            raise errors.StorageError(reason=_reason_of(error)) from error
        return result

    return functools.update_wrapper(run, function)


def writing(
    function: Callable[Concatenate[Connection, P], R],
) -> Callable[Concatenate[Database, P], R]:
    """Run a function in a transaction of its own; an exception rolls it back."""

    def run(database: Database, /, *args: P.args, **kwargs: P.kwargs) -> R:
        try:
            result: R = database.write(lambda connection: function(connection, *args, **kwargs))
        except Undo as undo:
            result = undo.result
        except _FAULTS as error:
            raise errors.StorageError(reason=_reason_of(error)) from error
        return result

    return functools.update_wrapper(run, function)


def clock(connection: Connection) -> datetime:
    """Return what time it is by the database's clock, in UTC."""
    now: datetime = connection.execute(sa.select(utcnow())).scalar_one()
    return now
