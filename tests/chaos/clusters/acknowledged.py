# SPDX-License-Identifier: Apache-2.0
"""Does a database keep what it has acknowledged?  One that does not can be the cause of anything."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import closing
from typing import Any

import psycopg2

PAUSE = 0.02  #: seconds from one commit to the next


class Acknowledged:
    """Commits one number after the other, and knows which of them the database acknowledged.

    One thread of its own.
    """

    def __init__(self, connect: Callable[[], Any]) -> None:
        """Take what connects to whichever server takes writes."""
        self._connect = connect
        self._acknowledged: set[int] = set()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._commit, daemon=True)

    def start(self) -> None:
        """Begin to commit."""
        with closing(self._connect()) as connection, connection, connection.cursor() as cursor:
            cursor.execute("CREATE TABLE acknowledged (number INTEGER PRIMARY KEY)")
        self._thread.start()

    def stop(self) -> None:
        """Commit no more."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join()

    @property
    def line(self) -> str:
        """A line of a report."""
        return f"{len(self.lost())} of {len(self._acknowledged)} acknowledged commits lost by the database"

    def lost(self) -> set[int]:
        """Return which numbers were acknowledged and are not there."""
        acknowledged = set(self._acknowledged)
        with closing(self._connect()) as connection, connection.cursor() as cursor:
            cursor.execute("SELECT number FROM acknowledged")
            return acknowledged - {number for (number,) in cursor.fetchall()}

    def _commit(self) -> None:
        number = 0
        while not self._stopping.wait(PAUSE):
            try:
                with closing(self._connect()) as connection:
                    while not self._stopping.wait(PAUSE):
                        number += 1
                        with connection, connection.cursor() as cursor:
                            cursor.execute("INSERT INTO acknowledged VALUES (%s)", [number])
                        self._acknowledged.add(number)
            except psycopg2.Error:
                continue  # a number that is not acknowledged may be there or not
