# SPDX-License-Identifier: Apache-2.0
"""In which order a worker checks the nodes it was rung for: every tree of stacks has its turn.

A stack of a hundred thousand resources rings for thousands of nodes at once.  If
they were checked in the order in which they came, a stack of five that is
created meanwhile would have to wait for all of them.
"""

from __future__ import annotations

import threading
from collections import Counter, deque
from collections.abc import Iterable
from typing import NamedTuple

from heatconv.model.nodes import Node

Check = tuple[str, str, Node]  #: stack, traversal, node


class Turn(NamedTuple):
    """A check that has a thread now, and the tree whose turn that is."""

    tree: str
    check: Check


class Turns:
    """Nodes that wait for a thread; of each tree in order, and of the trees one after the other.

    Concurrency: any thread may call.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: dict[str, deque[Check]] = {}  # by tree, the one whose turn it is first
        self._running: Counter[str] = Counter()  # by tree, how many have a thread

    def add(self, tree: str, checks: Iterable[Check]) -> bool:
        """Let nodes of a tree wait for its turn; tell whether it has no other here."""
        with self._lock:
            first = tree not in self._waiting and tree not in self._running
            for check in checks:
                self._waiting.setdefault(tree, deque()).append(check)
            return first

    def take(self) -> Turn | None:
        """Return whose turn it is, which waits no more; None if nobody waits."""
        with self._lock:
            return self._take(next(iter(self._waiting))) if self._waiting else None

    def take_of(self, tree: str) -> Turn | None:
        """Return the next check of a tree, out of turn; None if none waits."""
        with self._lock:
            return self._take(tree) if tree in self._waiting else None

    def _take(self, tree: str) -> Turn:
        checks = self._waiting.pop(tree)
        check = checks.popleft()
        if checks:
            self._waiting[tree] = checks  # last now
        self._running[tree] += 1
        return Turn(tree, check)

    def end(self, turn: Turn) -> None:
        """Take note that a check needs its thread no more."""
        with self._lock:
            self._running[turn.tree] -= 1
            if not self._running[turn.tree]:
                del self._running[turn.tree]

    def keeps(self, tree: str, threads: int) -> bool:
        """Tell whether a tree's only thread may stay with it: of so many there is one for each that waits."""
        with self._lock:
            return self._running[tree] == 1 and len(self._waiting) < threads

    def __bool__(self) -> bool:
        """Tell whether any waits."""
        return bool(self._waiting)

    def __len__(self) -> int:
        """Return how many wait; counts tree by tree."""
        with self._lock:
            return sum(map(len, self._waiting.values()))
