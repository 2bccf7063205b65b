# SPDX-License-Identifier: Apache-2.0
"""One answer for all who ask for the same at the same moment: read once, and made into a text once."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from dataclasses import dataclass, field

from heatconv.api.call import Answer


@dataclass(eq=False)
class _Reading:
    """An answer that is being read, or was a moment ago."""

    until: float  #: by ``time.monotonic``; it is given to nobody who asks later
    answer: Future[Answer] = field(default_factory=Future)


class Shared:
    """The answers that were read a moment ago.

    Concurrency: safe between threads.  Who asks for what somebody else is reading waits for that.
    """

    def __init__(self, seconds: float) -> None:
        """Take for how long an answer counts, from when it began to be read."""
        self._seconds = seconds
        self._readings: dict[Hashable, _Reading] = {}  #: the oldest first
        self._lock = threading.Lock()

    def get(self, key: Hashable, read: Callable[[], Answer]) -> Answer:
        """Return the answer that a key stands for, read now if there is none.

        An error is that of all who wait for the same reading, and of nobody after them.

        Raises:
            HeatconvError: whatever reading it raises.
        """
        with self._lock:
            self._drop()
            reading = self._readings.get(key)
            if is_first := reading is None:
                reading = self._readings[key] = _Reading(time.monotonic() + self._seconds)
        if is_first:
            try:
                reading.answer.set_result(read())
            except BaseException as error:
                with self._lock:
                    self._readings.pop(key, None)
                reading.answer.set_exception(error)
                raise
        return reading.answer.result()

    def _drop(self) -> None:
        now = time.monotonic()
        for key, reading in list(self._readings.items()):
            if reading.until > now:
                break
            del self._readings[key]
