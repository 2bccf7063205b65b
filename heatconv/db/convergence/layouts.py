# SPDX-License-Identifier: Apache-2.0
"""The graphs of traversals that begin, and their sync points: those of several stacks in one go."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from heatconv.db.convergence import sync_points
from heatconv.db.plumbing import bulk
from heatconv.db.plumbing.together import Writer
from heatconv.db.plumbing.types import dumps, utcnow
from heatconv.db.tables import graph_edge, sync_point
from heatconv.model.nodes import Node, NodeData
from heatconv.model.plan import Plan
from heatconv.model.states import SyncState

_ADD = bulk.Insert(
    sync_point,
    [column.name for column in sync_point.c if column.name != "ready_at"],
    same={"ready_at": utcnow()},
)
_ADD_EDGES = bulk.Insert(graph_edge, graph_edge.c.keys())


class Layout(NamedTuple):
    """A traversal of a stack, and its plan."""

    stack_id: str
    traversal_id: str
    plan: Plan


def lay_out(writer: Writer, layouts: Sequence[Layout], outputs: Mapping[str, NodeData]) -> None:
    """Write the graph of each plan, its sync points, and the ``outputs`` of clean rows, by their ids."""
    _ADD.execute(writer, [row for each in layouts for row in _points(each)])
    _ADD_EDGES.execute(writer, [row for each in layouts for row in _edges(each)])
    texts = {row_id: dumps(vars(data)) for row_id, data in outputs.items()}
    sync_points.GIVE.execute(writer, [row for each in layouts for row in _inputs(each, texts)])


def _points(layout: Layout) -> list[dict[str, Any]]:
    plan = layout.plan
    return [
        _common(layout, node)
        | {
            "acts_on": None if node in plan.joins else node.resource_id,
            "join_for": plan.joins[node].resource_id if node in plan.joins else None,
            "required": len(requires),
            "satisfied": 0,
            "state": SyncState.WAITING if requires else SyncState.READY,
            "atomic_key": 0,
        }
        for node, requires in sorted(plan.requires.items())
    ]


def _edges(layout: Layout) -> list[dict[str, Any]]:
    return [
        _common(layout, node)
        | {
            "needed_by_id": needed_by.resource_id,
            "needed_by_is_update": sync_points.is_update(needed_by),
        }
        for needed_by, requires in layout.plan.requires.items()
        for node in requires
    ]


def _inputs(layout: Layout, texts: Mapping[str, str]) -> list[dict[str, Any]]:
    return [
        _common(layout, node)
        | {
            "sender_id": sender.resource_id,
            "sender_is_update": sync_points.is_update(sender),
            "data": texts[sender.resource_id],
        }
        for node, sender in layout.plan.inputs
    ]


def _common(layout: Layout, node: Node) -> dict[str, Any]:
    return {
        "traversal_id": layout.traversal_id,
        "stack_id": layout.stack_id,
        "resource_id": node.resource_id,
        "is_update": sync_points.is_update(node),
    }
