# SPDX-License-Identifier: Apache-2.0
"""A directed acyclic graph of requirements.  It knows nothing of resources."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import Generic, TypeVar

T = TypeVar("T", bound=Hashable)


class CycleError(ValueError):
    """The graph has a cycle; ``members`` are the nodes that lie on one or behind one."""

    def __init__(self, members: Iterable[object]) -> None:
        self.members = list(members)
        super().__init__(f"cycle among {self.members}")


class Dag(Generic[T]):
    """Nodes, and for each the nodes it requires."""

    def __init__(self) -> None:
        self._requires: dict[T, set[T]] = {}
        self._needed_by: dict[T, set[T]] = {}

    def add(self, node: T, *requires: T) -> None:
        """Add a node, and requirements of it."""
        for member in (node, *requires):
            self._requires.setdefault(member, set())
            self._needed_by.setdefault(member, set())
        self._requires[node].update(requires)
        for requirement in requires:
            self._needed_by[requirement].add(node)

    def __contains__(self, node: T) -> bool:
        return node in self._requires

    def __iter__(self) -> Iterator[T]:
        return iter(self._requires)

    def __len__(self) -> int:
        return len(self._requires)

    def requires(self, node: T) -> frozenset[T]:
        """The nodes that must come before this one."""
        return frozenset(self._requires[node])

    def leaves(self) -> list[T]:
        """The nodes that require nothing."""
        return [node for node, requires in self._requires.items() if not requires]

    def roots(self) -> list[T]:
        """The nodes that nothing requires."""
        return [node for node, needed_by in self._needed_by.items() if not needed_by]


def in_dependency_order(requires: Mapping[T, Iterable[T]]) -> list[T]:
    """Return the keys so that each comes after what it requires (Kahn, 1962; linear).

    Requirements that are not keys themselves are ignored.

    Raises:
        CycleError: no such order exists.
    """
    needs_of = (
        (node, {needed for needed in needs if needed in requires})
        for node, needs in requires.items()
        if needs
    )
    waiting = {node: needs for node, needs in needs_of if needs}
    needed_by: defaultdict[T, list[T]] = defaultdict(list)
    for node, needs in waiting.items():
        for needed in needs:
            needed_by[needed].append(node)
    ready = deque(node for node in requires if node not in waiting)
    order: list[T] = []
    while ready:
        node = ready.popleft()
        order.append(node)
        for successor in needed_by.get(node, ()):
            waiting[successor].discard(node)
            if not waiting[successor]:
                ready.append(successor)
    if len(order) < len(requires):
        raise CycleError(node for node, needs in waiting.items() if needs)
    return order
