# SPDX-License-Identifier: Apache-2.0
"""Counts of what was sent: of a process, or of one that another process watches."""

from __future__ import annotations

import mmap
import threading
from collections import Counter
from pathlib import Path
from typing import Protocol

BY_CLOCK = "statements_by_clock"  #: which of the statements daemons send whatever they are asked for
COUNTED = ("statements", "commits", "messages", BY_CLOCK)


class Counts(Protocol):
    """Where things are counted."""

    def add(self, what: str, count: int = 1) -> None:
        """Count something."""


class Tally:
    """Counts of what was sent since it was last taken; safe between threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: Counter[str] = Counter()

    def add(self, what: str, count: int = 1) -> None:
        """Count something."""
        with self._lock:
            self._counts[what] += count

    def take(self) -> Counter[str]:
        """Return the counts and start anew."""
        with self._lock:
            counts, self._counts = self._counts, Counter()
        return counts


class SharedTally:
    """Counts in a file: one process counts, others look.  They only grow."""

    def __init__(self, path: Path) -> None:
        size = 8 * len(COUNTED)
        if not path.exists():
            path.write_bytes(bytes(size))
        with path.open("r+b") as file:
            self._cells = memoryview(mmap.mmap(file.fileno(), size)).cast("Q")
        self._lock = threading.Lock()

    def add(self, what: str, count: int = 1) -> None:
        """Count something."""
        with self._lock:
            self._cells[COUNTED.index(what)] += count

    def read(self) -> Counter[str]:
        """Return the counts up to now."""
        return Counter(dict(zip(COUNTED, self._cells, strict=True)))
