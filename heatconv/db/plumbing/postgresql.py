# SPDX-License-Identifier: Apache-2.0
"""Connections to PostgreSQL whose transactions begin with their first statement.

psycopg2 asks the server to begin, and waits for the answer, before it sends the first statement: a
round trip of five that a short transaction takes, in which both sides fall asleep and wake up.
"""

from __future__ import annotations

from typing import Any

import psycopg2
import psycopg2.extensions
from psycopg2.extensions import ISOLATION_LEVEL_AUTOCOMMIT


class PlainConnection(psycopg2.extensions.connection):
    """A connection that leaves beginning to its cursors, and ends what they have begun.

    For one thread at a time, as any connection.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.set_session(autocommit=True)  # by which psycopg2 itself begins nothing, whatever is asked below
        self.begun = False  #: whether a transaction is open
        self._is_apart = False

    @property
    def autocommit(self) -> bool:
        """Whether each statement is a transaction of its own."""
        return self._is_apart

    @autocommit.setter
    def autocommit(self, is_apart: bool) -> None:
        if self.begun:
            raise psycopg2.ProgrammingError("a transaction is open")
        self._is_apart = is_apart

    def set_isolation_level(self, level: int | None) -> None:
        """Have each statement be a transaction of its own, or not: SQLAlchemy sets ``autocommit`` by it.

        For other levels than the server's default nobody asks.
        """
        self.autocommit = level == ISOLATION_LEVEL_AUTOCOMMIT

    def cursor(self, *arguments: Any, **options: Any) -> Any:
        """Return a cursor."""
        options.setdefault("cursor_factory", PlainCursor)
        return super().cursor(*arguments, **options)

    def commit(self) -> None:
        """Commit what was done since the last end, if anything was."""
        self._end("COMMIT")

    def rollback(self) -> None:
        """Undo what was done since the last end, if anything was."""
        self._end("ROLLBACK")

    def _end(self, how: str) -> None:
        if self.closed:
            raise psycopg2.InterfaceError("connection already closed")
        if self.begun:
            with super().cursor() as cursor:
                cursor.execute(how)
            self.begun = False


class PlainCursor(psycopg2.extensions.cursor):
    """A cursor that begins a transaction along with its first statement, and may end it with its last."""

    connection: PlainConnection
    alone = False  #: whether its statement is a transaction of its own, unless one is open
    last = False  #: whether its statement, a text then, also commits the transaction, and tells nothing

    def execute(self, query: Any, vars: Any = None) -> None:
        """Send a statement."""
        if self.last and self.connection.begun:
            super().execute(f"{query};COMMIT", vars)
            self.connection.begun = False
        elif self.last or self.alone or not self._begins():
            super().execute(query, vars)
        else:  # psycopg2 itself sends many rows as bytes
            super().execute(b"BEGIN;" + query if isinstance(query, bytes) else f"BEGIN;{query}", vars)

    def executemany(self, query: Any, vars_list: Any) -> None:
        """Send a statement several times."""
        if self._begins():
            super().execute("BEGIN")
        super().executemany(query, vars_list)

    def _begins(self) -> bool:
        """Tell whether a transaction begins here; it has then, whatever comes of it."""
        connection = self.connection
        if connection.begun or connection.autocommit:
            return False
        connection.begun = True  # to end what was not begun does no harm
        return True
