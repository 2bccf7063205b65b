# SPDX-License-Identifier: Apache-2.0
"""How long the resources of a dead worker lie still, by the database's rows."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable
from typing import Any

import sqlalchemy as sa

from heatconv.db.tables import resource, sync_point
from heatconv.model.states import SyncState

LOOK = 0.1  #: seconds between two looks


class Takeovers:
    """Watches the rows that deaths leave behind; ``seconds`` has how long each of them lay still.

    Concurrency: a thread for each death; ``settle`` waits for all of them.
    """

    def __init__(self, database: sa.Engine) -> None:
        """Take an engine whose transactions end with each statement."""
        self.seconds: list[float] = []
        self._database = database
        self._watching: list[threading.Thread] = []

    def watch(self, engine_id: str) -> None:
        """Watch the rows of a worker that has died just now."""
        died = time.monotonic()
        self._watching.append(threading.Thread(target=self._watch, args=(engine_id, died), daemon=True))
        self._watching[-1].start()

    def settle(self) -> None:
        """Wait until everything that was left behind moves again."""
        for thread in self._watching:
            thread.join()

    def summary(self) -> str:
        """Return a line on the takeovers so far."""
        held, longest = len(self.seconds), max(self.seconds, default=0.0)
        return f"killed workers held {held} resources; one moved again after {longest:.1f} s at the most"

    def _watch(self, engine_id: str, died: float) -> None:
        left = self._scalars(sa.select(resource.c.id).where(resource.c.engine_id == engine_id))
        while left:
            still = self._scalars(_lying_still(left, engine_id))
            self.seconds += [time.monotonic() - died] * len(left - still)
            left = still
            time.sleep(LOOK)

    def _scalars(self, query: sa.Select[Any]) -> set[str]:
        while True:
            try:
                with self._database.connect() as connection:
                    return set(connection.scalars(query))
            except sa.exc.DBAPIError:
                time.sleep(LOOK)  # that misfortune is ours, too


def _lying_still(rows: Iterable[str], engine_id: str) -> sa.Select[Any]:
    """Select those of some rows that the dead holds, or that nobody has claimed since."""
    unclaimed = sa.and_(resource.c.engine_id.is_(None), sync_point.c.state == SyncState.READY)
    return (
        sa.select(resource.c.id)
        .select_from(resource.outerjoin(sync_point, sync_point.c.acts_on == resource.c.id))
        .where(resource.c.id.in_(rows), sa.or_(resource.c.engine_id == engine_id, unclaimed))
    )
