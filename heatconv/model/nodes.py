# SPDX-License-Identifier: Apache-2.0
"""The nodes of a traversal's graph, and the data that flows along its edges."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple


class Direction(StrEnum):
    """Which of a resource's two nodes: making it so, or clearing it away."""

    UPDATE = "UPDATE"
    CLEANUP = "CLEANUP"


class Node(NamedTuple):
    """One unit of work: a resource row and a direction; a tuple, because graphs hash it by the thousand.

    The stack has nodes of its own, whose ``resource_id`` is the stack's id:
    UPDATE is reached when every update node is done and opens the way to the
    cleanup nodes; CLEANUP is reached when those are done too.
    """

    resource_id: str
    direction: Direction

    def __str__(self) -> str:
        return f"{self.resource_id}/{self.direction}"


@dataclass(frozen=True, kw_only=True)
class NodeData:
    """What a converged resource tells those that depend on it.

    ``attributes`` is keyed by ``heatconv.model.deferred.Reference.key`` and
    holds just the attributes that some definition or output refers to.
    """

    name: str
    resource_id: str
    reference_id: str | None = None
    attributes: Mapping[str, Any] = field(default_factory=dict)
    output_version: int = 0
    secrets: tuple[str, ...] = ()  #: texts in what is told that must not be shown
