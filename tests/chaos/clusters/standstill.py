# SPDX-License-Identifier: Apache-2.0
"""How long nothing ended although something was to be done."""

from __future__ import annotations

import threading
import time
from typing import Self

import sqlalchemy as sa

from heatconv.db.tables import event, stack
from heatconv.model.states import Status

LOOK = 0.25  #: seconds between two looks

_NOW = sa.select(
    sa.select(sa.func.count()).select_from(event).scalar_subquery(),
    sa.select(sa.func.count())
    .select_from(stack)
    .where(stack.c.status == Status.IN_PROGRESS)
    .scalar_subquery(),
)


class Standstill:
    """Looks at the events and the stacks under way, and says for how long no event came.

    While nobody can look, nothing ends either.  One thread of its own.
    """

    def __init__(self, database: sa.Engine) -> None:
        """Take an engine whose transactions end with each statement."""
        self.longest = 0.0  #: seconds
        self.longest_at = 0.0  #: seconds after the beginning when that was over
        self._database = database
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._stopping.set()
        self._thread.join()

    @property
    def line(self) -> str:
        """A line of a report."""
        return f"longest standstill {self.longest:.1f} s, over {self.longest_at:.0f} s after the beginning"

    def _watch(self) -> None:
        begun = moved = time.monotonic()
        seen = 0
        while not self._stopping.wait(LOOK):
            try:
                with self._database.connect() as connection:
                    events, going_on = connection.execute(_NOW).one()
            except sa.exc.DBAPIError:
                continue
            now = time.monotonic()
            if now - moved > self.longest:
                self.longest, self.longest_at = now - moved, now - begun
            if events != seen or not going_on:
                seen, moved = events, now
