# SPDX-License-Identifier: Apache-2.0
"""Requests that are held: no answer is sent, and no thread is with them, until they are answered anew."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable

from heatconv.api.watch import Wait


class Held(BaseException):
    """A request is held; no error, and for the server alone."""


class Holds:
    """The requests of a server that are held, as many as may be; safe between threads."""

    def __init__(self, most: int, most_of_address: int) -> None:
        """Take how many connections may have a request that is held, in all and of one address."""
        self._most = most
        self._most_of_address = most_of_address
        self._held: set[Hold] = set()
        self._addresses: Counter[str] = Counter()
        self._closed = False
        self._lock = threading.Lock()

    def try_add(self, hold: Hold) -> bool:
        """Add a hold, if there is a place for it."""
        with self._lock:
            free = len(self._held) < self._most and self._addresses[hold.address] < self._most_of_address
            if free and not self._closed:
                self._held.add(hold)
                self._addresses[hold.address] += 1
            return free and not self._closed

    def remove(self, hold: Hold) -> None:
        """Give the place of a hold to others."""
        with self._lock:
            self._held.discard(hold)
            self._addresses -= Counter({hold.address: 1})  # which forgets an address that has none left

    def close(self) -> None:
        """Have every request answered, and hold none any more."""
        with self._lock:
            self._closed = True
            held = tuple(self._held)
        for each in held:
            each.end()


def _nothing() -> None:
    """Do nothing."""


class Hold:
    """What can be done with a request, a ``heatconv.api.watch.Hold``.

    Concurrency: the thread that would have answered goes, and somebody ends the hold, in any order; the
    request is answered anew when both have happened.  Who has ended it is called when there is an answer,
    which may be that it is held again.
    """

    def __init__(
        self, holds: Holds, address: str, is_connected: Callable[[], bool], answer: Callable[[], None]
    ) -> None:
        """Take where the request comes from, whether its client is there, and what has it answered."""
        self.wait: Wait | None = None
        self.address = address
        self._holds = holds
        self._is_connected = is_connected
        self._answer = answer
        self._lock = threading.Lock()
        self._lacking: set[str] = set()
        self._then: Callable[[], None] = _nothing

    @property
    def is_in_vain(self) -> bool:
        """Whether the client has gone."""
        return not self._is_connected()

    @property
    def is_begun(self) -> bool:
        """Whether the request is not to be answered now."""
        return bool(self._lacking)

    def try_begin(self) -> bool:
        """Keep the answer that is about to be given, if there is a place for it."""
        self.note_answered()
        self._lacking = {"thread", "end"}
        if not self._holds.try_add(self):
            self._lacking = set()
        return self.is_begun

    def leave(self) -> None:
        """Note that the thread has gone."""
        self._note("thread")

    def end(self, then: Callable[[], None] = _nothing) -> None:
        """Have the request answered anew, and then call something."""
        self._then = then
        self._note("end")

    def note_answered(self) -> None:
        """Note that there is an answer, and call whoever is to know."""
        then, self._then = self._then, _nothing
        then()

    def _note(self, happened: str) -> None:
        with self._lock:
            if happened not in self._lacking:
                return
            self._lacking.discard(happened)
            if self._lacking:
                return
        self._holds.remove(self)
        self._answer()
