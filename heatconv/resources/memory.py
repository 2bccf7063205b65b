# SPDX-License-Identifier: Apache-2.0
"""What was found to be true, for a while."""

from __future__ import annotations

import threading
import time
from collections.abc import Hashable

LIMIT = 10_000  #: how much is remembered at most


class Memory:
    """Things that were so lately; safe to share between threads."""

    def __init__(self, seconds: float) -> None:
        """Remember each thing for so many seconds."""
        self._seconds = seconds
        self._until: dict[Hashable, float] = {}
        self._lock = threading.Lock()

    def knows(self, what: Hashable) -> bool:
        """Tell whether something was so lately."""
        return self._until.get(what, 0.0) > time.monotonic()

    def add(self, what: Hashable) -> None:
        """Remember that something is so."""
        now = time.monotonic()
        with self._lock:
            if len(self._until) >= LIMIT:
                self._until = {each: until for each, until in self._until.items() if until > now}
            if len(self._until) < LIMIT:
                self._until[what] = now + self._seconds
