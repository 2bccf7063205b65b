# SPDX-License-Identifier: Apache-2.0
"""How engines and workers tell each other that there is something to do; ``bus.Bell`` does it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from heatconv.model.nodes import Node


class Doorbell(Protocol):
    """How a worker tells others that there is something to do; nothing it rings may matter."""

    def ring(
        self, stack_id: str, traversal_id: str, nodes: Sequence[Node], tree: str | None = None, /
    ) -> None:
        """Ask some worker to check each node; ``tree`` is the root of the stack's tree, if known."""

    def roll_back(self, stack_id: str) -> None:
        """Ask some engine to prepare the rollback that a stack waits for."""

    def wake(self, resource_id: str, engine_id: str | None = None) -> None:
        """Tell a worker, or all, that something happened to a row: whoever waits for that looks at once."""

    def preempt(self, engine_id: str, resource_id: str, traversal_id: str | None = None) -> None:
        """Ask the worker that waits for an action on a row to give it up: see ``HeldRows.give_up``."""
