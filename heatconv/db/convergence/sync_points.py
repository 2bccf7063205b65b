# SPDX-License-Identifier: Apache-2.0
"""Sync points: how far each node of a traversal is, and what it was told.

The functions here are pieces of other modules' transactions, save for the reads.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from heatconv.db.plumbing import bulk
from heatconv.db.plumbing.prepared import Prepared
from heatconv.db.plumbing.session import reading
from heatconv.db.plumbing.together import Writer
from heatconv.db.plumbing.types import utcnow
from heatconv.db.tables import graph_edge, stack, sync_point, sync_point_input
from heatconv.model.nodes import Direction, Node
from heatconv.model.states import Phase, SyncState

T = TypeVar("T")

Key = tuple[str, str, bool]  #: of a sync point: traversal, resource, is it the update node
Ring = tuple[str, str, list[Node]]  #: stack, traversal, nodes that are to be rung for
KEY = (sync_point.c.traversal_id, sync_point.c.resource_id, sync_point.c.is_update)
#: Since when a node has been READY, or was rung for again, and what time it is, by the database's clock.
READY_SINCE = (sync_point.c.ready_at, utcnow().label("now"))


def seconds(since: datetime | None, now: datetime) -> float | None:
    """Return how long a node has been READY; None of one that never was."""
    return None if since is None else (now - since).total_seconds()


# The statements of every check are built once: building one costs more than sending it.


def some(table: sa.Table) -> sa.ColumnElement[bool]:
    """Return the WHERE that finds nodes by their keys.

    As rows: of traversals, resources and directions that are listed each for itself, a
    database tries every one with every other, or takes them for so many that it reads
    the whole table.
    """
    key = sa.tuple_(table.c.traversal_id, table.c.resource_id, table.c.is_update)
    return key.in_(sa.bindparam("keys", expanding=True))


_FORGET = [
    Prepared(sa.delete(table).where(table.c.stack_id.in_(sa.bindparam("forgotten", expanding=True))))
    for table in (sync_point, sync_point_input, graph_edge)
]
#: An ``INSERT`` of what nodes have to say to those that wait for them.
GIVE = bulk.Insert(sync_point_input, sync_point_input.c.keys(), dumped=["data"])


def is_update(node: Node) -> bool:
    """Spell a node's direction as the tables do."""
    return node.direction is Direction.UPDATE


def node_of(resource_id: str, *, update: bool) -> Node:
    """Return the node of the columns that spell it."""
    return Node(resource_id, Direction.UPDATE if update else Direction.CLEANUP)


def key_of(traversal_id: str, node: Node) -> sa.ColumnElement[bool]:
    """Return the WHERE that finds a node's sync point."""
    return sa.and_(
        sync_point.c.traversal_id == traversal_id,
        sync_point.c.resource_id == node.resource_id,
        sync_point.c.is_update == is_update(node),
    )


def forget(writer: Writer, *stack_ids: str) -> None:
    """Delete every graph, sync point and input that some stacks have."""
    for statement in _FORGET:
        writer.execute(statement, {"forgotten": stack_ids})


def is_ready(traversal_id: str, node: Node) -> sa.ColumnElement[bool]:
    """Return the condition that a node's sync point is READY."""
    return (
        sa.select(sync_point.c.state)
        .where(key_of(traversal_id, node), sync_point.c.state == SyncState.READY)
        .exists()
    )


#: Of nodes that are found by something else: an index of states has an entry for each time
#: that any node was READY until the database tidies up, and PostgreSQL takes these to be few.
_IS_READY = sa.func.coalesce(sync_point.c.state, "") == SyncState.READY


@reading
def ready_nodes(connection: Connection, resource_ids: Iterable[str]) -> list[Ring]:
    """Return (stack, traversal, nodes) of what is READY for rows in their stacks' current traversals.

    This is how whoever lets go of a row finds those that met its lock.
    """
    found = connection.execute(
        sa.select(sync_point)
        .join(stack, stack.c.current_traversal == sync_point.c.traversal_id)
        .where(sync_point.c.acts_on.in_(list(resource_ids)), _IS_READY)
    )
    rings: dict[tuple[str, str], list[Node]] = {}
    for row in found:
        nodes = rings.setdefault((row.stack_id, row.traversal_id), [])
        nodes.append(node_of(row.resource_id, update=row.is_update))
    return [(*traversal, nodes) for traversal, nodes in rings.items()]


@reading
def progress(
    connection: Connection, traversal_ids: Iterable[str], phase_of: Mapping[str, Phase]
) -> dict[str, tuple[int, int]]:
    """Return (done, total) nodes of the phase each traversal is in."""
    counts: dict[str, tuple[int, int]] = {}
    query = (
        sa.select(sync_point.c.traversal_id, sync_point.c.is_update, sync_point.c.state, sa.func.count())
        .where(
            sync_point.c.traversal_id.in_(list(traversal_ids)),
            sync_point.c.resource_id != sync_point.c.stack_id,
            sync_point.c.join_for.is_(None),
        )
        .group_by(sync_point.c.traversal_id, sync_point.c.is_update, sync_point.c.state)
    )
    for traversal_id, update, state, count in connection.execute(query):
        if update == (phase_of[traversal_id] is Phase.UPDATE):
            done, total = counts.get(traversal_id, (0, 0))
            counts[traversal_id] = done + (count if state == SyncState.DONE else 0), total + count
    return counts


def selections(keys: set[Key]) -> Iterator[dict[str, Any]]:
    """Yield what ``some`` is to find, in key order and in portions."""
    for some in portions(sorted(keys)):
        yield {"keys": some}


def portions(items: Sequence[T], size: int = 1000) -> Iterable[Sequence[T]]:
    """Cut a list so that no statement grows past what a database takes."""
    return (items[start : start + size] for start in range(0, len(items), size))
