# SPDX-License-Identifier: Apache-2.0
"""How stacks that were deleted go for good, with their last templates, tags, snapshots and events.

A deleted stack stays for whoever asks what became of it, until it is purged.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Row

from heatconv.db.delivery import sinks
from heatconv.db.plumbing.session import Database, reading, writing
from heatconv.db.plumbing.types import seconds_ago
from heatconv.db.tables import (
    event,
    event_sent,
    event_sink,
    raw_template,
    resource,
    snapshot,
    stack,
    stack_tag,
)

STACKS = 20  #: stacks that go in one transaction, unless the operator says otherwise
EVENTS = 1000  #: events that go in one transaction


@dataclass
class Progress:
    """How many stacks have gone so far, with how many events; and how many may not go yet."""

    stacks: int = 0
    events: int = 0
    left: int = 0

    def __str__(self) -> str:
        more = f"; {self.left} are still needed, and left to another time" if self.left else ""
        return f"{self.stacks} deleted stacks purged, with {self.events} events{more}"


def purge(
    database: Database, *, older_than: float, project_id: str | None = None, batch: int = STACKS
) -> Iterator[Progress]:
    """Drop the stacks that were deleted long ago; yield the progress after each batch of them.

    One that something still needs is left to another time: a row of its resources, the row
    that owns it, a stack that lives on inside it, or a sink that is to get its events.

    Daemons may run meanwhile, and others who purge.  It may be broken off: a stack's row goes
    with the last of what belongs to it, so whoever purges next finds the rest by it.

    Args:
        older_than: the seconds that have passed since, by the database's clock.
        project_id: only this project's stacks; None: those of all.
        batch: how many stacks are read, and go, at a time.

    Concurrency: a deleted stack is never changed nor comes back, and nothing begins to need
    one that nothing needs; so rows are deleted by their keys, and of two who delete one, the
    second finds it gone.
    """
    progress = Progress()
    last = ""
    while deleted := _deleted(database, older_than, project_id, after=last, limit=batch):
        unneeded = [row.id for row in deleted if not row.is_needed]
        progress.left += len(deleted) - len(unneeded)
        while events := _drop_events(database, unneeded):
            progress.events += events
        progress.stacks += _drop(database, unneeded)
        last = deleted[-1].id
        yield progress
    yield progress


@reading
def _deleted(
    connection: Connection, older_than: float, project_id: str | None, *, after: str, limit: int
) -> Sequence[Row[tuple[str, bool]]]:
    """Return the next stacks that were deleted so long ago: (id, is_needed)."""
    # In the order of their keys: all of it reads the table once, living stacks among them.
    query = sa.select(stack.c.id, _is_needed().label("is_needed")).where(
        stack.c.id > after,
        stack.c.deleted_at <= seconds_ago(older_than),
        sa.true() if project_id is None else stack.c.project_id == project_id,
    )
    return connection.execute(query.order_by(stack.c.id).limit(limit)).all()


def _is_needed() -> sa.ColumnElement[bool]:
    has_rows = sa.select(resource.c.id).where(resource.c.stack_id == stack.c.id)
    has_owner = sa.select(resource.c.id).where(resource.c.id == stack.c.owner_resource_id)
    inside = stack.alias("inside")
    is_root = sa.select(inside.c.id).where(
        inside.c.root_stack_id == stack.c.id, inside.c.deleted_at.is_(None)
    )
    has_sink = sa.select(event_sink.c.id).where(event_sink.c.stack_id == stack.c.id)
    goes_to_all = sa.select(event.c.id).where(
        event.c.stack_id == stack.c.id,
        event.c.id > event_sink.c.cursor,
        event_sink.c.id == sinks.ALL_STACKS,
    )
    may_be_delivered = stack.c.deleted_at > seconds_ago(sinks.KEPT)
    return sa.or_(
        has_rows.exists(),
        has_owner.exists(),
        is_root.exists(),
        sa.and_(may_be_delivered, sa.or_(has_sink.exists(), goes_to_all.exists())),
    )


@writing
def _drop_events(connection: Connection, stack_ids: Sequence[str]) -> int:
    """Drop some events of stacks; return how many."""
    some = sa.select(event.c.id).where(event.c.stack_id.in_(stack_ids)).limit(EVENTS)
    ids = connection.scalars(some).all()
    return connection.execute(sa.delete(event).where(event.c.id.in_(ids))).rowcount if ids else 0


@writing
def _drop(connection: Connection, stack_ids: Sequence[str]) -> int:
    """Drop stacks, and what belongs to them besides events; return how many they were."""
    sinks_of_them = sa.select(event_sink.c.id).where(event_sink.c.stack_id.in_(stack_ids))
    connection.execute(sa.delete(event_sent).where(event_sent.c.sink_id.in_(sinks_of_them)))
    for table in (event_sink, snapshot, stack_tag, raw_template):
        connection.execute(sa.delete(table).where(table.c.stack_id.in_(stack_ids)))
    return connection.execute(sa.delete(stack).where(stack.c.id.in_(stack_ids))).rowcount
