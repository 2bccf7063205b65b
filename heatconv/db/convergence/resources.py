# SPDX-License-Identifier: Apache-2.0
"""Reading resources for those who ask what is there."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from heatconv.db import rows
from heatconv.db.convergence import traversal_rows
from heatconv.db.plumbing.places import Opened
from heatconv.db.plumbing.prepared import Prepared
from heatconv.db.plumbing.session import Database, reading
from heatconv.db.plumbing.shared_reads import shared
from heatconv.db.plumbing.types import LongText
from heatconv.db.tables import resource
from heatconv.model.definition import Definition
from heatconv.model.nodes import NodeData
from heatconv.model.records import Drawn, Extant, Listed, ResourceRow, state_shown
from heatconv.model.states import Action, Status

_LISTED = (
    resource.c.id,
    resource.c.stack_id,
    resource.c.name,
    resource.c.type,
    resource.c.version,
    resource.c.replaced_by,
    resource.c.desired,
    resource.c.physical_id,
    resource.c.attributes,
    resource.c.action,
    resource.c.status,
    resource.c.hook,
    resource.c.status_reason,
    resource.c.created_at,
    resource.c.updated_at,
)

#: By name; of one name the wanted row comes first.
_ORDER = (resource.c.name, resource.c.desired_sha1.is_(None), resource.c.id)


@reading
def list_resources(
    connection: Connection, stack_id: str, names: Sequence[str] | None = None
) -> list[ResourceRow]:
    """Return a stack's rows, garbage included, by name; of one name the wanted row comes first."""
    found = (
        connection.execute(_ALL_OF, {"stack_id": stack_id})
        if names is None
        else connection.execute(_SOME_OF, {"stack_id": stack_id, "names": names})
    )
    return [rows.resource(row) for row in found]


_OF_STACK = resource.c.stack_id == sa.bindparam("stack_id")
_OF_NAMES = sa.and_(_OF_STACK, resource.c.name.in_(sa.bindparam("names", expanding=True)))
_ALL_OF = Prepared(sa.select(resource).where(_OF_STACK).order_by(*_ORDER))
_SOME_OF = Prepared(sa.select(resource).where(_OF_NAMES).order_by(*_ORDER))


@reading
def data_of(connection: Connection, stack_id: str, names: Sequence[str]) -> dict[str, NodeData]:
    """Return what resources of a stack tell those that refer to them, by name: of one name, the wanted row.

    What is not made yet has no reference.  No more of a row is read, and opened, than that.
    """
    found: dict[str, NodeData] = {}
    for row in connection.execute(_DATA_OF, {"stack_id": stack_id, "names": names}):
        if row.name not in found:
            found[row.name] = rows.output_of(row)
    return found


_DATA = ("id", "stack_id", "name", "reference_id", "attributes", "output_version")
_DATA_OF = Prepared(sa.select(*(resource.c[name] for name in _DATA)).where(_OF_NAMES).order_by(*_ORDER))


@reading
def listed(connection: Connection, stack_ids: Sequence[str]) -> list[Listed]:
    """Return the rows of some stacks, as ``list_resources`` does and stack by stack, to be shown."""
    query = sa.select(*_LISTED).where(resource.c.stack_id.in_(stack_ids))
    return [rows.listed(row) for row in connection.execute(query.order_by(resource.c.stack_id, *_ORDER))]


_DRAWN = (
    resource.c.id,
    resource.c.stack_id,
    resource.c.name,
    resource.c.type,
    resource.c.desired,
    resource.c.action,
    resource.c.status,
    resource.c.hook,
)


@reading
def drawn(connection: Connection, stack_id: str) -> list[Drawn]:
    """Return what is drawn of a stack's rows, by name; of one name the wanted row comes first."""
    query = sa.select(*_DRAWN).where(resource.c.stack_id == stack_id).order_by(*_ORDER)
    return [_drawn(row) for row in connection.execute(query)]


def _drawn(row: Any) -> Drawn:
    desired = Opened(resource, row).desired
    requires = None if desired is None else Definition.from_json(desired).requires
    state = state_shown(Action(row.action), Status(row.status), row.hook)
    return Drawn(row.id, row.name, row.type, requires, *state)


@reading
def of_names(connection: Connection, places: Collection[tuple[str, str]]) -> list[Listed]:
    """Return the rows that have some names, each with the id of its stack, as ``listed`` does."""
    named = sa.tuple_(resource.c.stack_id, resource.c.name).in_(sorted(places))
    query = sa.select(*_LISTED).where(named).order_by(resource.c.stack_id, *_ORDER)
    return [rows.listed(row) for row in connection.execute(query)]


@reading
def requirers(connection: Connection, stack_id: str, name: str) -> list[str]:
    """Return which resources of a stack require one of them, by name.

    What a resource is wanted to require is sealed.  It is opened only of a row that is not made of what is
    wanted, or was made with a row of that name: what any other requires is what it was made with.
    """
    of_name = sa.select(resource.c.id).where(resource.c.stack_id == stack_id, resource.c.name == name)
    made_with = sa.type_coerce(resource.c.requires, LongText)
    is_otherwise = resource.c.applied_sha1.is_distinct_from(resource.c.desired_sha1)
    may_require = [made_with.contains(f'"{each}"') for each in connection.scalars(of_name)]
    query = sa.select(resource.c.id, resource.c.stack_id, resource.c.name, resource.c.desired).where(
        resource.c.stack_id == stack_id,
        resource.c.desired_sha1.is_not(None),
        sa.or_(is_otherwise, *may_require),
    )
    found = [Opened(resource, row) for row in connection.execute(query.order_by(resource.c.name))]
    return [row.name for row in found if name in Definition.from_json(row.desired).requires]


@reading
def list_extant(connection: Connection, stack_id: str) -> list[Extant]:
    """Return a stack's rows as the plan of a traversal sees them."""
    return traversal_rows.extant_rows(connection, stack_id)


@reading
def find_wanted(connection: Connection, stack_id: str, name_or_physical_id: str) -> ResourceRow | None:
    """Return the row that a stack's template wants under a name; or by what it stands for."""
    named = sa.or_(resource.c.name == name_or_physical_id, resource.c.physical_id == name_or_physical_id)
    query = sa.select(resource).where(
        resource.c.stack_id == stack_id, resource.c.desired_sha1.is_not(None), named
    )
    found = connection.execute(query).all()
    row = next((row for row in found if row.name == name_or_physical_id), found[0] if found else None)
    return None if row is None else rows.resource(row)


@reading
def replacements(connection: Connection, row: ResourceRow) -> list[ResourceRow]:
    """Return the rows that have replaced one, directly or in turn; the last in turn come first."""
    query = sa.select(resource).where(resource.c.stack_id == row.stack_id, resource.c.name == row.name)
    of_name = [rows.resource(each) for each in connection.execute(query.order_by(resource.c.created_at))]
    found, last = list[ResourceRow](), {row.id}
    while last:
        next_ = [each for each in of_name if each.replaces in last]
        found, last = [*reversed(next_), *found], {each.id for each in next_}
    return found


@reading
def find_paused(connection: Connection, stack_id: str, name: str, hook: str) -> ResourceRow | None:
    """Return the row of a name, wanted or on its way out, whose action waits at a breakpoint."""
    query = sa.select(resource).where(
        resource.c.stack_id == stack_id, resource.c.name == name, resource.c.hook == hook
    )
    row = connection.execute(query.limit(1)).one_or_none()
    return None if row is None else rows.resource(row)


@reading
def get_many(connection: Connection, ids: Collection[str]) -> list[ResourceRow]:
    """Return those rows of some ids that are there."""
    return [
        rows.resource(row) for row in connection.execute(sa.select(resource).where(resource.c.id.in_(ids)))
    ]


def _find_all(connection: Connection, ids: Sequence[str]) -> dict[str, ResourceRow]:
    query = sa.select(resource).where(resource.c.id.in_(ids))
    return {row.id: rows.resource(row) for row in connection.execute(query)}


_find = shared(_find_all)


def find(database: Database, resource_id: str) -> ResourceRow | None:
    """Return a row by id; those who ask at the same time share a statement."""
    return _find(database, resource_id)
