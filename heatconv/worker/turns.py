# SPDX-License-Identifier: Apache-2.0
"""In which order a worker checks the nodes it was rung for: every tree of stacks has its turn.

A stack of a hundred thousand resources rings for thousands of nodes at once.  If
they were checked in the order in which they came, a stack of five that is
created meanwhile would have to wait for all of them.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable

from heatconv.model.nodes import Node

Check = tuple[str, str, Node]  #: stack, traversal, node


class Turns:
    """Nodes that wait for a thread; of each tree in order, and of the trees one after the other.

    Concurrency: any thread may call.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: dict[str, deque[Check]] = {}  # by tree, the one whose turn it is first

    def add(self, tree: str, checks: Iterable[Check]) -> None:
        """Let nodes of a tree wait for its turn."""
        with self._lock:
            self._waiting.setdefault(tree, deque()).extend(checks)

    def take(self) -> Check | None:
        """Return whose turn it is, which waits no more; None if nobody waits."""
        with self._lock:
            for tree in self._waiting:
                checks = self._waiting.pop(tree)
                check = checks.popleft()
                if checks:
                    self._waiting[tree] = checks  # last now
                return check
        return None

    def __bool__(self) -> bool:
        """Tell whether any waits."""
        return bool(self._waiting)

    def __len__(self) -> int:
        """Return how many wait; counts tree by tree."""
        with self._lock:
            return sum(map(len, self._waiting.values()))
