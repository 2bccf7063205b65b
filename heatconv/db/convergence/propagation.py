# SPDX-License-Identifier: Apache-2.0
"""What a node that is done passes on: its successors count it in, and are told what it has to say.

The functions here are pieces of other modules' transactions.  A node is told at most
once by each sender, because the sender's own sync point becomes DONE in the same
transaction, and only once.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import sqlalchemy as sa
from oslo_db import exception as oslo_db_exception

from heatconv import errors
from heatconv.db.convergence import sync_points
from heatconv.db.convergence.sync_points import KEY, Key
from heatconv.db.plumbing import bulk
from heatconv.db.plumbing.prepared import Prepared
from heatconv.db.plumbing.together import Together
from heatconv.db.plumbing.types import dumps, utcnow
from heatconv.db.tables import graph_edge, sync_point
from heatconv.model.nodes import Node, NodeData
from heatconv.model.states import SyncState

# The statements of every check are built once: building one costs more than sending it.

_SENDER = sync_point.alias("sender")

_LOCK_SUCCESSORS = Prepared(
    sa.select(
        graph_edge.c.resource_id.label("sender_id"),
        graph_edge.c.is_update.label("sender_is_update"),
        # Not joined: PostgreSQL needs twice the time to plan three tables that it needs for two.
        sa.select(_SENDER.c.state)
        .where(
            _SENDER.c.traversal_id == graph_edge.c.traversal_id,
            _SENDER.c.resource_id == graph_edge.c.resource_id,
            _SENDER.c.is_update == graph_edge.c.is_update,
        )
        .scalar_subquery()
        .label("sender_state"),
        *(column for column in sync_point.c if column is not sync_point.c.ready_at),
    )
    .select_from(
        graph_edge.join(
            sync_point,
            sa.and_(
                # An expression, lest the one traversal that is asked for be looked up in either table for
                # itself: of one that has begun since PostgreSQL last looked at the tables it expects a row
                # in each, at the most, and then holds every edge against every sync point.
                sync_point.c.traversal_id == graph_edge.c.traversal_id + "",
                sync_point.c.resource_id == graph_edge.c.needed_by_id,
                sync_point.c.is_update == graph_edge.c.needed_by_is_update,
            ),
        )
    )
    .where(sync_points.some(graph_edge))
    .order_by(*KEY)
    .with_for_update(of=sync_point)
)

_PROPAGATED = bulk.Given(sync_point, ["state", "satisfied"], where=[column.name for column in KEY])
_PASS_ON = Prepared(
    sa.update(sync_point)
    .values(
        state=_PROPAGATED.c.state,
        ready_at=sa.case(
            (_PROPAGATED.c.state == SyncState.READY, utcnow()),
            (_PROPAGATED.c.state == SyncState.DONE, sync_point.c.ready_at),
        ),
        satisfied=sa.func.coalesce(_PROPAGATED.c.satisfied, sync_point.c.satisfied),
        atomic_key=sync_point.c.atomic_key + 1,
    )
    .where(*(column == _PROPAGATED.c[column.name] for column in KEY), sync_point.c.state != SyncState.DONE)
)


class Sender(NamedTuple):
    """A finished node, and what it has to say to those that wait for it."""

    stack_id: str
    traversal_id: str
    node: Node
    data: NodeData | None = None

    @property
    def key(self) -> Key:
        """The node's sync point."""
        return self.traversal_id, self.node.resource_id, sync_points.is_update(self.node)


class Propagation(NamedTuple):
    """What came of counting nodes in at their successors."""

    ready: dict[str, list[Node]]  #: by traversal, those that have all they wait for now
    inputs: dict[Key, list[str]]  #: by who it was given to, what it was told, as JSON


class Ahead(NamedTuple):
    """What comes after nodes that are READY: the edges, as sender and successor, and the successors."""

    edges: Sequence[tuple[Key, Key]]
    successors: Mapping[Key, Any]

    @property
    def senders(self) -> set[Key]:
        """The nodes; none is the last of its graph, for that is the stack's own."""
        return {sender for sender, _ in self.edges}


def look_ahead(writes: Together, senders: Iterable[Sender]) -> Ahead:
    """Return what comes after those nodes that are READY, and lock it until the transaction ends.

    What was left with ``writes`` is written before; if that cannot be, nothing is ahead.

    Concurrency: the successors are locked in key order, so two with common ones do
    not deadlock.  The nodes themselves are not locked: see ``pass_on``.
    """
    edges, successors = [], {}
    for some in sync_points.selections({sender.key for sender in senders}):
        for row in writes.read(_LOCK_SUCCESSORS, some):
            if row.sender_state != SyncState.READY:
                continue
            successor = _key_in(row)
            edges.append(((row.traversal_id, row.sender_id, bool(row.sender_is_update)), successor))
            successors[successor] = row
    return Ahead(edges, successors)


def propagate(senders: Sequence[Sender], ahead: Ahead, writes: Together) -> Propagation:
    """Mark nodes as done and count them in at what is ahead of them, which is locked, in one statement.

    Whoever has all it waits for now is READY.  What a node has to say is given
    to each resource whose update node waits for it, maybe behind a join.  What is to be
    written is left with ``writes``, for ``send``.

    Concurrency: WHERE key AND state is not DONE.  If a node is not READY any more,
    or gone, the transaction is rolled back and tried again on what is there now.
    What joins are for is locked after all joins, in key order too.
    """
    inputs = _give(writes, ahead.edges, {sender.key: sender for sender in senders}, ahead.successors)
    counts = Counter(successor for _, successor in ahead.edges)
    satisfied = {key: row.satisfied + counts[key] for key, row in ahead.successors.items()}
    full = {key: row for key, row in ahead.successors.items() if satisfied[key] >= row.required}
    _write(
        writes,
        [_written(sender.key, SyncState.DONE) for sender in senders]
        + [
            _written(key, SyncState.READY if key in full else SyncState.WAITING, count)
            for key, count in satisfied.items()
        ],
    )
    ready: dict[str, list[Node]] = defaultdict(list)
    joins = []
    for row in full.values():
        node = sync_points.node_of(row.resource_id, update=row.is_update)
        if row.join_for is None:
            ready[row.traversal_id].append(node)
        else:
            joins.append(Sender(row.stack_id, row.traversal_id, node))
    if joins:
        send(writes)  # the joins are looked at as they are now
        behind = propagate(joins, look_ahead(writes, joins), writes)
        for traversal_id, nodes in behind.ready.items():
            ready[traversal_id] += nodes
    return Propagation(ready, inputs)


def send(writes: Together, *, last: bool = False) -> None:
    """Write what ``propagate`` has left to be written; ``last`` is that of ``Together.send``.

    Raises:
        RetryRequest: a sync point was not as it was read; the transaction is tried again.
    """
    if not writes.send(last=last):
        raise oslo_db_exception.RetryRequest(errors.StaleWrite(entity="sync point"))


def _written(key: Key, state: SyncState, satisfied: int | None = None) -> dict[str, Any]:
    """Return what is written to a sync point; without ``satisfied`` that stays."""
    return {
        **{column.name: value for column, value in zip(KEY, key, strict=True)},
        "state": state,
        "satisfied": satisfied,
    }


def _write(writes: Together, points: Sequence[Mapping[str, Any]]) -> None:
    """Write to sync points, WHERE they are not DONE, which none of them may be."""
    for some in sync_points.portions(points, bulk.MOST):
        (parameters,) = _PROPAGATED.portions(writes, some)
        writes.execute(_PASS_ON, parameters, rows=len(some))


def _give(
    writes: Together,
    edges: Iterable[tuple[Key, Key]],
    sender_of: Mapping[Key, Sender],
    successors: Mapping[Key, Any],
) -> dict[Key, list[str]]:
    """Write what each node has to say for each resource that waits for it, maybe behind a join."""
    texts: dict[Key, str] = {}
    inputs: dict[tuple[str, Key], dict[str, Any]] = {}
    received: dict[Key, list[str]] = defaultdict(list)
    for key, successor in edges:
        sender, row = sender_of[key], successors[successor]
        receiver = row.join_for or row.resource_id
        if sender.data is None or not row.is_update or receiver == sender.stack_id:
            continue
        if key not in texts:
            texts[key] = dumps(vars(sender.data))
        if (receiver, key) not in inputs:
            received[sender.traversal_id, receiver, True].append(texts[key])
            inputs[receiver, key] = {
                "traversal_id": sender.traversal_id,
                "stack_id": sender.stack_id,
                "resource_id": receiver,
                "is_update": True,
                "sender_id": sender.node.resource_id,
                "sender_is_update": sync_points.is_update(sender.node),
                "data": texts[key],
            }
    sync_points.GIVE.execute(writes, [inputs[each] for each in sorted(inputs)])
    return received


def _key_in(row: Any) -> Key:
    return row.traversal_id, row.resource_id, bool(row.is_update)
