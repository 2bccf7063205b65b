# SPDX-License-Identifier: Apache-2.0
"""How stacks that were deleted go for good, with all that is theirs.

A deleted stack stays for whoever asks what became of it, until it is purged.  Its row goes with the last
of what belongs to it: whoever breaks off in the middle leaves a row by which the rest is found.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Row

from heatconv.db.delivery import sinks
from heatconv.db.plumbing.session import Database, clock, reading, writing
from heatconv.db.plumbing.types import seconds_ago
from heatconv.db.purging import dropping
from heatconv.db.tables import (
    event,
    event_sent,
    event_sink,
    graph_edge,
    raw_template,
    resource,
    resource_data,
    resource_healing,
    resource_observed,
    resource_properties_observed,
    snapshot,
    stack,
    stack_observed,
    stack_tag,
    sync_point,
    sync_point_input,
    wish,
)

STACKS = 20  #: stacks that are read, and go, at a time, unless the operator says otherwise

_Of = Callable[[Sequence[str]], sa.ColumnElement[bool]]  #: the WHERE that finds what belongs to stacks


def _by_stack(table: sa.Table) -> tuple[sa.Table, _Of]:
    return table, table.c.stack_id.in_


def _by(column: sa.Column[str], owner: sa.Table) -> tuple[sa.Table, _Of]:
    return column.table, lambda ids: column.in_(sa.select(owner.c.id).where(owner.c.stack_id.in_(ids)))


#: What goes with a stack, in the order in which it does.  A sink goes before the events, or it would
#: deliver what is left of these; what is known of drift goes before them, too, for whoever looks at a
#: stack writes events only beside it; what is found by another row goes before that one.
_PARTS: Sequence[tuple[sa.Table, _Of]] = (
    _by(event_sent.c.sink_id, event_sink),
    _by_stack(event_sink),
    _by_stack(stack_observed),
    _by_stack(resource_observed),
    _by_stack(resource_properties_observed),
    _by_stack(resource_healing),
    _by_stack(event),
    _by_stack(sync_point_input),
    _by_stack(sync_point),
    _by_stack(graph_edge),
    _by(wish.c.resource_id, resource),
    _by(resource_data.c.resource_id, resource),
    _by_stack(resource),
    _by_stack(snapshot),
)

#: What goes in one transaction with the stack's own row, since a stack that is shown has it.
_LAST: Sequence[tuple[sa.Table, _Of]] = (
    _by_stack(stack_tag),
    _by_stack(raw_template),
    (stack, stack.c.id.in_),
)


@dataclass
class Progress:
    """Which rows have gone so far, by table, and how many stacks may not go yet."""

    is_dry: bool = False  #: none has; these are the rows that would
    rows: Counter[str] = field(default_factory=Counter)
    left: int = 0

    @property
    def stacks(self) -> int:
        """How many of the rows are stacks."""
        return self.rows[stack.name]

    @property
    def events(self) -> int:
        """How many of the rows are events."""
        return self.rows[event.name]

    def __str__(self) -> str:
        purged = "would be purged" if self.is_dry else "purged"
        others = self.rows.total() - self.stacks - self.events
        more = f"; {self.left} are still needed, and left to another time" if self.left else ""
        return (
            f"{self.stacks} deleted stacks {purged}, with {self.events} events and {others} other rows{more}"
        )


class _Found(NamedTuple):
    """Which deleted stacks may go, if nothing needs them."""

    until: datetime  #: they were deleted then, or earlier
    project_id: str | None  #: of this project; None: of all

    @property
    def where(self) -> sa.ColumnElement[bool]:
        """The WHERE that finds them."""
        # No index of projects helps: each page would be sorted out of all stacks that the project ever had.
        project = sa.func.coalesce(stack.c.project_id, "")
        mine = sa.true() if self.project_id is None else project == self.project_id
        return sa.and_(stack.c.deleted_at <= self.until, mine)


def purge(
    database: Database,
    *,
    older_than: float,
    project_id: str | None = None,
    batch: int = STACKS,
    is_dry: bool = False,
) -> Iterator[Progress]:
    """Drop the stacks that were deleted long ago; yield the progress after each transaction and each look.

    One that something still needs is left to another time: a worker that holds one of its resources, or
    the resource that owns it, a stack that lives on inside it, or a sink that is to get its events.

    Daemons may run meanwhile, and others who purge.  It may be broken off anywhere: a stack's row goes
    with the last of what belongs to it, so whoever purges next finds the rest by it.

    Args:
        older_than: the seconds that have passed since, by the database's clock.
        project_id: only this project's stacks; None: those of all.
        batch: how many stacks are read, and go, at a time.
        is_dry: drop nothing, and count what would go.

    Concurrency: each transaction locks the rows of its stacks first, WHERE they are deleted, old enough
    and needed by nothing.  No one that lives is locked.  A deleted stack is never changed nor comes
    back, and nothing begins to need one that nothing needs; of two who drop one, the second finds it
    gone.
    """
    found = _Found(_moment(database, older_than), project_id)
    progress = Progress(is_dry)
    last: Row[Any] | None = None
    while page := _page(database, found, after=last, limit=batch):
        going = [row.id for row in page if not row.is_needed]
        progress.left += len(page) - len(going)
        yield progress
        for rows in _count(database, going) if is_dry else _drop_all(database, found, going):
            progress.rows.update(rows)
            yield progress
        last = page[-1]
    yield progress


@reading
def _moment(connection: Connection, older_than: float) -> datetime:
    """Return the moment so many seconds ago."""
    return clock(connection) - timedelta(seconds=older_than)


@reading
def _page(
    connection: Connection, found: _Found, *, after: Row[Any] | None, limit: int
) -> Sequence[Row[tuple[datetime, str, bool]]]:
    """Return the next stacks that were deleted so long ago: (deleted_at, id, is_needed)."""
    query = sa.select(stack.c.deleted_at, stack.c.id, _is_needed().label("is_needed")).where(found.where)
    if after is not None:
        later = sa.or_(stack.c.deleted_at > after.deleted_at, stack.c.id > after.id)
        # The first part is what every database looks up in its index.
        query = query.where(stack.c.deleted_at >= after.deleted_at, later)
    return connection.execute(query.order_by(stack.c.deleted_at, stack.c.id).limit(limit)).all()


def _is_needed() -> sa.ColumnElement[bool]:
    mine, around, inside = resource.alias("mine"), resource.alias("around"), stack.alias("inside")
    lives = inside.c.deleted_at.is_(None)
    owns = sa.and_(inside.c.owner_resource_id == mine.c.id, lives)
    acts = sa.select(mine.c.id).where(mine.c.engine_id.is_not(None))
    # Whoever waits for a nested stack is woken by it (``nested.waiting_for_ended``).
    waits = sa.select(around.c.id).where(
        around.c.id == stack.c.owner_resource_id, around.c.engine_id.is_not(None)
    )
    to_all = sa.select(event.c.id).where(
        event.c.stack_id == stack.c.id,
        event.c.id > event_sink.c.cursor,
        event_sink.c.id == sinks.ALL_STACKS,
    )
    may_be_delivered = stack.c.deleted_at > seconds_ago(sinks.KEPT)
    has_sink = sa.select(event_sink.c.id).where(event_sink.c.stack_id == stack.c.id)
    return sa.or_(
        _some(acts.where(mine.c.stack_id == stack.c.id)),
        _some(waits),
        _some(sa.select(inside.c.id).where(inside.c.root_stack_id == stack.c.id, lives)),
        _some(sa.select(mine.c.id).join(inside, owns).where(mine.c.stack_id == stack.c.id)),
        sa.and_(may_be_delivered, sa.or_(_some(has_sink), _some(to_all))),
    )


def _some(query: sa.Select[tuple[Any]]) -> sa.ColumnElement[bool]:
    """Whether there is a row of a query, for a row of the query around it.

    A value, not EXISTS: whoever plans the query may not look at all there is, once for all of its rows.
    """
    return query.correlate(stack).limit(1).scalar_subquery().is_not(None)


def _drop_all(database: Database, found: _Found, stack_ids: Sequence[str]) -> Iterator[Counter[str]]:
    """Drop stacks, with all that is theirs; yield how many rows each transaction has dropped, by table."""
    while rows := _drop_some(database, found, stack_ids):
        yield rows
        if stack.name in rows:
            return


@writing
def _drop_some(connection: Connection, found: _Found, stack_ids: Sequence[str]) -> Counter[str]:
    """Drop some of what belongs to stacks, or the last of it with them; none: they are gone, or needed.

    Concurrency: see ``purge``.
    """
    # By their keys: the index by which they were found would be read as a whole.
    still = sa.func.coalesce(found.where, sa.false())
    mine = sa.select(stack.c.id).where(stack.c.id.in_(stack_ids), still, sa.not_(_is_needed()))
    going = connection.scalars(mine.order_by(stack.c.id).with_for_update()).all()
    rows: Counter[str] = Counter()
    if not going:
        return rows
    for table, of in _PARTS:
        keys = dropping.keys(connection, table, of(going), limit=dropping.ROWS - rows.total())
        rows[table.name] += dropping.drop(connection, table, keys)
        if rows.total() >= dropping.ROWS:
            return rows
    for table, of in _LAST:
        rows[table.name] += int(connection.execute(sa.delete(table).where(of(going))).rowcount)
    return rows


def _count(database: Database, stack_ids: Sequence[str]) -> Iterator[Counter[str]]:
    """Yield how many rows ``_drop_all`` would drop, by table."""
    yield _counted(database, stack_ids)


@reading
def _counted(connection: Connection, stack_ids: Sequence[str]) -> Counter[str]:
    count = sa.select(sa.func.count())
    return Counter(
        {
            table.name: int(connection.scalar(count.select_from(table).where(of(stack_ids))) or 0)
            for table, of in (*_PARTS, *_LAST)
        }
    )
