# SPDX-License-Identifier: Apache-2.0
"""What is shown of one stack: read by one statement, for this is what is asked for most of all."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from heatconv.db import rows
from heatconv.db.convergence.stacks import TAGGED, is_called, the_one, with_tags
from heatconv.db.plumbing.places import Opened
from heatconv.db.plumbing.prepared import Prepared
from heatconv.db.plumbing.session import reading
from heatconv.db.tables import raw_template, resource, stack, stack_observed, sync_point
from heatconv.model.drift import StackDrift
from heatconv.model.records import Stack
from heatconv.model.states import Phase, SyncState


@dataclass(frozen=True, kw_only=True)
class Shown:
    """A stack, and what is shown along with it."""

    stack: Stack
    parent_id: str | None  #: the stack that it is nested in
    parameters: Mapping[str, Any]
    outputs: Mapping[str, Mapping[str, Any]]  #: frozen; none if they were not asked for
    drift: StackDrift | None
    done: int  #: nodes of the phase that it is in; 0 if they were not asked for
    total: int  #: the same


@reading
def show(
    connection: Connection, project_id: str, name_or_id: str, *, with_outputs: bool, with_progress: bool
) -> Shown | None:
    """Return what is shown of the stack that ``stacks.find`` finds."""
    asked = {"project_id": project_id, "name_or_id": name_or_id}
    statement = _showing(with_outputs=with_outputs, with_progress=with_progress)
    row = the_one(connection.execute(statement, asked).all(), name_or_id)
    return None if row is None else _shown(connection, row)


@reading
def show_several(
    connection: Connection, stack_ids: Sequence[str], *, with_outputs: bool, with_progress: bool
) -> dict[tuple[str, str], Shown]:
    """Return what is shown of stacks, those of them that there are, by their projects and ids."""
    statement = _showing(with_outputs=with_outputs, with_progress=with_progress, several=True)
    found = connection.execute(statement, {"stack_ids": list(stack_ids)}).all()
    return {(row.project_id, row.id): _shown(connection, row) for row in found}


def _shown(connection: Connection, row: sa.Row[Any]) -> Shown:
    template = Opened(raw_template, row)
    drift = [row.id, *(getattr(row, f"drift_{column.name}") for column in _OF_DRIFT)]
    return Shown(
        stack=with_tags(connection, row),
        parent_id=row.parent_id,
        parameters=template.parameters,
        outputs=template.outputs or {},
        drift=None if row.drift_status is None else rows.stack_drift(*drift),
        done=row.done,
        total=row.total,
    )


_OF_DRIFT = [stack_observed.c[name] for name in ("status", "since", "observed_at", "traversal_id")]


@functools.cache
def _showing(*, with_outputs: bool, with_progress: bool, several: bool = False) -> Prepared:
    """Return what reads one stack, or several, and no more of a template than is shown: it may be large."""
    none: sa.ColumnElement[int] = sa.literal_column("0")
    one = is_called(sa.bindparam("name_or_id"), sa.bindparam("project_id"))
    return Prepared(
        sa.select(
            stack,
            TAGGED,
            raw_template.c.uuid,
            raw_template.c.stack_id,
            raw_template.c.parameters,
            raw_template.c.outputs if with_outputs else sa.null().label("outputs"),
            resource.c.stack_id.label("parent_id"),
            *(column.label(f"drift_{column.name}") for column in _OF_DRIFT),
            (_nodes(sa.case((sync_point.c.state == SyncState.DONE, 1))) if with_progress else none).label(
                "done"
            ),
            (_nodes() if with_progress else none).label("total"),
        )
        .join(raw_template, raw_template.c.id == stack.c.raw_template_id)
        .outerjoin(resource, resource.c.id == stack.c.owner_resource_id)
        .outerjoin(stack_observed, stack_observed.c.stack_id == stack.c.id)
        .where(stack.c.id.in_(sa.bindparam("stack_ids", expanding=True)) if several else one)
    )


def _nodes(counted: sa.ColumnElement[Any] | None = None) -> sa.ColumnElement[int]:
    """How many nodes there are of the phase that a stack is in, but for its own and the joins.

    ``sync_points.progress`` counts those of many stacks.  Of a stack in which nothing goes on none are.
    """
    count = (
        sa.select(sa.func.count() if counted is None else sa.func.count(counted))
        .select_from(sync_point)
        .where(
            sync_point.c.traversal_id == stack.c.current_traversal,
            sync_point.c.is_update == (stack.c.phase == Phase.UPDATE),
            sync_point.c.resource_id != sync_point.c.stack_id,
            sync_point.c.join_for.is_(None),
        )
        .correlate(stack)
        .scalar_subquery()
    )
    return sa.case((stack.c.phase != Phase.DONE, count), else_=0)
