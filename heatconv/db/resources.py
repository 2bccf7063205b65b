# SPDX-License-Identifier: Apache-2.0
"""Reading resources for those who ask what is there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from heatconv.db import rows, traversals
from heatconv.db.session import reading
from heatconv.db.tables import resource
from heatconv.model.records import Extant, Resource

_FILTERS = {
    "id": resource.c.id,
    "name": resource.c.name,
    "type": resource.c.type,
    "action": resource.c.action,
    "status": resource.c.status,
    "physical_id": resource.c.physical_id,
}


@reading
def list_resources(
    connection: Connection, stack_id: str, filters: Mapping[str, Sequence[str]] | None = None
) -> list[Resource]:
    """Return a stack's rows, garbage included, by name; of one name the wanted row comes first."""
    query = sa.select(resource).where(resource.c.stack_id == stack_id)
    for key, values in (filters or {}).items():
        query = query.where(_FILTERS[key].in_(values))
    query = query.order_by(resource.c.name, resource.c.desired_sha1.is_(None), resource.c.id)
    return [rows.resource(row) for row in connection.execute(query)]


@reading
def list_extant(connection: Connection, stack_id: str) -> list[Extant]:
    """Return a stack's rows as the plan of a traversal sees them."""
    return traversals.extant_rows(connection, stack_id)


@reading
def find(connection: Connection, resource_id: str) -> Resource | None:
    """Return a row by id."""
    row = connection.execute(sa.select(resource).where(resource.c.id == resource_id)).one_or_none()
    return None if row is None else rows.resource(row)
