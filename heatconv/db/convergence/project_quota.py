# SPDX-License-Identifier: Apache-2.0
"""How many stacks, plans, software configs and deployments a project may have, however many come at once.

Whoever adds one counts all others while the quota's row of its project and kind is
locked, which it is until the commit: of two who add at once, the second finds what
the first has added.

That row is the last that a transaction locks, but for what a request is answered:
who holds it has nothing left to wait for, and what takes long to write, as a large
stack does, is written before.  Where there is no limit nothing is locked or counted.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping

import sqlalchemy as sa
from sqlalchemy.dialects import mysql, postgresql, sqlite
from sqlalchemy.engine import Connection

from heatconv import errors
from heatconv.db.plumbing.prepared import Prepared
from heatconv.db.plumbing.types import is_past
from heatconv.db.tables import plan, quota, stack

#: What else has to be true of a table's rows that count: nested stacks are their tree's, see ``tree_quota``.
#: Stacks are counted by the key of their names, which only living ones have: the rest is said so that
#: PostgreSQL does not look through the roots of all projects, or all that the project has ever had.
_COUNTED: Mapping[sa.Table, tuple[sa.ColumnElement[bool], ...]] = {
    stack: (stack.c.live_name >= "", sa.func.coalesce(stack.c.owner_resource_id, "") == ""),
    plan: (~is_past(plan.c.expires_at),),
}

#: A row is written, and not only locked: in a cluster, where each server has locks of its own,
#: of two transactions that write to a row one fails, and is tried again.
_NEXT = {"atomic_key": quota.c.atomic_key + 1}
_LOCK = Prepared(
    sa.update(quota)
    .where(quota.c.project_id == sa.bindparam("of"), quota.c.kind == sa.bindparam("of_kind"))
    .values(_NEXT)
)
_KEY = quota.primary_key
_ADD: Mapping[str, sa.Insert] = {
    "postgresql": postgresql.insert(quota).on_conflict_do_update(index_elements=_KEY, set_=_NEXT),
    "sqlite": sqlite.insert(quota).on_conflict_do_update(index_elements=_KEY, set_=_NEXT),
    "mysql": mysql.insert(quota).on_duplicate_key_update(_NEXT),
}


@functools.cache
def _others(table: sa.Table) -> Prepared:
    """Return the query for how many rows a project has of a table, but one."""
    others = (table.c.project_id == sa.bindparam("of"), table.c.id != sa.bindparam("but"))
    counting = sa.select(sa.func.count()).select_from(table)
    return Prepared(counting.where(*others, *_COUNTED.get(table, ())))


def take(connection: Connection, table: sa.Table, project_id: str, row_id: str, limit: int) -> None:
    """Refuse a project one row more of a table than it may have; last part of a transaction.

    Args:
        limit: how many the project may have; negative: any number.

    Raises:
        RequestLimitExceeded: the project has as many others as it may.

    Concurrency: locks the quota's row of the project and the table, after all
    other rows; who takes several takes them in the order of their tables' names.
    """
    if limit < 0:
        return
    if connection.execute(_LOCK, {"of": project_id, "of_kind": table.name}).rowcount == 0:
        # There is none yet.  Who adds it may have one more, and so keeps it: if it is taken back,
        # those who wait for it on MariaDB are in a deadlock.
        check(connection, table, project_id, row_id, limit)
        row = {"project_id": project_id, "kind": table.name, "atomic_key": 0}
        connection.execute(_ADD[connection.dialect.name], row)
    check(connection, table, project_id, row_id, limit)


def check(connection: Connection, table: sa.Table, project_id: str, row_id: str, limit: int) -> None:
    """Refuse a project a row of a table, there or not, if it has as many others as it may by now."""
    if (connection.scalar(_others(table), {"of": project_id, "but": row_id}) or 0) >= limit:
        what = table.name.replace("_", " ")
        raise errors.RequestLimitExceeded(
            f"You have reached the maximum {what}s per project, {limit}."
            " Delete some, or have the limit raised."
        )
