# SPDX-License-Identifier: Apache-2.0
"""The actions that a worker waits for, and what has happened to the rows they wait for."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator

from heatconv.worker.endings import Waiting

REMEMBERED = 120.0  #: seconds for which what came too early is remembered; looking at an action takes less


class Waits:
    """Actions by their row, found by whatever they wait for in a time that does not depend on how many.

    Concurrency: every method may be called from any thread; an action is taken by one.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: dict[str, Waiting] = {}
        self._watchers: dict[str, set[str]] = {}  # of a row: the rows whose actions wait for it
        self._woken: OrderedDict[str, float] = OrderedDict()  # rows by when, the longest ago first
        self._asked: OrderedDict[str, tuple[float, str | None]] = OrderedDict()  # likewise, and by whom

    def add(self, waiting: Waiting, began: float) -> bool:
        """Keep an action; tell whether what it waits for has happened since one began to look at it."""
        with self._lock:
            self._waiting[waiting.job.row.id] = waiting
            for watched in _watches(waiting):
                self._watchers.setdefault(watched, set()).add(waiting.job.row.id)
            return any(self._woken.get(watched, 0) >= began for watched in _watches(waiting))

    def take(self, row_id: str, fits: Callable[[Waiting], bool]) -> Waiting | None:
        """Take the action on a row, if there is one that fits."""
        with self._lock:
            waiting = self._waiting.get(row_id)
            if waiting is None or not fits(waiting):
                return None
            self._forget(waiting)
            return waiting

    def give_up(
        self, row_id: str, traversal_id: str | None, fits: Callable[[Waiting], bool]
    ) -> Waiting | None:
        """Take the action on a row, as ``take`` does; if there is none yet, note who asked for it."""
        now = time.monotonic()
        with self._lock:
            waiting = self._waiting.get(row_id)
            if waiting is None:
                self._asked.pop(row_id, None)
                self._asked[row_id] = now, traversal_id
                while now - next(iter(self._asked.values()))[0] > REMEMBERED:
                    self._asked.popitem(last=False)
                return None
            if not fits(waiting):
                return None
            self._forget(waiting)
            return waiting

    def asked_since(self, row_id: str, began: float) -> tuple[str | None] | None:
        """Return the traversal that asked for an action on a row while one looked at it, if any did."""
        with self._lock:
            asked_at, traversal_id = self._asked.pop(row_id, (0.0, None))
        return (traversal_id,) if asked_at >= began else None

    def count(self) -> int:
        """Return how many there are."""
        return len(self._waiting)

    def take_all(self) -> list[Waiting]:
        """Take every action."""
        with self._lock:
            taken = [*self._waiting.values()]
            self._waiting.clear()
            self._watchers.clear()
            return taken

    def wake(self, row_id: str) -> list[Waiting]:
        """Note that something happened to a row; return the actions that wait for that."""
        now = time.monotonic()
        with self._lock:
            self._woken.pop(row_id, None)
            self._woken[row_id] = now
            while now - next(iter(self._woken.values())) > REMEMBERED:
                self._woken.popitem(last=False)
            return [self._waiting[watcher] for watcher in self._watchers.get(row_id, ())]

    def _forget(self, waiting: Waiting) -> None:
        row_id = waiting.job.row.id
        del self._waiting[row_id]
        for watched in _watches(waiting):
            watchers = self._watchers.get(watched, set())
            watchers.discard(row_id)
            if not watchers:
                self._watchers.pop(watched, None)


def _watches(waiting: Waiting) -> Iterator[str]:
    """Yield the rows that an action may wait for something to happen to, its own included."""
    yield waiting.job.row.id
    yield from waiting.attempt.requires
