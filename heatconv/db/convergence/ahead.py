# SPDX-License-Identifier: Apache-2.0
"""Looking at what comes after nodes that are done: the sync points of their successors, and maybe their rows.

The functions here are pieces of other modules' transactions.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any, NamedTuple

import sqlalchemy as sa

from heatconv.db import rows
from heatconv.db.convergence import sync_points
from heatconv.db.convergence.sync_points import KEY, Key
from heatconv.db.plumbing.prepared import Prepared
from heatconv.db.plumbing.together import Together
from heatconv.db.tables import graph_edge, resource, sync_point
from heatconv.model.records import ResourceRow
from heatconv.model.states import SyncState

# The statements of every check are built once: building one costs more than sending it.

_SENDER = sync_point.alias("sender")

_SUCCESSORS = (
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
_LOCK = Prepared(_SUCCESSORS)

# As PostgreSQL can: what waits for nobody is asked for along with what is waited for.
_AHEAD = _SUCCESSORS.cte("ahead")
_EACH = _AHEAD.alias("each_ahead")
_FREE = (
    sa.select(resource)
    .where(
        resource.c.id == _AHEAD.c.resource_id,
        _AHEAD.c.sender_state == SyncState.READY,
        _AHEAD.c.satisfied + 1 >= _AHEAD.c.required,
        # They are counted first, so that all of them are locked before the first of the rows.
        sa.select(sa.func.count()).select_from(_EACH).scalar_subquery()
        <= sa.bindparam("rows", type_=sa.Integer),
    )
    .with_for_update(skip_locked=True)
    .lateral("free")
)
_LOCK_WITH_ROWS = Prepared(
    sa.select(*_AHEAD.c, *(column.label(f"free_{column.name}") for column in _FREE.c)).select_from(
        _AHEAD.outerjoin(_FREE, sa.true())
    )
)
_FREE_NAMES = [(column.name, f"free_{column.name}") for column in resource.c]


class Ahead(NamedTuple):
    """What comes after nodes that are READY, or become so by the ends of others of them."""

    edges: Sequence[tuple[Key, Key]]  #: as sender and successor
    successors: Mapping[Key, Any]  #: their sync points, which are locked
    #: By their ids, those rows of the successors that were free to be locked; None: they were not asked for.
    free: Mapping[str, ResourceRow] | None

    @property
    def senders(self) -> set[Key]:
        """The nodes; none is the last of its graph, for that is the stack's own."""
        return {sender for sender, _ in self.edges}


def look(writes: Together, senders: set[Key], *, rows_too: int = 0) -> Ahead:
    """Return what comes after those nodes that are READY, and lock it until the transaction ends.

    So does what comes after those that become READY by the ends of others of them.  What was left with
    ``writes`` is written before; if that cannot be, nothing is ahead.

    Args:
        writes: what is to be written first.
        senders: the nodes.
        rows_too: lock the rows of successors that become READY by the end of one node, if it has at most so
            many successors, and the database can do that in the same statement.

    Concurrency: the successors are locked in key order, so two with common ones do
    not deadlock; for their rows nobody is waited for.  The nodes themselves are not locked: see
    ``propagation.propagate``.
    """
    most = rows_too if len(senders) == 1 and writes.dialect.name == "postgresql" else 0
    query, asked = (_LOCK_WITH_ROWS, {"rows": most}) if most else (_LOCK, {})
    found = [row for some in sync_points.selections(senders) for row in writes.read(query, {**some, **asked})]
    ready = _ready(found, senders)
    after = [row for row in found if _sender_in(row) in ready]
    edges = [(_sender_in(row), _key_in(row)) for row in after]
    successors = {_key_in(row): row for row in after}
    if len(edges) > most:
        return Ahead(edges, successors, None)
    free = rows.intact((row for row in after if row.free_id is not None), _record)
    return Ahead(edges, successors, {row.id: row for row in free})


def _ready(found: Sequence[Any], senders: set[Key]) -> set[Key]:
    """Return those senders that are READY, or become so by the ends of others of them."""
    after: dict[Key, list[Any]] = defaultdict(list)
    for row in found:
        after[_sender_in(row)].append(row)
    ready = {sender for sender, each in after.items() if each[0].sender_state == SyncState.READY}
    counts: Counter[Key] = Counter()
    left = list(ready) if len(ready) < len(senders) else []
    while left:
        for row in after[left.pop()]:
            successor = _key_in(row)
            counts[successor] += 1
            is_full = row.state == SyncState.WAITING and row.satisfied + counts[successor] >= row.required
            if successor in senders and is_full:
                ready.add(successor)
                left.append(successor)
    return ready


def _record(row: Any) -> ResourceRow:
    columns = {name: getattr(row, label) for name, label in _FREE_NAMES}
    return rows.resource(SimpleNamespace(**columns))


def _sender_in(row: Any) -> Key:
    return row.traversal_id, row.sender_id, bool(row.sender_is_update)


def _key_in(row: Any) -> Key:
    return row.traversal_id, row.resource_id, bool(row.is_update)
