# SPDX-License-Identifier: Apache-2.0
"""What operators compare with the world as a whole: which projects there are, and which things are known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from heatconv.db import rows
from heatconv.db.plumbing.session import Database, reading
from heatconv.db.tables import resource, stack
from heatconv.model.records import Stack

IDS = 5_000  #: that are read at a time


@reading
def newest_stacks(connection: Connection, project_id: str | None = None) -> list[Stack]:
    """Return the newest root stack of each project that has any, or of one."""
    lives = stack.c.deleted_at.is_(None), stack.c.owner_resource_id.is_(None)
    of_project = () if project_id is None else (stack.c.project_id == project_id,)
    newest = sa.select(sa.func.max(stack.c.id)).where(*lives, *of_project).group_by(stack.c.project_id)
    found = connection.execute(sa.select(stack).where(stack.c.id.in_(newest)).order_by(stack.c.project_id))
    return [rows.stack(row) for row in found]


def known_things(database: Database) -> Iterator[tuple[str, str | None]]:
    """Yield the id of each row with the physical id of what it stands for, as far as that is known."""
    last = ""
    while page := _page(database, after=last):
        yield from page
        last = page[-1][0]


@reading
def _page(connection: Connection, *, after: str) -> Sequence[tuple[str, str | None]]:
    query = sa.select(resource.c.id, resource.c.physical_id).where(resource.c.id > after)
    return [(row.id, row.physical_id) for row in connection.execute(query.order_by(resource.c.id).limit(IDS))]
