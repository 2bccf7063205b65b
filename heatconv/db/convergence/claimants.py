# SPDX-License-Identifier: Apache-2.0
"""Who claims rows, and which locks are whose when an answer of the database was lost."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple
from weakref import WeakValueDictionary

from heatconv.db.convergence import sync_points
from heatconv.model.nodes import Node
from heatconv.model.records import Job, ResourceRow
from heatconv.model.steps import Step

Decide = Callable[[Job], Step]


class Claimants:
    """Those who claim rows for one worker, and which of them took a lock last, as long as it is about."""

    def __init__(self, engine_id: str, *, dead_after: float, decide: Decide) -> None:
        """Keep what is handed in.

        Args:
            engine_id: the worker's.
            dead_after: seconds without a heartbeat after which a lock's holder is dead.
            decide: what step is taken; a pure function that runs inside the transaction.
        """
        self.engine_id = engine_id
        self.dead_after = dead_after
        self.decide = decide
        self.last: WeakValueDictionary[tuple[str, str | None, int], Claimant] = WeakValueDictionary()

    def claimant(self, spare_capacity: int = 1) -> Claimant:
        """Return one more; ``spare_capacity``: how many nodes it may claim that one end makes ready."""
        return Claimant(self, spare_capacity)


class Claimant:
    """Who claims one node, in as many tries as it takes.

    The answer to a commit can be lost: whoever tries again finds the lock that
    it took itself; whoever gives up has to give back what it may hold.

    Concurrency: two claims of one worker can try for the same row, and a lock
    that was rolled back looks like the next one taken.  That one counts: it was
    taken of a row that was free.
    """

    def __init__(self, worker: Claimants, spare_capacity: int) -> None:
        self.worker = worker
        self.spare_capacity = spare_capacity
        self._taken: list[ResourceRow] = []

    def take(self, row: ResourceRow) -> None:
        """Remember a lock, which counts if its transaction does."""
        self._taken.append(row)
        self.worker.last[_lock(row)] = self

    def may_hold(self, row: ResourceRow) -> bool:
        """Tell whether a row that is locked is locked by this claim."""
        return self.worker.last.get(_lock(row)) is self

    @property
    def taken(self) -> list[ResourceRow]:
        """The rows that it may hold."""
        return [row for row in self._taken if self.may_hold(row)]


def _lock(row: ResourceRow) -> tuple[str, str | None, int]:
    return row.id, row.engine_id, row.atomic_key


class Ask(NamedTuple):
    """Who claims which node."""

    traversal_id: str
    node: Node
    claimant: Claimant
    tree: str  #: the stack at the root of those that the node's is in, as far as is known

    @property
    def key(self) -> sync_points.Key:
        """The node's sync point."""
        return self.traversal_id, self.node.resource_id, sync_points.is_update(self.node)
