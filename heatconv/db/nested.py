# SPDX-License-Identifier: Apache-2.0
"""Reading how stacks are nested: which stack belongs to which resource of which other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from heatconv.db.session import reading
from heatconv.db.tables import resource, stack
from heatconv.model.records import Nested

_NESTED = sa.select(
    stack.c.id,
    stack.c.name,
    resource.c.id.label("owner_id"),
    resource.c.name.label("owner_name"),
    resource.c.stack_id.label("parent_id"),
).join(resource, resource.c.id == stack.c.owner_resource_id)


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


def _found(connection: Connection, *where: sa.ColumnElement[bool]) -> list[Nested]:
    query: Iterable[sa.Row[tuple[str, str, str, str, str]]] = connection.execute(
        _NESTED.where(*where).order_by(resource.c.name, stack.c.id)
    )
    return [Nested(**row._mapping) for row in query]  # noqa: SLF001 - SQLAlchemy's name for a row as a map
