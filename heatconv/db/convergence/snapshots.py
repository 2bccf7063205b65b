# SPDX-License-Identifier: Apache-2.0
"""Snapshots: a stack as it was, and what it takes to make it so again.

A snapshot is taken by a traversal and has its id, so that whoever ends the
traversal knows which snapshot to end.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from heatconv import errors
from heatconv.db import rows
from heatconv.db.plumbing.places import Opened, placed
from heatconv.db.plumbing.requests import deciding
from heatconv.db.plumbing.session import reading, writing
from heatconv.db.plumbing.types import utcnow
from heatconv.db.tables import raw_template, resource, snapshot, stack, stack_tag
from heatconv.model.records import Snapshot
from heatconv.model.states import Action, Status


def begin(connection: Connection, snapshot_id: str, stack_id: str, name: str | None, *, limit: int) -> None:
    """Store a snapshot that is about to be taken; part of a transaction.

    Args:
        limit: how many snapshots the stack may have; negative: any number.

    Raises:
        RequestLimitExceeded: it has as many.

    Concurrency: the stack's row is locked already, so that nobody begins another meanwhile.
    """
    if limit >= 0:
        taken = sa.select(sa.func.count()).select_from(snapshot).where(snapshot.c.stack_id == stack_id)
        if (connection.scalar(taken) or 0) >= limit:
            raise errors.RequestLimitExceeded(
                f"You have reached the maximum snapshots per stack, {limit}."
                " Delete some, or have the limit raised."
            )
    connection.execute(
        sa.insert(snapshot).values(
            id=snapshot_id,
            stack_id=stack_id,
            name=name,
            action=Action.CREATE,
            status=Status.IN_PROGRESS,
            status_reason="",
            created_at=utcnow(),
        )
    )


def get(connection: Connection, snapshot_id: str) -> Snapshot:
    """Return a snapshot; part of a transaction."""
    return rows.snapshot(connection.execute(sa.select(snapshot).where(snapshot.c.id == snapshot_id)).one())


def end(connection: Connection, snapshot_id: str, status: Status, reason: str) -> None:
    """Note how taking a snapshot ended, WHERE it goes on; part of a transaction."""
    going_on = (snapshot.c.id == snapshot_id, snapshot.c.status == Status.IN_PROGRESS)
    connection.execute(sa.update(snapshot).where(*going_on).values(status=status, status_reason=reason))


def fill(connection: Connection, snapshot_id: str, stack_id: str) -> None:
    """Keep the stack as it is in its snapshot, WHERE taking that goes on; part of a transaction."""
    going_on = (snapshot.c.id == snapshot_id, snapshot.c.status == Status.IN_PROGRESS)
    contents = {"id": snapshot_id, "stack_id": stack_id, "data": _contents(connection, stack_id)}
    data = placed(snapshot, contents)["data"]
    connection.execute(
        sa.update(snapshot).where(*going_on).values(status=Status.COMPLETE, status_reason="", data=data)
    )


@reading
def export(connection: Connection, stack_id: str) -> dict[str, Any]:
    """Return a stack with its resources; a resource that owns a stack has the same of that stack below it."""
    return _tree(connection, stack_id)


#: The parts left out of a nested stack: the stack around gives them to it.
_INHERITED = ("environment", "files")


def _tree(connection: Connection, stack_id: str) -> dict[str, Any]:
    contents = _contents(connection, stack_id)
    inside = sa.select(resource.c.name, stack.c.id).join(stack, stack.c.owner_resource_id == resource.c.id)
    living = (resource.c.desired_sha1.is_not(None), stack.c.deleted_at.is_(None))
    for name, nested in connection.execute(inside.where(resource.c.stack_id == stack_id, *living)).all():
        below = {key: part for key, part in _tree(connection, nested).items() if key not in _INHERITED}
        contents["resources"][name] |= below
    return contents


_OF_TEMPLATE = [raw_template.c[name] for name in ("uuid", "stack_id", "template", "environment", "files")]


def _contents(connection: Connection, stack_id: str) -> dict[str, Any]:
    found = connection.execute(
        sa.select(stack, *_OF_TEMPLATE)
        .join(raw_template, raw_template.c.id == stack.c.raw_template_id)
        .where(stack.c.id == stack_id)
    ).one()
    source = Opened(raw_template, found)
    tags = sa.select(stack_tag.c.tag).where(stack_tag.c.stack_id == stack_id).order_by(stack_tag.c.position)
    wanted = sa.select(
        resource.c.id,
        resource.c.stack_id,
        resource.c.name,
        resource.c.physical_id,
        resource.c.type,
        resource.c.action,
        resource.c.status,
        resource.c.metadata,
        resource.c.data,
    ).where(resource.c.stack_id == stack_id, resource.c.desired_sha1.is_not(None))
    return {
        "name": found.name,
        "id": found.id,
        "action": found.action,
        "status": found.status,
        "environment": source.environment,
        "files": source.files,
        "template": source.template,
        "project_id": found.project_id,
        "stack_user_project_id": None,
        "tags": list(connection.scalars(tags)),
        "resources": {row.name: _resource(Opened(resource, row)) for row in connection.execute(wanted)},
    }


def _resource(row: Opened) -> dict[str, Any]:
    return {
        "name": row.name,
        "resource_id": row.physical_id,
        "type": row.type,
        "action": row.action,
        "status": row.status,
        "metadata": row.metadata,
        "resource_data": row.data,
    }


@reading
def list_snapshots(connection: Connection, stack_id: str) -> list[Snapshot]:
    """Return a stack's snapshots, the oldest first."""
    query = sa.select(snapshot).where(snapshot.c.stack_id == stack_id)
    return [
        rows.snapshot(row) for row in connection.execute(query.order_by(snapshot.c.created_at, snapshot.c.id))
    ]


@reading
def find(connection: Connection, stack_id: str, snapshot_id: str) -> Snapshot | None:
    """Return a stack's snapshot by id."""
    query = sa.select(snapshot).where(snapshot.c.id == snapshot_id, snapshot.c.stack_id == stack_id)
    row = connection.execute(query).one_or_none()
    return None if row is None else rows.snapshot(row)


@writing
def mark(connection: Connection, snapshot_id: str, action: Action, status: Status, reason: str) -> None:
    """Note what is done to a snapshot; of two users who delete it both may."""
    changes = {"action": action, "status": status, "status_reason": reason}
    connection.execute(sa.update(snapshot).where(snapshot.c.id == snapshot_id).values(**changes))


@deciding
def forget(connection: Connection, snapshot_id: str) -> None:
    """Drop a snapshot."""
    connection.execute(sa.delete(snapshot).where(snapshot.c.id == snapshot_id))
