# SPDX-License-Identifier: Apache-2.0
"""What a dying process leaves behind, each kind found by an index."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from heatconv.db import rows
from heatconv.db.convergence import sync_points
from heatconv.db.convergence.services import alive
from heatconv.db.convergence.sync_points import Ring
from heatconv.db.delivery.events import add_events, resource_event
from heatconv.db.plumbing.session import reading, writing
from heatconv.db.plumbing.types import is_past, seconds_ago, utcnow
from heatconv.db.tables import resource, service, stack, sync_point
from heatconv.model.deletion import LEAVING
from heatconv.model.nodes import Node
from heatconv.model.records import ResourceRow
from heatconv.model.states import Action, Phase, Status, SyncState

PAGE = 10_000  #: READY nodes that are looked at together


@reading
def dead_locks(connection: Connection, *, dead_after: float, limit: int) -> list[ResourceRow]:
    """Return rows whose lock nobody alive holds, in the order of their ids."""
    query = (
        sa.select(resource)
        .select_from(resource.outerjoin(service, service.c.engine_id == resource.c.engine_id))
        .where(resource.c.engine_id.is_not(None), ~alive(dead_after))
        .limit(limit)
    )
    found = rows.intact(connection.execute(query), rows.resource)
    return sorted(found, key=lambda row: row.id)


@writing
def break_locks(
    connection: Connection, locked: Sequence[ResourceRow], *, dead_after: float
) -> list[ResourceRow]:
    """Unlock rows in one transaction, and return those that this call unlocked.

    Concurrency: each row is unlocked WHERE id, engine_id and atomic_key are as seen and the holder still is
    dead; an event says so.  Rows come in the order of their ids, so that of two engines none waits for a
    row while it has what the other waits for.
    """
    broken = [row for row in locked if _break(connection, row, dead_after)]
    add_events(connection, [_taken_over(row) for row in broken])
    return broken


def _break(connection: Connection, row: ResourceRow, dead_after: float) -> bool:
    lives = (
        sa.select(service.c.engine_id).where(service.c.engine_id == row.engine_id, alive(dead_after)).exists()
    )
    broken = sa.update(resource).where(
        resource.c.id == row.id,
        resource.c.engine_id == row.engine_id,
        resource.c.atomic_key == row.atomic_key,
        ~lives,
    )
    changed = connection.execute(broken.values(engine_id=None, atomic_key=row.atomic_key + 1))
    return changed.rowcount == 1


def _taken_over(row: ResourceRow) -> dict[str, Any]:
    return resource_event(
        stack_id=row.stack_id,
        resource_id=row.id,
        name=row.name,
        type_name=row.type,
        physical_id=row.physical_id,
        action=row.action,
        status=row.status,
        reason=f"taken over from worker {row.engine_id}",
    )


@writing
def take_forgotten(connection: Connection, *, older_than: float, limit: int) -> list[Ring]:
    """Return nodes that have been READY for some seconds on rows that nobody holds.

    Concurrency: ``ready_at`` is set anew WHERE it is as seen, so that of many
    engines one rings, and each node is rung for once in that time.
    """
    found = _forgotten(connection, older_than, limit)
    rings: dict[tuple[str, str], list[Node]] = defaultdict(list)
    for row in sorted(found, key=lambda row: (row.traversal_id, row.resource_id, row.is_update)):
        node = sync_points.node_of(row.resource_id, update=row.is_update)
        taken = connection.execute(
            sa.update(sync_point)
            .where(sync_points.key_of(row.traversal_id, node), sync_point.c.ready_at == row.ready_at)
            .values(ready_at=utcnow())
        )
        if taken.rowcount == 1:
            rings[row.stack_id, row.traversal_id].append(node)
    return [(stack_id, traversal_id, nodes) for (stack_id, traversal_id), nodes in rings.items()]


def _forgotten(connection: Connection, older_than: float, limit: int) -> list[sa.Row[Any]]:
    """Return sync points that have been READY for some seconds and whose rows nobody holds.

    They are read page by page in the order of an index: a hundred thousand that
    wait for their turn are not all looked at to find the first of them.
    """
    ready = (
        sa.select(sync_point)
        .where(sync_point.c.state == SyncState.READY, sync_point.c.ready_at < seconds_ago(older_than))
        .order_by(sync_point.c.ready_at)
    )
    found: list[sa.Row[Any]] = []
    start, more = 0, True
    while more and len(found) < limit:
        page = ready.limit(PAGE).offset(start).subquery()
        current = sa.and_(
            stack.c.id == page.c.stack_id,
            stack.c.current_traversal == page.c.traversal_id,
            stack.c.status == Status.IN_PROGRESS,
        )
        # A lock's holder rings when it ends; but a deletion may have to ask it to give way,
        # unless what it does is to delete, and that is wanted still.
        given_up = sa.or_(resource.c.deletion_policy.in_(LEAVING), stack.c.abandoned)
        deletes = sa.and_(resource.c.action == Action.DELETE, sa.not_(sa.func.coalesce(given_up, sa.false())))
        gives_way = sa.and_(page.c.is_update == sa.false(), ~deletes)
        unheld = sa.or_(resource.c.engine_id.is_(None), gives_way)
        source = page.join(stack, current).outerjoin(resource, resource.c.id == page.c.acts_on)
        wanted = sa.select(page).select_from(source).where(unheld).limit(limit - len(found))
        found += connection.execute(wanted).all()
        start += PAGE
        more = connection.execute(ready.offset(start).limit(1)).first() is not None
    return found


@reading
def overdue(connection: Connection, *, limit: int) -> list[tuple[str, str]]:
    """Return (stack, traversal) of the traversals that are past their deadline.

    A rollback that is not prepared yet has none: what is past is that of the traversal it follows.
    """
    query = (
        sa.select(stack.c.id, stack.c.current_traversal)
        .where(
            stack.c.status == Status.IN_PROGRESS,
            stack.c.phase != Phase.PREPARE,
            is_past(stack.c.deadline),
        )
        .limit(limit)
    )
    return [(row.id, row.current_traversal) for row in connection.execute(query)]


@reading
def unprepared(connection: Connection, limit: int) -> list[str]:
    """Return ids of stacks whose traversal was decided on but not prepared."""
    query = sa.select(stack.c.id).where(stack.c.status == Status.IN_PROGRESS, stack.c.phase == Phase.PREPARE)
    return list(connection.scalars(query.limit(limit)))
