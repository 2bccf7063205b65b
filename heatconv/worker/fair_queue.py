# SPDX-License-Identifier: Apache-2.0
"""In which order a worker checks the nodes it was rung for: every tree of stacks has its turn.

A stack of a hundred thousand resources rings for thousands of nodes at once.  If
they were checked in the order in which they came, a stack of five that is
created meanwhile would have to wait for all of them.
"""

from __future__ import annotations

import threading
from collections import Counter, deque
from collections.abc import Sequence
from typing import NamedTuple

from heatconv.model.nodes import Node


class Check(NamedTuple):
    """Nodes that one thread checks: one, or a few that were rung for together."""

    stack_id: str
    traversal_id: str
    nodes: tuple[Node, ...]


class TakenCheck(NamedTuple):
    """A check that has a thread now, and the tree whose turn that is."""

    tree: str
    check: Check
    spare: bool  #: whether its thread is none of those that take turns


class Needed(NamedTuple):
    """What has to come for the nodes that were added."""

    threads: int  #: how many of those that take turns, each by calling ``take``
    spare: bool  #: whether one more, by ``take_of``: the tree has no other node here


class FairQueue:
    """Nodes that wait for a thread; of each tree in order, and of the trees one after the other.

    A thread comes for a turn when it is asked to by ``add`` or by the ``end`` of its last one, and is idle
    from when it is told that there is none.  However many nodes wait, no more threads are asked.

    Concurrency: any thread may call.
    """

    def __init__(self, threads: int) -> None:
        """Begin with so many idle threads."""
        self._lock = threading.Lock()
        self._waiting: dict[str, deque[Check]] = {}  # by tree, the one whose turn it is first
        self._running: Counter[str] = Counter()  # by tree, how many have a thread
        self._threads = threads
        self._idle = threads

    def add(self, tree: str, checks: Sequence[Check]) -> Needed:
        """Let nodes of a tree wait for its turn; tell who is to come for them."""
        with self._lock:
            first = tree not in self._waiting and tree not in self._running
            if checks:
                self._waiting.setdefault(tree, deque()).extend(checks)
            coming = min(len(checks), self._idle)
            self._idle -= coming
            return Needed(coming, spare=first)

    def take(self) -> TakenCheck | None:
        """Return whose turn it is, which waits no more; None if nobody waits: who asked is idle then."""
        with self._lock:
            if self._waiting:
                return self._take(next(iter(self._waiting)), spare=False)
            self._idle += 1
            return None

    def take_of(self, tree: str) -> TakenCheck | None:
        """Return the next check of a tree, out of turn and for a spare thread; None if none waits."""
        with self._lock:
            return self._take(tree, spare=True) if tree in self._waiting else None

    def _take(self, tree: str, *, spare: bool) -> TakenCheck:
        checks = self._waiting.pop(tree)
        check = checks.popleft()
        if checks:
            self._waiting[tree] = checks  # last now
        self._running[tree] += 1
        return TakenCheck(tree, check, spare)

    def end(self, turn: TakenCheck) -> bool:
        """Take note that a check needs its thread no more; tell whether that is to come for another."""
        with self._lock:
            self._running[turn.tree] -= 1
            if not self._running[turn.tree]:
                del self._running[turn.tree]
            if turn.spare:
                return False
            if not self._waiting:
                self._idle += 1
            return bool(self._waiting)

    def take_all(self) -> list[tuple[str, Check]]:
        """Return all that wait, and their trees; nobody waits any more."""
        with self._lock:
            all_of_them = [(tree, check) for tree, checks in self._waiting.items() for check in checks]
            self._waiting.clear()
            return all_of_them

    def keeps(self, tree: str) -> bool:
        """Tell whether a thread may stay with a tree, whose turn it then is before its time.

        It is, if no other tree waits: what was begun goes on before more is begun, so that
        what takes long in the end is under way soon.  Else if it is the tree's only thread, and there
        is one for each that waits.
        """
        with self._lock:
            if len(self._waiting) == (tree in self._waiting):
                return True
            return self._running[tree] == 1 and len(self._waiting) < self._threads

    def __bool__(self) -> bool:
        """Tell whether any waits."""
        return bool(self._waiting)

    def __len__(self) -> int:
        """Return how many wait; counts tree by tree."""
        with self._lock:
            return sum(len(check.nodes) for checks in self._waiting.values() for check in checks)
