# SPDX-License-Identifier: Apache-2.0
"""The statements of one check, as a worker sends them, and how each driver takes them.

They are spelt here once more, and not taken from ``heatconv.db``, so that a change there
is a change of what is measured and not of what it is measured by.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import sqlalchemy as sa

from heatconv.db.convergence.services import alive
from heatconv.db.plumbing.types import utcnow
from heatconv.db.tables import event, graph_edge, resource, service, stack, sync_point, sync_point_input

DEAD_AFTER = 12.0
SEALED = "gAAAAAB" + "x" * 193  #: as long as what is told of a resource that has nothing to tell

bind = sa.bindparam


def _is(*columns: sa.Column[Any]) -> sa.ColumnElement[bool]:
    """Return the condition that some columns have the values of ``key_NAME``."""
    return sa.and_(*(column == bind(f"key_{column.name}") for column in columns))


_NODE = _is(sync_point.c.traversal_id, sync_point.c.resource_id, sync_point.c.is_update)
_HELD = _is(resource.c.id, resource.c.engine_id, resource.c.atomic_key)

READ = (
    sa.select(sync_point.c.state, alive(DEAD_AFTER), *stack.c, *resource.c, sync_point.c.required)
    .select_from(
        sync_point.join(stack, stack.c.id == sync_point.c.stack_id)
        .outerjoin(resource, resource.c.id == sync_point.c.acts_on)
        .outerjoin(service, service.c.engine_id == resource.c.engine_id)
    )
    .where(_NODE)
)
#: Where these are in a row of it.
ATOMIC_KEY, DESIRED = (2 + len(stack.c) + resource.c.keys().index(name) for name in ("atomic_key", "desired"))
REQUIRED = -1
READ_INPUTS = sa.select(sync_point_input.c.data).where(
    _is(sync_point_input.c.traversal_id, sync_point_input.c.resource_id, sync_point_input.c.is_update)
)
LOCK = (
    sa.update(resource)
    .where(_is(resource.c.id, resource.c.atomic_key))
    .values(
        action="CREATE",
        status="IN_PROGRESS",
        status_reason="state changed",
        requires="{}",
        hook=None,
        updated_at=utcnow(),
        **{name: bind(name) for name in ("type", "engine_id", "atomic_key", "progress")},
    )
)
ADD_EVENT = sa.insert(event).values(
    {name: bind(name) for name in ("uuid", "stack_id", "resource_id", "physical_id", "status")}
    | {
        "resource_name": "r",
        "resource_type": "OS::Heat::None",
        "action": "CREATE",
        "status_reason": "state changed",
        "properties": "{}",
        "created_at": utcnow(),
    }
)
WRITE_PHYSICAL_ID = sa.update(resource).where(_HELD).values(physical_id=bind("physical_id"))
FINISH_ROW = (
    sa.update(resource)
    .where(_HELD)
    .values(
        **{name: bind(name) for name in ("applied", "reference_id")},
        applied_sha1="0" * 40,
        applied_template_id=1,
        requires="{}",
        attributes="{}",
        output_version=1,
        version=0,
        status="COMPLETE",
        status_reason="state changed",
        progress=None,
        engine_id=None,
        atomic_key=resource.c.atomic_key + 1,
        updated_at=utcnow(),
    )
)
FINISH_NODE = (
    sa.update(sync_point)
    .where(_NODE, sync_point.c.state == "READY")
    .values(state="DONE", atomic_key=sync_point.c.atomic_key + 1)
)
LOCK_SUCCESSORS = (
    sa.select(sync_point.c.resource_id, sync_point.c.join_for, sync_point.c.required, sync_point.c.satisfied)
    .select_from(
        graph_edge.join(
            sync_point,
            sa.and_(
                sync_point.c.traversal_id == graph_edge.c.traversal_id,
                sync_point.c.resource_id == graph_edge.c.needed_by_id,
                sync_point.c.is_update == graph_edge.c.needed_by_is_update,
            ),
        )
    )
    .where(_is(graph_edge.c.traversal_id, graph_edge.c.resource_id, graph_edge.c.is_update))
    .order_by(sync_point.c.resource_id, sync_point.c.is_update)
    .with_for_update(of=sync_point)
)


def give(receivers: int) -> sa.Insert:
    """Return the statement that tells so many nodes what one has to say."""
    common = {
        "traversal_id": bind("traversal"),
        "stack_id": bind("stack"),
        "sender_id": bind("sender"),
        "sender_is_update": True,
        "is_update": True,
        "data": SEALED,
    }
    rows = [common | {"resource_id": bind(f"receiver_{number}")} for number in range(receivers)]
    return sa.insert(sync_point_input).values(rows)


def count_in(successors: int) -> sa.Update:
    """Return the statement that counts a node in at so many successors."""
    full = sync_point.c.satisfied + 1 >= sync_point.c.required
    ids: list[sa.BindParameter[Any]] = [bind(f"successor_{number}") for number in range(successors)]
    one = sync_point.c.resource_id == ids[0] if len(ids) == 1 else sync_point.c.resource_id.in_(ids)
    return (
        sa.update(sync_point)
        .where(_is(sync_point.c.traversal_id, sync_point.c.is_update), one)
        .ordered_values(
            (sync_point.c.state, sa.case((full, "READY"), else_="WAITING")),
            (sync_point.c.ready_at, sa.case((full, utcnow()), else_=sa.null())),
            (sync_point.c.satisfied, sync_point.c.satisfied + 1),
            (sync_point.c.atomic_key, sync_point.c.atomic_key + 1),
        )
    )


class Statements:
    """Statements as one database's driver takes them; each is spelt once."""

    def __init__(self, dialect: sa.Dialect) -> None:
        self.dialect = dialect
        self.give = functools.cache(lambda count: self.spelt(give(count)))
        self.count_in = functools.cache(lambda count: self.spelt(count_in(count)))

    def spelt(self, statement: Any) -> Callable[..., tuple[str, Any]]:
        """Return a function that gives a statement's text and its parameters, of the values."""
        # Without types there is nothing to convert: values are given as they are kept.
        compiled = statement.compile(dialect=self.dialect)
        text, fixed, order = str(compiled), dict(compiled.params), compiled.positiontup

        def filled(**values: Any) -> tuple[str, Any]:
            given = fixed | values
            return text, given if order is None else tuple(given[name] for name in order)

        return filled
