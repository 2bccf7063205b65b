# SPDX-License-Identifier: Apache-2.0
"""Sync points: how far each node of a traversal is, and what it was told.

The functions here are pieces of other modules' transactions, save for the
reads.  A node is told at most once by each sender, because the sender's own
sync point becomes DONE in the same transaction, and only once.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any, NamedTuple, TypeVar

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from heatconv.db.session import reading
from heatconv.db.tables import graph_edge, stack, sync_point, sync_point_input
from heatconv.db.types import utcnow
from heatconv.model.nodes import Direction, Node, NodeData
from heatconv.model.plan import Plan
from heatconv.model.states import Phase, SyncState

T = TypeVar("T")

Key = tuple[str, str, bool]  #: of a sync point: traversal, resource, is it the update node
KEY = (sync_point.c.traversal_id, sync_point.c.resource_id, sync_point.c.is_update)


# The statements of every check are built once: building one costs more than sending it.

_ONE = sa.and_(
    sync_point.c.traversal_id == sa.bindparam("key_traversal"),
    sync_point.c.resource_id == sa.bindparam("key_resource"),
    sync_point.c.is_update == sa.bindparam("key_is_update"),
)

_FINISH = (
    sa.update(sync_point)
    .where(_ONE, sync_point.c.state == SyncState.READY)
    .values(state=SyncState.DONE, atomic_key=sync_point.c.atomic_key + 1)
)

_TO_SUCCESSOR = graph_edge.join(
    sync_point,
    sa.and_(
        sync_point.c.traversal_id == graph_edge.c.traversal_id,
        sync_point.c.resource_id == graph_edge.c.needed_by_id,
        sync_point.c.is_update == graph_edge.c.needed_by_is_update,
    ),
)

_LOCK_SUCCESSORS = (
    sa.select(
        sync_point.c.resource_id,
        sync_point.c.is_update,
        sync_point.c.join_for,
        sync_point.c.required,
        sync_point.c.satisfied,
    )
    .select_from(_TO_SUCCESSOR)
    .where(
        graph_edge.c.traversal_id == sa.bindparam("key_traversal"),
        graph_edge.c.resource_id == sa.bindparam("key_resource"),
        graph_edge.c.is_update == sa.bindparam("key_is_update"),
    )
    .order_by(sync_point.c.resource_id, sync_point.c.is_update)
    .with_for_update(of=sync_point)
)

_FULL = sync_point.c.satisfied + 1 >= sync_point.c.required

# In this order: MySQL and MariaDB assign from left to right, and read what they have assigned.
_COUNT_IN = sa.update(sync_point).ordered_values(
    (sync_point.c.state, sa.case((_FULL, SyncState.READY), else_=SyncState.WAITING)),
    (sync_point.c.ready_at, sa.case((_FULL, utcnow()), else_=sa.null())),
    (sync_point.c.satisfied, sync_point.c.satisfied + 1),
    (sync_point.c.atomic_key, sync_point.c.atomic_key + 1),
)
_COUNT_IN_ONE = _COUNT_IN.where(_ONE)
_COUNT_IN_MANY = _COUNT_IN.where(
    sync_point.c.traversal_id == sa.bindparam("key_traversal"),
    sync_point.c.resource_id.in_(sa.bindparam("key_ids", expanding=True)),
    sync_point.c.is_update == sa.bindparam("key_is_update"),
)


def some(table: sa.Table) -> sa.ColumnElement[bool]:
    """Return the WHERE that finds nodes by their keys.

    As rows: of traversals, resources and directions that are listed each for itself, a
    database tries every one with every other, or takes them for so many that it reads
    the whole table.
    """
    key = sa.tuple_(table.c.traversal_id, table.c.resource_id, table.c.is_update)
    return key.in_(sa.bindparam("keys", expanding=True))


_LOCK_READY = (
    sa.select(*KEY)
    .where(some(sync_point), sync_point.c.state == SyncState.READY)
    .order_by(sync_point.c.traversal_id, sync_point.c.resource_id)
    .with_for_update(skip_locked=True)
)

_FINISH_SOME = (
    sa.update(sync_point)
    .where(some(sync_point))
    .values(state=SyncState.DONE, atomic_key=sync_point.c.atomic_key + 1)
)

_LOCK_SUCCESSORS_OF_SOME = (
    sa.select(
        graph_edge.c.resource_id.label("sender_id"),
        graph_edge.c.is_update.label("sender_is_update"),
        *(column for column in sync_point.c if column is not sync_point.c.ready_at),
    )
    .select_from(_TO_SUCCESSOR)
    .where(some(graph_edge))
    .order_by(*KEY)
    .with_for_update(of=sync_point)
)

_FULL_NOW = sync_point.c.satisfied + sa.bindparam("senders", type_=sa.Integer) >= sync_point.c.required

_COUNT_SOME_IN = (
    sa.update(sync_point)
    .ordered_values(
        (sync_point.c.state, sa.case((_FULL_NOW, SyncState.READY), else_=SyncState.WAITING)),
        (sync_point.c.ready_at, sa.case((_FULL_NOW, utcnow()), else_=sa.null())),
        (sync_point.c.satisfied, sync_point.c.satisfied + sa.bindparam("senders", type_=sa.Integer)),
        (sync_point.c.atomic_key, sync_point.c.atomic_key + 1),
    )
    .where(some(sync_point))
)


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


def forget(connection: Connection, stack_id: str) -> None:
    """Delete every graph, sync point and input that a stack has."""
    for table in (sync_point, sync_point_input, graph_edge):
        connection.execute(sa.delete(table).where(table.c.stack_id == stack_id))


def lay_out(
    connection: Connection, stack_id: str, traversal_id: str, plan: Plan, told: Mapping[str, NodeData]
) -> None:
    """Write the graph of a plan, its sync points, and what clean rows have ``told``, by their ids."""
    common = {"traversal_id": traversal_id, "stack_id": stack_id}
    _insert(
        connection,
        sync_point,
        (
            common
            | _columns(node)
            | {
                "acts_on": None if node in plan.joins else node.resource_id,
                "join_for": plan.joins[node].resource_id if node in plan.joins else None,
                "required": len(requires),
                "satisfied": 0,
                "state": SyncState.WAITING if requires else SyncState.READY,
                "atomic_key": 0,
            }
            for node, requires in sorted(plan.requires.items())
        ),
        ready_at=utcnow(),
    )
    _insert(
        connection,
        graph_edge,
        (
            common
            | _columns(node)
            | {"needed_by_id": needed_by.resource_id, "needed_by_is_update": is_update(needed_by)}
            for needed_by, requires in plan.requires.items()
            for node in requires
        ),
    )
    _insert(
        connection,
        sync_point_input,
        (
            common
            | _columns(node)
            | {
                "sender_id": sender.resource_id,
                "sender_is_update": is_update(sender),
                "data": asdict(told[sender.resource_id]),
            }
            for node, sender in plan.inputs
        ),
    )


def try_finish(connection: Connection, traversal_id: str, node: Node) -> bool:
    """Mark a node as done, WHERE key AND state = READY; False: its traversal is gone, or it was done."""
    return connection.execute(_FINISH, _key(traversal_id, node)).rowcount == 1


class Sender(NamedTuple):
    """A finished node, and what it has to say to those that wait for it."""

    stack_id: str
    traversal_id: str
    node: Node
    data: NodeData | None = None

    @property
    def key(self) -> Key:
        """The node's sync point."""
        return self.traversal_id, self.node.resource_id, is_update(self.node)


def lock_ready(connection: Connection, senders: Iterable[Sender]) -> set[Key]:
    """Lock the sync points of nodes until the transaction ends; return the keys of those that are READY.

    One that another transaction has locked right now is left out, not waited for.
    """
    found: set[Key] = set()
    for some in selections({sender.key for sender in senders}):
        found.update(_key_in(row) for row in connection.execute(_LOCK_READY, some))
    return found


def finish_all(connection: Connection, senders: Sequence[Sender]) -> dict[str, list[Node]]:
    """Mark nodes that ``lock_ready`` found READY as done, and count them in at their successors.

    Returns the successors that have all they wait for now, which are READY, by
    traversal.  Rows are locked in the same order as ``tell_successors`` has.
    """
    for some in selections({sender.key for sender in senders}):
        connection.execute(_FINISH_SOME, some)
    sender_of = {sender.key: sender for sender in senders}
    edges, successors = _lock_successors_of(connection, sender_of)
    _give_all(connection, edges, sender_of, successors)
    counts = Counter(successor for _, successor in edges)
    for count in sorted(set(counts.values())):
        for some in selections({key for key in counts if counts[key] == count}):
            connection.execute(_COUNT_SOME_IN, {**some, "senders": count})

    ready: dict[str, list[Node]] = defaultdict(list)
    joins = []
    for key, row in successors.items():
        if row.satisfied + counts[key] < row.required:
            continue
        full = node_of(row.resource_id, update=row.is_update)
        if row.join_for is None:
            ready[row.traversal_id].append(full)
        else:
            joins.append(Sender(row.stack_id, row.traversal_id, full))
    if joins:
        for traversal_id, nodes in finish_all(connection, joins).items():
            ready[traversal_id] += nodes
    return ready


def _lock_successors_of(
    connection: Connection, senders: Iterable[Key]
) -> tuple[list[tuple[Key, Key]], dict[Key, Any]]:
    """Lock the successors of some nodes; return the edges to them, as sender and successor, and them."""
    edges, successors = [], {}
    for some in selections(set(senders)):
        for row in connection.execute(_LOCK_SUCCESSORS_OF_SOME, some):
            successor = _key_in(row)
            edges.append(((row.traversal_id, row.sender_id, bool(row.sender_is_update)), successor))
            successors[successor] = row
    return edges, successors


def _give_all(
    connection: Connection,
    edges: Iterable[tuple[Key, Key]],
    sender_of: Mapping[Key, Sender],
    successors: Mapping[Key, Any],
) -> None:
    """Write what each node has to say for each resource that waits for it, maybe behind a join."""
    told: dict[tuple[str, Key], dict[str, Any]] = {}
    for key, successor in edges:
        sender, row = sender_of[key], successors[successor]
        receiver = row.join_for or row.resource_id
        if sender.data is not None and row.is_update and receiver != sender.stack_id:
            told[receiver, key] = {
                "traversal_id": sender.traversal_id,
                "stack_id": sender.stack_id,
                "resource_id": receiver,
                "is_update": True,
                "sender_id": sender.node.resource_id,
                "sender_is_update": is_update(sender.node),
                "data": asdict(sender.data),
            }
    _insert(connection, sync_point_input, (told[each] for each in sorted(told)))


def tell_successors(
    connection: Connection, stack_id: str, traversal_id: str, node: Node, data: NodeData | None
) -> tuple[list[Node], int]:
    """Count a finished node in at each of its successors.

    Returns the successors that have all they wait for now, which are READY,
    and how many successors there are.  ``data`` is given to the update nodes of
    resources.  Their rows are locked in key order, and those that joins are for
    after all joins, in key order too: so two nodes with common successors do
    not deadlock.
    """
    successors = _lock_successors(connection, traversal_id, node)
    if data is not None:
        _give(connection, stack_id, traversal_id, node, data, successors)
    for some in portions(successors):
        _count_in(connection, traversal_id, some)
    ready, joins = [], []
    for row in successors:
        if row.satisfied + 1 < row.required:
            continue
        full = node_of(row.resource_id, update=row.is_update)
        if row.join_for is None:
            ready.append(full)
        elif try_finish(connection, traversal_id, full):
            joins.append((row.join_for, full))
    for _, join in sorted(joins):
        ready += tell_successors(connection, stack_id, traversal_id, join, None)[0]
    return ready, len(successors)


def _lock_successors(connection: Connection, traversal_id: str, node: Node) -> Sequence[Any]:
    return connection.execute(_LOCK_SUCCESSORS, _key(traversal_id, node)).all()


def _give(
    connection: Connection,
    stack_id: str,
    traversal_id: str,
    node: Node,
    data: NodeData,
    successors: Sequence[Any],
) -> None:
    """Write what a node has to say for each resource that waits for it."""
    receivers = {row.join_for or row.resource_id for row in successors if row.is_update} - {stack_id}
    common = {
        "traversal_id": traversal_id,
        "stack_id": stack_id,
        "sender_id": node.resource_id,
        "sender_is_update": is_update(node),
        "data": asdict(data),
    }
    _insert(
        connection,
        sync_point_input,
        (common | {"resource_id": receiver, "is_update": True} for receiver in sorted(receivers)),
    )


def _count_in(connection: Connection, traversal_id: str, successors: Sequence[Any]) -> None:
    """Add one to what some nodes have been told, and mark those that are full as READY."""
    for side in (True, False):
        ids = [row.resource_id for row in successors if bool(row.is_update) is side]
        if len(ids) == 1:
            connection.execute(_COUNT_IN_ONE, _key(traversal_id, node_of(ids[0], update=side)))
        elif ids:
            connection.execute(
                _COUNT_IN_MANY, {"key_traversal": traversal_id, "key_ids": ids, "key_is_update": side}
            )


@reading
def ready_nodes(connection: Connection, resource_id: str) -> tuple[str, str, list[Node]] | None:
    """Return (stack, traversal, nodes) that are READY for a row in its stack's current traversal.

    This is how whoever lets go of a row finds those that met its lock.
    """
    found = connection.execute(
        sa.select(sync_point)
        .join(stack, stack.c.current_traversal == sync_point.c.traversal_id)
        .where(sync_point.c.acts_on == resource_id, sync_point.c.state == SyncState.READY)
    ).all()
    if not found:
        return None
    nodes = [node_of(row.resource_id, update=row.is_update) for row in found]
    return found[0].stack_id, found[0].traversal_id, nodes


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


def _key(traversal_id: str, node: Node) -> dict[str, Any]:
    return {
        "key_traversal": traversal_id,
        "key_resource": node.resource_id,
        "key_is_update": is_update(node),
    }


def _key_in(row: Any) -> Key:
    return row.traversal_id, row.resource_id, bool(row.is_update)


def selections(keys: set[Key]) -> Iterator[dict[str, Any]]:
    """Yield what ``some`` is to find, in key order and in portions."""
    for some in portions(sorted(keys)):
        yield {"keys": some}


def _columns(node: Node) -> dict[str, Any]:
    return {"resource_id": node.resource_id, "is_update": is_update(node)}


def _insert(
    connection: Connection, table: sa.Table, values: Iterable[Mapping[str, Any]], **computed: Any
) -> None:
    """Insert many rows in few statements."""
    for some in portions(list(values)):
        connection.execute(sa.insert(table).values(computed) if computed else sa.insert(table), some)


def portions(items: Sequence[T], size: int = 1000) -> Iterable[Sequence[T]]:
    """Cut a list so that no statement grows past what a database takes."""
    return (items[start : start + size] for start in range(0, len(items), size))
