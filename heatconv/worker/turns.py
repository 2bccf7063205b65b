# SPDX-License-Identifier: Apache-2.0
"""In which order a worker checks the nodes it was rung for: every stack has its turn.

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
    """Nodes that wait for a thread; of each stack in order, and of the stacks one after the other.

    Concurrency: any thread may call.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: dict[str, deque[Check]] = {}  # by stack, the one whose turn it is first

    def add(self, checks: Iterable[Check]) -> None:
        """Let nodes wait for their turn."""
        with self._lock:
            for check in checks:
                self._waiting.setdefault(check[0], deque()).append(check)

    def take(self) -> Check | None:
        """Return whose turn it is, which waits no more; None if nobody waits."""
        with self._lock:
            for stack_id in self._waiting:
                checks = self._waiting.pop(stack_id)
                check = checks.popleft()
                if checks:
                    self._waiting[stack_id] = checks  # last now
                return check
        return None

    def __bool__(self) -> bool:
        """Tell whether any waits."""
        return bool(self._waiting)

    def __len__(self) -> int:
        """Return how many wait; counts stack by stack."""
        with self._lock:
            return sum(map(len, self._waiting.values()))
