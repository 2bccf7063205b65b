# SPDX-License-Identifier: Apache-2.0
"""Purge by the clock: drop what nobody needs, and stacks that were deleted long enough ago.

Every engine runs the tick, and one of them has the turn.  It holds up nobody: it has a thread of its
own, rests after each transaction, and whoever dies in the middle is gone on from by the next one.
"""

from __future__ import annotations

import logging
import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from heatconv.db.plumbing.session import Database
from heatconv.db.purging import deleted_stacks, leftovers, pace, turn

LOG = logging.getLogger(__name__)

LOOK = 10.0  #: seconds between two looks of an engine whether a purge is due
LEASE = 60.0  #: seconds, after each transaction, until the turn of an engine that died is another's


@dataclass(frozen=True, kw_only=True)
class Retention:
    """How long things stay that nobody needs."""

    deleted_stacks: float | None = None  #: seconds; None: for ever
    every: float = 600.0  #: seconds from the end of one purge to the next


FOREVER = Retention()


class Purging:
    """The purges of one engine."""

    def __init__(self, database: Database, retention: Retention, *, keep_events: int) -> None:
        """Keep what is handed in; ``keep_events``: how many of a stack's events stay, all if negative."""
        self._database = database
        self._retention = retention
        self._keep_events = keep_events
        self._stopping = threading.Event()

    def stop(self) -> None:
        """Begin nothing new: a purge under way is left to another engine."""
        self._stopping.set()

    def tick(self) -> None:
        """Purge, if a purge is due and no other engine is at it."""
        if self._stopping.is_set():
            return
        claim = turn.try_take(self._database, lease=LEASE)
        if claim is None:
            return
        for _ in pace.unhurried(self._purge(), self._stopping.wait):
            if self._stopping.is_set():
                turn.try_end(self._database, claim, again_in=0)
                return
            if not turn.try_keep(self._database, claim, seconds=LEASE):
                LOG.warning("another engine purges: this one was away for more than %d s", LEASE)
                return
        turn.try_end(self._database, claim, again_in=self._retention.every)

    def _purge(self) -> Iterator[object]:
        """Yield after each transaction."""
        rows: Counter[str] = Counter()
        for rows in leftovers.sweep(self._database, keep_events=self._keep_events):
            yield rows
        if rows:
            counted = ", ".join(f"{count} of {table}" for table, count in sorted(rows.items()))
            LOG.info("rows dropped that nobody needs: %s", counted)
        if self._retention.deleted_stacks is None:
            return
        for progress in deleted_stacks.purge(self._database, older_than=self._retention.deleted_stacks):
            yield progress
        if progress.stacks:
            LOG.info("%s", progress)
