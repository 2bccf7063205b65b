# SPDX-License-Identifier: Apache-2.0
"""A doorbell that nobody hears: what is rung for is noted."""

from __future__ import annotations

from collections.abc import Sequence

from heatconv.model.nodes import Node

Ring = tuple[str, str, Node]  #: stack, traversal, node


class NotedDoorbell:
    """A doorbell that only notes who it was rung for; safe between threads."""

    def __init__(self) -> None:
        self.rung: list[Ring] = []
        self.rollbacks: list[str] = []
        self.preempted: list[tuple[str, str, str | None]] = []
        self.woken: list[tuple[str, str | None]] = []  #: rows, and the worker that was told, if one alone

    def ring(self, stack_id: str, traversal_id: str, nodes: Sequence[Node], _tree: str | None = None) -> None:
        """Note the nodes that were rung for."""
        self.rung += [(stack_id, traversal_id, node) for node in nodes]

    def roll_back(self, stack_id: str) -> None:
        """Note a stack that waits for its rollback."""
        self.rollbacks.append(stack_id)

    def wake(self, resource_id: str, engine_id: str | None = None) -> None:
        """Note a row that something happened to."""
        self.woken.append((resource_id, engine_id))

    def preempt(self, engine_id: str, resource_id: str, traversal_id: str | None = None) -> None:
        """Note a row whose action is to be given up."""
        self.preempted.append((engine_id, resource_id, traversal_id))

    def take(self) -> list[Ring]:
        """Return what was rung for and forget it."""
        rung, self.rung = self.rung, []
        return rung
