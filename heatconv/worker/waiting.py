# SPDX-License-Identifier: Apache-2.0
"""The waiting room: what is not finished waits in a heap, not in a thread."""

from __future__ import annotations

import heapq
import itertools
import threading
import time
from collections.abc import Callable

LONGEST = 86_400.0  #: seconds until anybody is called


class WaitingRoom:
    """Calls functions when they are due, on somebody else's pool.

    Concurrency: any thread may call; one thread of its own watches the heap.
    """

    def __init__(self, submit: Callable[[Callable[[], None]], object]) -> None:
        """Keep what is handed in: ``submit`` runs a function on the pool and returns at once."""
        self._submit = submit
        self._heap: list[tuple[float, int, Callable[[], None]]] = []
        self._order = itertools.count()
        self._changed = threading.Condition()
        self._open = True
        self._thread = threading.Thread(target=self._watch, name="waiting-room", daemon=True)
        self._thread.start()

    def call_later(self, seconds: float, function: Callable[[], None]) -> None:
        """Call a function on the pool once some seconds have passed; nothing if the room is closed.

        After a day at the latest, whatever number it is, or none: it may come from a template.
        """
        due = time.monotonic() + (min(LONGEST, seconds))
        with self._changed:
            first = not self._heap or due < self._heap[0][0]
            heapq.heappush(self._heap, (due, next(self._order), function))
            if first:
                self._changed.notify()

    def close(self) -> None:
        """Call nothing any more."""
        with self._changed:
            self._open = False
            self._changed.notify()
        self._thread.join()

    def _watch(self) -> None:
        while True:
            with self._changed:
                while self._open and not self._is_due():
                    self._changed.wait(self._until_due())
                if not self._open:
                    return
                due = [heapq.heappop(self._heap)[2] for _ in range(len(self._heap)) if self._is_due()]
            for function in due:
                self._submit(function)

    def _is_due(self) -> bool:
        return bool(self._heap) and self._heap[0][0] <= time.monotonic()

    def _until_due(self) -> float | None:
        return max(0.0, self._heap[0][0] - time.monotonic()) if self._heap else None
