# SPDX-License-Identifier: Apache-2.0
"""The turnstile in front of a fake cloud's mutating operations.

It counts those that arrive and those that are done, and lets pass as many as
a test allows, so that an interruption can be placed exactly: "after three
operations, and with the rest on their way".  What an operation does is the
cloud's business.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Protocol


class GateClosed(Exception):
    """The gate was torn down while the operation waited at it."""


class Monitor(AbstractContextManager[Any, Any], Protocol):
    """What a gate needs of a ``threading.Condition``; a simulator hands in its own."""

    def wait_for(self, predicate: Callable[[], bool], timeout: float | None = None) -> bool:
        """Return once the predicate holds (True) or the time is up (False)."""

    def notify_all(self) -> None:
        """Make those that wait look again."""


class Gate:
    """A counting gate; open until told otherwise.

    Concurrency: every method may be called from any thread.
    """

    def __init__(self, monitor: Monitor | None = None) -> None:
        self.arrived = 0  #: mutating operations that came to the gate, ever
        self.done = 0  #: those that passed it and are over, ever
        self._passed = 0
        self._limit: int | None = None
        self._closed = False
        self._changed: Monitor = monitor or threading.Condition()

    def hold_after(self, count: int) -> None:
        """Let ``count`` operations pass from now on, and hold the rest."""
        with self._changed:
            self._limit = self._passed + count
            self._changed.notify_all()

    def release(self) -> None:
        """Let everything pass."""
        with self._changed:
            self._limit = None
            self._changed.notify_all()

    def close(self) -> None:
        """Turn away whoever waits or comes: the cloud behind is gone."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def wait_for(self, count: int, timeout: float, *, done: bool = False) -> bool:
        """Wait until ``count`` operations in total have arrived (or are done); tell whether they have."""
        with self._changed:
            return self._changed.wait_for(lambda: (self.done if done else self.arrived) >= count, timeout)

    @contextmanager
    def passage(self) -> Iterator[None]:
        """Wait for leave to pass; the operation is done when the block ends.

        Raises:
            GateClosed: the gate was torn down.
        """
        with self._changed:
            self.arrived += 1
            self._changed.notify_all()
            self._changed.wait_for(self._may_pass)
            if self._closed:
                raise GateClosed
            self._passed += 1
        try:
            yield
        finally:
            with self._changed:
                self.done += 1
                self._changed.notify_all()

    def _may_pass(self) -> bool:
        return self._closed or self._limit is None or self._passed < self._limit
