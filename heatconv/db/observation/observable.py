# SPDX-License-Identifier: Apache-2.0
"""What there is to look at, and what is known of it, read tree by tree.

An observation holds as long as the resource's ``atomic_key`` is the one it was
seen with: whoever claims or prepares the row makes it void by that, and does
not have to know of it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from heatconv.db.plumbing.places import Opened
from heatconv.db.plumbing.session import reading
from heatconv.db.tables import (
    resource,
    resource_observed,
    stack,
)
from heatconv.model.definition import Definition
from heatconv.model.drift import Kind
from heatconv.model.records import ResourceRow
from heatconv.model.states import Action, Status

DEEP = 100  #: levels of nested stacks, more than there can be

#: An observation of a row that nobody has touched since.
HOLDS = sa.and_(
    resource_observed.c.resource_id == resource.c.id,
    resource_observed.c.atomic_key == resource.c.atomic_key,
)

#: It tells of a drift of the resource's own.
IS_DRIFT = resource_observed.c.kind != Kind.INSIDE

#: What can be looked at: wanted, made, and nobody is at work on it.
_OBSERVABLE = sa.and_(
    resource.c.desired_sha1.is_not(None),
    resource.c.physical_id.is_not(None),
    resource.c.engine_id.is_(None),
    resource.c.status == Status.COMPLETE,
    resource.c.action.not_in([Action.INIT, Action.DELETE]),
)

SEEN = (
    resource.c.id,
    resource.c.stack_id,
    resource.c.name,
    resource.c.type,
    resource.c.version,
    resource.c.applied,
    resource.c.applied_sha1,
    resource.c.physical_id,
    resource.c.reference_id,
    resource.c.action,
    resource.c.status,
    resource.c.atomic_key,
    resource.c.engine_id,
    resource.c.metadata,
    resource.c.data,
)


def row_of(row: Any) -> ResourceRow:
    """Return what an observer needs of a row of ``resource``."""
    sealed = Opened(resource, row)
    applied = sealed.applied
    return ResourceRow(
        id=row.id,
        stack_id=row.stack_id,
        name=row.name,
        type=row.type,
        version=row.version,
        applied=applied and Definition.from_json(applied),
        applied_sha1=row.applied_sha1,
        physical_id=row.physical_id,
        reference_id=sealed.reference_id,
        action=Action(row.action),
        status=Status(row.status),
        atomic_key=row.atomic_key,
        engine_id=row.engine_id,
        metadata=sealed.metadata,
        data=sealed.data,
    )


@reading
def trees(connection: Connection, roots: Collection[str]) -> dict[str, str]:
    """Return the ids of some stacks and of all living stacks nested in them, each with that of its root."""
    root_of = {root: root for root in roots}
    inside: Collection[str] = list(roots)
    for _ in range(DEEP):
        if not inside:
            break
        query = (
            sa.select(stack.c.id, resource.c.stack_id)
            .join(resource, resource.c.id == stack.c.owner_resource_id)
            .where(resource.c.stack_id.in_(inside), stack.c.deleted_at.is_(None))
        )
        found = {row.id: root_of[row.stack_id] for row in connection.execute(query)}
        inside = found.keys() - root_of.keys()
        root_of |= found
    return root_of


@reading
def nested_in(
    connection: Connection, stack_ids: Collection[str], owners: Collection[str] | None = None
) -> list[str]:
    """Return the living stacks that belong to resources of some stacks, or to some of those."""
    query = (
        sa.select(stack.c.id)
        .join(resource, resource.c.id == stack.c.owner_resource_id)
        .where(resource.c.stack_id.in_(stack_ids), stack.c.deleted_at.is_(None))
    )
    if owners is not None:
        query = query.where(resource.c.id.in_(owners))
    return list(connection.scalars(query))


@reading
def roots_of(connection: Connection, stack_ids: Collection[str]) -> dict[str, str]:
    """Return the ids of some stacks, each with that of the root stack that it is nested in, or is."""
    root_of = {stack_id: stack_id for stack_id in stack_ids}
    for _ in range(DEEP):
        query = (
            sa.select(stack.c.id, resource.c.stack_id)
            .join(resource, resource.c.id == stack.c.owner_resource_id)
            .where(stack.c.id.in_(set(root_of.values())))
        )
        around = {row.id: row.stack_id for row in connection.execute(query)}
        if not around:
            break
        root_of = {stack_id: around.get(top, top) for stack_id, top in root_of.items()}
    return root_of


@reading
def count(connection: Connection, stack_ids: Collection[str]) -> dict[str, int]:
    """Return how many resources of some stacks can be looked at."""
    query = (
        sa.select(resource.c.stack_id, sa.func.count().label("number"))
        .where(resource.c.stack_id.in_(stack_ids), _OBSERVABLE)
        .group_by(resource.c.stack_id)
    )
    return {row.stack_id: row.number for row in connection.execute(query)}


@reading
def count_wanted(connection: Connection, stack_ids: Collection[str]) -> dict[str, int]:
    """Return how many resources some stacks want."""
    query = (
        sa.select(resource.c.stack_id, sa.func.count().label("number"))
        .where(resource.c.stack_id.in_(stack_ids), resource.c.desired_sha1.is_not(None))
        .group_by(resource.c.stack_id)
    )
    return {row.stack_id: row.number for row in connection.execute(query)}


@reading
def unwell(connection: Connection, stack_ids: Collection[str]) -> set[str]:
    """Return those of some stacks that want resources which failed: what is there of these, nobody knows."""
    query = sa.select(resource.c.stack_id).where(
        resource.c.stack_id.in_(stack_ids),
        resource.c.desired_sha1.is_not(None),
        resource.c.status == Status.FAILED,
    )
    return set(connection.scalars(query.distinct()))


@reading
def drifted(connection: Connection, stack_ids: Collection[str]) -> set[str]:
    """Return those of some stacks in which something has drifted."""
    query = (
        sa.select(resource.c.stack_id)
        .select_from(resource.join(resource_observed, HOLDS))
        .where(
            resource_observed.c.stack_id.in_(stack_ids),
            IS_DRIFT,
            resource.c.desired_sha1.is_not(None),
        )
    )
    return set(connection.scalars(query.distinct()))


@reading
def rows(
    connection: Connection,
    stack_ids: Collection[str],
    *,
    names: Sequence[str] | None = None,
    after: str | None = None,
    limit: int | None = None,
) -> list[ResourceRow]:
    """Return the resources of some stacks that can be looked at, by id."""
    query = sa.select(*SEEN).where(resource.c.stack_id.in_(stack_ids), _OBSERVABLE)
    if names is not None:
        query = query.where(resource.c.name.in_(names))
    if after is not None:
        query = query.where(resource.c.id > after)
    return [row_of(row) for row in connection.execute(query.order_by(resource.c.id).limit(limit))]


@reading
def by_physical_id(
    connection: Connection, physical_ids: Collection[str], project_id: str | None = None
) -> tuple[list[ResourceRow], list[ResourceRow]]:
    """Return the resources that stand for things: those to be looked at, and those being worked on.

    ``project_id``: in that project's stacks only.
    """
    query = sa.select(*SEEN, _OBSERVABLE.label("observable")).where(
        resource.c.physical_id.in_(physical_ids),
        sa.or_(resource.c.desired_sha1.is_not(None), resource.c.engine_id.is_not(None)),
    )
    if project_id is not None:
        query = query.join(stack, stack.c.id == resource.c.stack_id).where(stack.c.project_id == project_id)
    found = connection.execute(query).all()
    busy = [row for row in found if row.engine_id is not None or row.status == Status.IN_PROGRESS]
    return [row_of(row) for row in found if row.observable], [row_of(row) for row in busy]
