# SPDX-License-Identifier: Apache-2.0
"""How long actions took, by what events say of when they began and ended."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from heatconv.db.plumbing.session import reading
from heatconv.db.tables import event, stack
from heatconv.model.states import Action, Status

LATEST = 20_000  #: events that are looked through, of all projects

_SINCE = sa.select(sa.func.max(event.c.id) - LATEST).scalar_subquery()


@reading
def durations(
    connection: Connection, project_id: str, types: Collection[str]
) -> Mapping[tuple[str, Action], Sequence[float]]:
    """Return the seconds that the latest actions of a project took, by type of resource and action."""
    query = (
        sa.select(
            event.c.resource_id, event.c.resource_type, event.c.action, event.c.status, event.c.created_at
        )
        .join(stack, stack.c.id == event.c.stack_id)
        .where(
            event.c.id > _SINCE,
            stack.c.project_id == project_id,
            event.c.resource_type.in_(types),
            event.c.status.in_([Status.IN_PROGRESS, Status.COMPLETE]),
        )
        .order_by(event.c.id)
    )
    begun: dict[tuple[str, str], datetime] = {}
    found: dict[tuple[str, Action], list[float]] = defaultdict(list)
    for row in connection.execute(query) if types else ():
        key = (row.resource_id, row.action)
        if row.status == Status.IN_PROGRESS:
            begun.setdefault(key, row.created_at)
        elif key in begun:
            took = (row.created_at - begun.pop(key)).total_seconds()
            found[row.resource_type, Action(row.action)].append(took)
    return found
