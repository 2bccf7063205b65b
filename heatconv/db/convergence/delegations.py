# SPDX-License-Identifier: Apache-2.0
"""By what right daemons act for a stack when its user is not there.

A row is written before anything is made in Keystone, and goes after that is gone there, so
that whoever dies in between leaves a row by which it is found.  It is due to be given
back at once or, while it is being made, some time later; unless a stack has it.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from heatconv import errors
from heatconv.db import rows
from heatconv.db.plumbing.places import Opened, placed
from heatconv.db.plumbing.prepared import Prepared
from heatconv.db.plumbing.session import reading, writing
from heatconv.db.plumbing.together import Writer
from heatconv.db.plumbing.types import in_seconds, is_past, utcnow
from heatconv.db.tables import stack
from heatconv.db.tables import user_creds as table
from heatconv.model.delegation import Delegation

MAKING = 600  #: seconds in which a delegation is made and its stack stored, or never
LEASE = 60  #: seconds in which one engine gives something back, before another one tries
LATER = 3600  #: seconds until another try to give back one that cannot be given back for now


@writing
def intend(connection: Connection, delegation: Delegation) -> None:
    """Write down a delegation that is about to be made."""
    values = {
        "id": delegation.id,
        "stack_id": delegation.stack_id,
        "project_id": delegation.project_id,
        "user_id": delegation.user_id,
        "method": delegation.method,
        "secret": dict(delegation.secret),
        "due_at": in_seconds(MAKING),
        "created_at": utcnow(),
    }
    connection.execute(sa.insert(table).values(placed(table, values)))


@writing
def try_record(connection: Connection, made: Delegation) -> bool:
    """Write down the delegation that was made, WHERE id; return whether it was not given up meanwhile."""
    secret = placed(table, {"secret": dict(made.secret)}, made)
    kept = sa.update(table).where(table.c.id == made.id).values(secret)
    return connection.execute(kept).rowcount == 1


def keep(connection: Connection, stack_id: str, delegation_id: str) -> None:
    """Let a stack have a delegation that was made for it, WHERE id AND stack_id; part of a transaction.

    Raises:
        TransportError: it took so long that it was given up.
    """
    mine = sa.update(table).where(table.c.id == delegation_id, table.c.stack_id == stack_id)
    if connection.execute(mine.values(due_at=None)).rowcount != 1:
        raise errors.TransportError(reason="what your token delegates came too late: try again")


@writing
def replace(connection: Connection, stack_id: str, delegation_id: str) -> None:
    """Let a living stack have another delegation; the one before is due.

    Concurrency: the stack's row is written first, WHERE it lives; of two that are made at once the later one
    is kept.  It is not only locked: each server of a cluster has locks of its own.
    """
    living = sa.update(stack).where(stack.c.id == stack_id, stack.c.deleted_at.is_(None))
    if connection.execute(living.values(atomic_key=stack.c.atomic_key + 1)).rowcount == 0:
        return  # and so it stays due
    release(connection, stack_id)
    keep(connection, stack_id, delegation_id)


_RELEASE = Prepared(
    sa.update(table)
    .where(table.c.stack_id == sa.bindparam("of_stack"), table.c.due_at.is_(None))
    .values(due_at=utcnow())
)


def release(writer: Writer, stack_id: str) -> None:
    """Have the delegation of a stack given back; part of a transaction."""
    writer.execute(_RELEASE, {"of_stack": stack_id})


@writing
def give_up(connection: Connection, delegation_id: str) -> None:
    """Have a delegation that was made for nothing given back, WHERE id and no stack has it."""
    unused = sa.update(table).where(table.c.id == delegation_id, table.c.due_at.is_not(None))
    connection.execute(unused.values(due_at=utcnow()))


@reading
def of(connection: Connection, stack_id: str) -> Delegation | None:
    """Return the delegation of a root stack, if it has one."""
    query = sa.select(table).where(table.c.stack_id == stack_id, table.c.due_at.is_(None))
    row = connection.execute(query).one_or_none()
    return None if row is None else _delegation(row)


@writing
def take_due(connection: Connection, limit: int) -> list[Delegation]:
    """Return the delegations to be given back now; no other caller gets them for a while.

    Nor does any get one that cannot be read: it is left alone until it is due again.

    Concurrency: each is taken WHERE id AND due_at = as seen.
    """
    due = sa.select(table).where(is_past(table.c.due_at)).order_by(table.c.due_at).limit(limit)
    taken = [row for row in connection.execute(due).all() if _take(connection, row)]
    return rows.intact(taken, _delegation)


def _take(connection: Connection, row: Any) -> bool:
    mine = sa.update(table).where(table.c.id == row.id, table.c.due_at == row.due_at)
    return connection.execute(mine.values(due_at=in_seconds(LEASE))).rowcount == 1


@writing
def postpone(connection: Connection, delegation_id: str) -> None:
    """Let something be given back a good while later, WHERE id."""
    mine = sa.update(table).where(table.c.id == delegation_id)
    connection.execute(mine.values(due_at=in_seconds(LATER)))


@writing
def forget(connection: Connection, delegation_id: str) -> None:
    """Drop a delegation that was given back."""
    connection.execute(sa.delete(table).where(table.c.id == delegation_id))


def _delegation(row: Any) -> Delegation:
    return Delegation(
        id=row.id,
        stack_id=row.stack_id,
        project_id=row.project_id,
        user_id=row.user_id,
        method=row.method,
        secret=Opened(table, row).secret,
    )
