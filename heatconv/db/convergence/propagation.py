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
from heatconv.db.convergence import ahead, sync_points
from heatconv.db.convergence.ahead import Ahead
from heatconv.db.convergence.sync_points import KEY, Key
from heatconv.db.plumbing import bulk
from heatconv.db.plumbing.prepared import Prepared
from heatconv.db.plumbing.together import Together
from heatconv.db.plumbing.types import dumps, utcnow
from heatconv.db.tables import sync_point
from heatconv.model.nodes import Node, NodeData
from heatconv.model.records import ResourceRow
from heatconv.model.states import SyncState

# The statements of every check are built once: building one costs more than sending it.

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
    free: Mapping[str, ResourceRow] | None  #: those of their rows that are locked; None: none was asked for


def propagate(senders: Sequence[Sender], found: Ahead, writes: Together) -> Propagation:
    """Mark nodes as done and count them in at what is ahead of them, in one statement.

    Whoever has all it waits for now is READY, save those that are done themselves.  What a node
    has to say is given to each other resource whose update node waits for it, maybe behind a join.
    What is to be written is left with ``writes``, for ``send``.

    Args:
        senders: the nodes.
        found: what ``ahead.look`` has found of them, and locked.
        writes: takes what is to be written.

    Concurrency: WHERE key AND state is not DONE.  If a node is not READY any more,
    or gone, the transaction is rolled back and tried again on what is there now.
    What joins are for is locked after all joins, in key order too.
    """
    inputs = _give(writes, found.edges, {sender.key: sender for sender in senders}, found.successors)
    counts = Counter(successor for _, successor in found.edges)
    satisfied = {key: row.satisfied + counts[key] for key, row in found.successors.items()}
    done = {sender.key: satisfied.pop(sender.key, None) for sender in senders}
    full = {
        key: found.successors[key]
        for key, count in satisfied.items()
        if count >= found.successors[key].required
    }
    _write(
        writes,
        [_written(key, SyncState.DONE, count) for key, count in done.items()]
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
        behind = propagate(joins, ahead.look(writes, {join.key for join in joins}), writes)
        for traversal_id, nodes in behind.ready.items():
            ready[traversal_id] += nodes
    return Propagation(ready, inputs, found.free if not joins else None)


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
    """Write what each node has to say for each resource that waits for it, maybe behind a join.

    One that is done itself has heard it.
    """
    texts: dict[Key, str] = {}
    inputs: dict[tuple[str, Key], dict[str, Any]] = {}
    received: dict[Key, list[str]] = defaultdict(list)
    for key, successor in edges:
        sender, row = sender_of[key], successors[successor]
        receiver = row.join_for or row.resource_id
        if sender.data is None or not row.is_update or receiver == sender.stack_id:
            continue
        if (sender.traversal_id, receiver, True) in sender_of:
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
