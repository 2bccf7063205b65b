# SPDX-License-Identifier: Apache-2.0
"""Say, as metrics, how much there is to do in all and how late it is.

Every engine that has metrics does so, and all say the same.
"""

from __future__ import annotations

from heatconv import errors
from heatconv.db import surveys
from heatconv.db.plumbing.session import Database
from heatconv.metrics.declared import (
    BACKLOG,
    DAEMONS,
    LONGEST_ACTION,
    OBSERVATION_LATE,
    OLDEST_READY,
    OLDEST_TRAVERSAL,
)

EVERY = 10.0  #: seconds from a survey to the next

_OF_ALL = (OLDEST_READY, OLDEST_TRAVERSAL, LONGEST_ACTION, OBSERVATION_LATE, BACKLOG, DAEMONS)


class Surveyor:
    """Looks on behalf of one engine."""

    def __init__(self, database: Database, *, dead_after: float) -> None:
        """Keep what is handed in; ``dead_after``: seconds after which a silent daemon is dead."""
        self._database = database
        self._dead_after = dead_after

    def survey(self) -> None:
        """Look once; what is not known any more is not shown as if it were.

        Raises:
            StorageError: the database does not answer.
        """
        try:
            found = surveys.make(self._database, dead_after=self._dead_after)
        except errors.StorageError:
            for gauge in _OF_ALL:
                gauge.forget()
            raise
        OLDEST_READY.set(found.ready)
        OLDEST_TRAVERSAL.set(found.traversal)
        LONGEST_ACTION.set(found.action)
        OBSERVATION_LATE.set(found.observation)
        BACKLOG.set(found.backlog)
        DAEMONS.forget()  # or one of a kind that nobody is of any more would be there for good
        for (binary, lives), number in found.daemons.items():
            DAEMONS.set(number, binary=binary, alive="yes" if lives else "no")
