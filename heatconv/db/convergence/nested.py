# SPDX-License-Identifier: Apache-2.0
"""Reading how stacks are nested: which stack belongs to which resource of which other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from heatconv.db.convergence.sync_points import portions
from heatconv.db.plumbing.places import Opened
from heatconv.db.plumbing.session import Database, reading
from heatconv.db.plumbing.shared_reads import shared
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


_CHILDREN = (
    sa.select(
        stack.c.id,
        stack.c.name,
        stack.c.project_id,
        stack.c.owner_resource_id,
        stack.c.action,
        stack.c.status,
        stack.c.status_reason,
        stack.c.deleted_at,
        stack.c.abandoned,
    )
    .where(stack.c.owner_resource_id.in_(sa.bindparam("owners", expanding=True)))
    .order_by(stack.c.deleted_at.is_(None), stack.c.created_at)
)


def _children_of(connection: Connection, owner_ids: Sequence[str]) -> dict[str, Child]:
    return {  # of several of one owner the last one stays
        row.owner_resource_id: Child(
            id=row.id,
            name=row.name,
            project_id=row.project_id,
            action=Action(row.action),
            status=Status(row.status),
            reason=row.status_reason,
            deleted=row.deleted_at is not None,
            abandoned=row.abandoned,
        )
        for row in connection.execute(_CHILDREN, {"owners": owner_ids})
    }


_child_of = shared(_children_of)


def child_of(database: Database, owner_id: str) -> Child | None:
    """Return the stack of an owner, by the owner's row: the living one, else the last that was.

    Those who ask at the same time share a statement.
    """
    return _child_of(database, owner_id)


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
def places(connection: Connection, owner_ids: Sequence[str]) -> dict[str, tuple[str, int]]:
    """Return in which tree a stack is that a resource owns, by its root, and how deep; by the owner's id."""
    query = (
        sa.select(resource.c.id, stack.c.root_stack_id, stack.c.nested_depth)
        .join(resource, resource.c.stack_id == stack.c.id)
        .where(resource.c.id.in_(owner_ids))
    )
    return {row.id: (row.root_stack_id, row.nested_depth + 1) for row in connection.execute(query)}


@reading
def children_of(connection: Connection, owner_ids: Sequence[str]) -> dict[str, Child]:
    """Return the stacks of owners, by the owners' rows; see ``child_of``."""
    return _children_of(connection, owner_ids)


@reading
def waiting_for_ended(connection: Connection, limit: int) -> list[tuple[str, str]]:
    """Return some rows, each with the worker that waits there for a nested stack that has ended.

    A row that is being deleted does not wait until the deletion of its nested stack has begun.
    """
    query = (
        sa.select(resource.c.id, resource.c.engine_id)
        .join(stack, stack.c.owner_resource_id == resource.c.id)
        .where(
            resource.c.engine_id.is_not(None),
            stack.c.status != Status.IN_PROGRESS,
            sa.or_(resource.c.action != Action.DELETE, stack.c.action == Action.DELETE),
        )
        .limit(limit)
    )
    return [(row.id, row.engine_id) for row in connection.execute(query)]


def _found(connection: Connection, *where: sa.ColumnElement[bool]) -> list[Nested]:
    query: Iterable[sa.Row[tuple[str, str, str, str, str]]] = connection.execute(
        _NESTED.where(*where).order_by(resource.c.name, stack.c.id)
    )
    return [Nested(**row._mapping) for row in query]  # noqa: SLF001 - SQLAlchemy's name for a row as a map
