# SPDX-License-Identifier: Apache-2.0
"""Reading what could be done by now and is not, and what failed, for who asks why a stack is not done."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from heatconv.db import rows
from heatconv.db.convergence import sync_points
from heatconv.db.convergence.services import alive
from heatconv.db.plumbing.session import reading
from heatconv.db.plumbing.types import utcnow
from heatconv.db.tables import resource, service, stack, sync_point
from heatconv.model.explanation import Holder, ReadyNode, Workers
from heatconv.model.records import ResourceRow
from heatconv.model.states import Action, Status, SyncState

_WORKERS = ("heatconv-worker", "heatconv-all")  #: the daemons that take nodes


@dataclass(frozen=True, kw_only=True)
class NestedState:
    """A living nested stack, and how far it is."""

    id: str
    name: str
    traversal_id: str
    action: Action
    status: Status

    @property
    def state(self) -> str:
        """Its state as users see it."""
        return f"{self.action}_{self.status}"


@reading
def ready_nodes(
    connection: Connection, traversal_ids: Sequence[str], *, dead_after: float, limit: int
) -> list[ReadyNode]:
    """Return nodes of some traversals that are READY, those that are so for the longest time first.

    The sync points of the traversals are looked through: it takes the longer the more there are.
    """
    query = (
        sa.select(sync_point)
        .where(sync_point.c.traversal_id.in_(traversal_ids), sync_point.c.state == SyncState.READY)
        .order_by(sync_point.c.ready_at, sync_point.c.resource_id)
        .limit(limit)
    )
    points = connection.execute(query).all()
    held = _held(connection, {point.acts_on for point in points if point.acts_on}, dead_after)
    return [
        ReadyNode(
            stack_id=point.stack_id,
            node=sync_points.node_of(point.resource_id, update=point.is_update),
            ready_at=point.ready_at,
            row=row,
            holder=holder,
        )
        for point in points
        for row, holder in [held.get(point.acts_on, (None, None))]
    ]


def _held(
    connection: Connection, ids: Collection[str], dead_after: float
) -> dict[str, tuple[ResourceRow, Holder | None]]:
    """Return rows by their ids, and who holds each."""
    query = (
        sa.select(
            resource,
            service.c.host,
            service.c.updated_at.label("heard_at"),
            alive(dead_after).label("alive"),
        )
        .outerjoin(service, service.c.engine_id == resource.c.engine_id)
        .where(resource.c.id.in_(ids))
    )
    found = {each.id: each for each in connection.execute(query)}
    return {
        row.id: (row, _holder(row.engine_id, found[row.id]) if row.engine_id else None)
        for row in rows.intact(found.values(), rows.resource)
    }


def _holder(engine_id: str, row: sa.Row[Any]) -> Holder:
    return Holder(engine_id=engine_id, host=row.host, heard_at=row.heard_at, alive=bool(row.alive))


@reading
def nested_states(connection: Connection, owner_ids: Collection[str]) -> dict[str, NestedState]:
    """Return the living nested stacks of some rows, by the row."""
    query = sa.select(
        stack.c.id,
        stack.c.name,
        stack.c.owner_resource_id,
        stack.c.current_traversal,
        stack.c.action,
        stack.c.status,
    ).where(stack.c.owner_resource_id.in_(owner_ids), stack.c.deleted_at.is_(None))
    return {
        row.owner_resource_id: NestedState(
            id=row.id,
            name=row.name,
            traversal_id=row.current_traversal,
            action=Action(row.action),
            status=Status(row.status),
        )
        for row in connection.execute(query)
    }


@reading
def failed(connection: Connection, stack_id: str, *, limit: int) -> list[ResourceRow]:
    """Return resources of a stack that have failed, the first that did so first."""
    query = (
        sa.select(resource)
        .where(resource.c.stack_id == stack_id, resource.c.status == Status.FAILED)
        .order_by(resource.c.updated_at, resource.c.id)
        .limit(limit)
    )
    return rows.intact(connection.execute(query), rows.resource)


@reading
def workers(connection: Connection, *, dead_after: float) -> tuple[datetime, Workers]:
    """Return the time by the database's clock, and the workers that are alive."""
    query = sa.select(
        utcnow().label("now"), sa.func.count(), sa.func.coalesce(sa.func.sum(service.c.backlog), 0)
    ).where(service.c.binary.in_(_WORKERS), alive(dead_after))
    now, number, backlog = connection.execute(query).one()
    return now, Workers(number=number, backlog=int(backlog))
