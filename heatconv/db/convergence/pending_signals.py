# SPDX-License-Identifier: Apache-2.0
"""What signals wish of nested stacks, until it is carried out.

A wish itself is in the owner's metadata; here stands that there is one.
Whoever takes the signal carries it out at once; if that process dies, recovery
finds it.  To carry it out is to make the nested stack match the metadata: it
does no harm twice, and does what several signals wish in one go.
"""

from __future__ import annotations

from collections.abc import Collection

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from heatconv.db.plumbing.session import reading, writing
from heatconv.db.plumbing.types import seconds_ago, utcnow
from heatconv.db.tables import resource, wish
from heatconv.model.records import ResourceRow


def note(connection: Connection, resource_id: str) -> None:
    """Note that there is a wish, as part of the transaction that writes the metadata."""
    mine = wish.c.resource_id == resource_id
    if connection.execute(sa.update(wish).where(mine).values(since=utcnow())).rowcount == 0:
        connection.execute(sa.insert(wish).values(resource_id=resource_id, since=utcnow()))


@reading
def of(connection: Connection, resource_ids: Collection[str]) -> list[str]:
    """Return which of some rows there are wishes for."""
    return list(connection.scalars(sa.select(wish.c.resource_id).where(wish.c.resource_id.in_(resource_ids))))


@writing
def take_overdue(connection: Connection, *, older_than: float, limit: int) -> list[str]:
    """Return rows whose wishes have not been carried out for some seconds, the oldest first.

    Concurrency: ``since`` is set anew WHERE it is as seen, so that of many
    engines one takes a wish, and each is tried once in that time.
    """
    overdue = (
        sa.select(wish).where(wish.c.since < seconds_ago(older_than)).order_by(wish.c.since).limit(limit)
    )
    return [
        row.resource_id
        for row in sorted(connection.execute(overdue), key=lambda row: row.resource_id)
        if connection.execute(
            sa.update(wish)
            .where(wish.c.resource_id == row.resource_id, wish.c.since == row.since)
            .values(since=utcnow())
        ).rowcount
        == 1
    ]


@writing
def try_settle(connection: Connection, row: ResourceRow) -> bool:
    """Forget a wish that was carried out, WHERE the row's metadata_key AND atomic_key are as read.

    If they are not, there is another wish, or something else goes on, by which
    it has to be carried out.
    """
    as_read = (
        sa.select(resource.c.id)
        .where(
            resource.c.id == row.id,
            resource.c.metadata_key == row.metadata_key,
            resource.c.atomic_key == row.atomic_key,
        )
        .with_for_update()
    )
    if connection.execute(as_read).first() is None:
        return False
    _drop(connection, row.id)
    return True


@writing
def drop(connection: Connection, resource_id: str) -> None:
    """Forget a wish that cannot be carried out."""
    _drop(connection, resource_id)


def _drop(connection: Connection, resource_id: str) -> None:
    connection.execute(sa.delete(wish).where(wish.c.resource_id == resource_id))
