# SPDX-License-Identifier: Apache-2.0
"""Reading how stacks are nested: which stack belongs to which resource of which other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from heatconv.db.convergence.sync_points import portions
from heatconv.db.plumbing.places import Opened
from heatconv.db.plumbing.session import reading
from heatconv.db.tables import raw_template, resource, stack
from heatconv.model.definition import Definition
from heatconv.model.records import Child, Member, Nested, UnderWay
from heatconv.model.states import Action, Status, cancelled

_NESTED = sa.select(
    stack.c.id,
    stack.c.name,
    resource.c.id.label("owner_id"),
    resource.c.name.label("owner_name"),
    resource.c.stack_id.label("parent_id"),
).join(resource, resource.c.id == stack.c.owner_resource_id)

#: The actions that can be stopped where they are.
_STOPPED = (Action.CREATE, Action.UPDATE)

_UNDER_WAY = (
    sa.select(stack.c.id, stack.c.current_traversal, stack.c.action)
    .join(resource, resource.c.id == stack.c.owner_resource_id)
    .where(stack.c.status == Status.IN_PROGRESS, stack.c.action.in_(_STOPPED))
)


@reading
def of_owners(connection: Connection, resource_ids: Sequence[str]) -> list[Nested]:
    """Return the stacks that belong to some resources, the deleted ones among them."""
    return _found(connection, resource.c.id.in_(resource_ids))


@reading
def below(connection: Connection, stack_id: str, depth: int) -> list[list[Nested]]:
    """Return the living stacks nested in a stack, level by level, at most so many levels."""
    levels: list[list[Nested]] = []
    inside = [stack_id]
    while inside and len(levels) < depth:
        levels.append(_found(connection, resource.c.stack_id.in_(inside), stack.c.deleted_at.is_(None)))
        inside = [nested.id for nested in levels[-1]]
    return levels


@reading
def types_in_tree(connection: Connection, root_id: str) -> set[str]:
    """Return the types of the resources of a stack and of those nested in it."""
    inside = sa.select(stack.c.id).where(stack.c.root_stack_id == root_id)
    return set(
        connection.scalars(sa.select(resource.c.type).where(resource.c.stack_id.in_(inside)).distinct())
    )


@reading
def under_way(connection: Connection, stack_ids: Sequence[str]) -> list[UnderWay]:
    """Return the stacks right inside some others that are being created or updated."""
    return [
        each
        for ids in portions(stack_ids)
        for each in _under_way(connection, _UNDER_WAY.where(resource.c.stack_id.in_(ids)))
    ]


@reading
def under_cancelled(connection: Connection, limit: int) -> list[UnderWay]:
    """Return some stacks that are being created or updated for an owner in a stack that was stopped."""
    around = stack.alias()
    query = _UNDER_WAY.join(around, around.c.id == resource.c.stack_id).where(
        resource.c.status == Status.IN_PROGRESS,  # or it goes on for somebody else: a user, by its own name
        around.c.status == Status.FAILED,
        around.c.status_reason.in_([cancelled(action) for action in _STOPPED]),
    )
    return list(_under_way(connection, query.limit(limit)))


def _under_way(connection: Connection, query: sa.Select[Any]) -> Iterator[UnderWay]:
    for row in connection.execute(query):
        yield UnderWay(id=row.id, traversal_id=row.current_traversal, action=Action(row.action))


@reading
def child_of(connection: Connection, owner_id: str) -> Child | None:
    """Return the stack of an owner, by the owner's row: the living one, else the last that was."""
    query = (
        sa.select(stack)
        .where(stack.c.owner_resource_id == owner_id)
        .order_by(stack.c.deleted_at.is_(None).desc(), stack.c.created_at.desc())
        .limit(1)
    )
    row = connection.execute(query).one_or_none()
    if row is None:
        return None
    return Child(
        id=row.id,
        name=row.name,
        project_id=row.project_id,
        action=Action(row.action),
        status=Status(row.status),
        reason=row.status_reason,
        deleted=row.deleted_at is not None,
        abandoned=row.abandoned,
    )


@reading
def members_of(connection: Connection, stack_id: str) -> list[Member]:
    """Return the resources that a stack wants, in the order in which they were made."""
    query = (
        sa.select(
            resource.c.id,
            resource.c.stack_id,
            resource.c.name,
            resource.c.desired,
            resource.c.physical_id,
            resource.c.reference_id,
            resource.c.action,
            resource.c.status,
            resource.c.created_at,
        )
        .where(resource.c.stack_id == stack_id, resource.c.desired_sha1.is_not(None))
        .order_by(resource.c.created_at, resource.c.name)
    )
    return [
        Member(
            name=row.name,
            definition=Definition.from_json(row.desired),
            physical_id=row.physical_id,
            reference_id=row.reference_id,
            action=Action(row.action),
            status=Status(row.status),
            created_at=row.created_at,
        )
        for row in (Opened(resource, found) for found in connection.execute(query))
    ]


@reading
def files_of(connection: Connection, stack_id: str) -> Mapping[str, str]:
    """Return the files beside a stack's template, by name; none if there is no such stack."""
    query = sa.select(raw_template.c.uuid, raw_template.c.stack_id, raw_template.c.files)
    query = query.join(stack, stack.c.raw_template_id == raw_template.c.id).where(stack.c.id == stack_id)
    row = connection.execute(query).one_or_none()
    return {} if row is None else Opened(raw_template, row).files


@reading
def place(connection: Connection, owner_id: str) -> tuple[str, int] | None:
    """Return in which tree a stack is that a resource owns, by its root, and how deep; None: no owner."""
    query = (
        sa.select(stack.c.root_stack_id, stack.c.nested_depth)
        .join(resource, resource.c.stack_id == stack.c.id)
        .where(resource.c.id == owner_id)
    )
    row = connection.execute(query).one_or_none()
    return None if row is None else (row.root_stack_id, row.nested_depth + 1)


@reading
def waiting_for_ended(connection: Connection, limit: int) -> list[tuple[str, str]]:
    """Return some rows, each with the worker that waits there for a nested stack that has ended."""
    query = (
        sa.select(resource.c.id, resource.c.engine_id)
        .join(stack, stack.c.owner_resource_id == resource.c.id)
        .where(resource.c.engine_id.is_not(None), stack.c.status != Status.IN_PROGRESS)
        .limit(limit)
    )
    return [(row.id, row.engine_id) for row in connection.execute(query)]


def _found(connection: Connection, *where: sa.ColumnElement[bool]) -> list[Nested]:
    query: Iterable[sa.Row[tuple[str, str, str, str, str]]] = connection.execute(
        _NESTED.where(*where).order_by(resource.c.name, stack.c.id)
    )
    return [Nested(**row._mapping) for row in query]  # noqa: SLF001 - SQLAlchemy's name for a row as a map
