# SPDX-License-Identifier: Apache-2.0
"""Where events are delivered to, whose turn that is, and which have been.

A row for each sink that a stack's environment names; one without a stack takes
the events of all.  There is no leader: an engine takes what is due by one
conditional update, for as long as a lease lasts.

Events are numbered when they are written, and seen when that is committed: one
with a smaller number may turn up after one with a larger was delivered.  So the
cursor stays behind whatever a transaction that is still open may have written,
and what was delivered beyond it is noted one by one.  What happened because of
something else has a larger number and is seen later: it is delivered later, too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from heatconv.db import rows
from heatconv.db.plumbing.connections import LONGEST_PAUSE
from heatconv.db.plumbing.places import Opened, placed
from heatconv.db.plumbing.prepared import Prepared
from heatconv.db.plumbing.session import clock, reading, writing
from heatconv.db.plumbing.types import is_past, seconds_ago, utcnow
from heatconv.db.tables import event, event_sent, event_sink, stack
from heatconv.model.ids import new_id
from heatconv.model.records import Event

OPEN = 20.0 * LONGEST_PAUSE  #: seconds that a transaction may be open at most, once it has written an event

KEPT = 86400.0  #: seconds after a stack was deleted until a sink that takes nothing is given up

ALL_STACKS = "all stacks"  #: the id of the row that stands for the operator

Spec = Mapping[str, Any]  #: a sink as an environment has it


@dataclass(frozen=True, kw_only=True)
class DueSink:
    """A sink whose events are to be delivered."""

    id: str
    stack_id: str | None  #: None: it takes the events of all stacks
    spec: Spec
    attempts: int  #: how often in a row nothing could be delivered
    claim: str


@dataclass(frozen=True, kw_only=True)
class Pending:
    """An event that is to be delivered."""

    number: int
    event: Event


# -- which sinks there are ------------------------------------------------------------------------


_OF_STACK = Prepared(sa.select(event_sink).where(event_sink.c.stack_id == sa.bindparam("of")))


def keep(connection: Connection, stack_id: str, specs: Sequence[Spec]) -> None:
    """Have the events of a stack delivered to these sinks, and from now on to no other.

    A new one gets what happens from now on; one that goes, what has happened.

    Concurrency: within a transaction that has locked the stack's row.
    """
    wanted = [spec for place, spec in enumerate(specs) if spec not in specs[:place]]
    rows_known = connection.execute(_OF_STACK, {"of": stack_id})
    known = [Opened(event_sink, row) for row in rows_known]
    there = {row.id: row.spec for row in known}
    back = [row.id for row in known if row.removed_at is not None and row.spec in wanted]
    gone = [row.id for row in known if row.removed_at is None and row.spec not in wanted]
    for ids, moment in ((back, None), (gone, utcnow())):
        if ids:
            connection.execute(
                sa.update(event_sink).where(event_sink.c.id.in_(ids)).values(removed_at=moment)
            )
    if new := [spec for spec in wanted if spec not in there.values()]:
        last = connection.scalar(sa.select(sa.func.max(event.c.id)).where(event.c.stack_id == stack_id))
        _add(connection, [{"id": new_id(), "stack_id": stack_id, "spec": spec} for spec in new], last or 0)


@writing
def keep_all(connection: Connection, spec: Spec | None) -> None:
    """Have what happens to all stacks from now on delivered to a sink; None: not any more.

    Concurrency: of engines that begin at the same time one adds the row, WHERE
    there is none; the others find it by its key, and leave it alone.
    """
    mine = event_sink.c.id == ALL_STACKS
    known = connection.scalar(sa.select(event_sink.c.id).where(mine)) is not None
    if spec is None and known:
        connection.execute(sa.delete(event_sent).where(event_sent.c.sink_id == ALL_STACKS))
        connection.execute(sa.delete(event_sink).where(mine))
    if spec is not None and not known:
        last = connection.scalar(sa.select(sa.func.max(event.c.id)))
        _add(connection, [{"id": ALL_STACKS, "stack_id": None, "spec": spec}], last or 0)


def _add(connection: Connection, sinks: Sequence[Mapping[str, Any]], cursor: int) -> None:
    added = sa.insert(event_sink).values(cursor=cursor, attempts=0, due_at=utcnow())
    connection.execute(added, [placed(event_sink, sink) for sink in sinks])


# -- turns ----------------------------------------------------------------------------------------


def _unsent(*, everywhere: bool) -> sa.Select[tuple[int]]:
    """The numbers of the events that a sink, a row of the query around, has yet to get."""
    # A value, as below: for a join a database has to know how much there is, and that changes by the second.
    sent = (
        sa.select(event_sent.c.event_id)
        .where(event_sent.c.sink_id == event_sink.c.id, event_sent.c.event_id == event.c.id)
        .correlate(event, event_sink)
        .scalar_subquery()
    )
    return (
        sa.select(event.c.id)
        .where(
            sa.true() if everywhere else event.c.stack_id == event_sink.c.stack_id,
            event.c.id > event_sink.c.cursor,
            sa.or_(event_sink.c.removed_at.is_(None), event.c.created_at <= event_sink.c.removed_at),
            sent.is_(None),
        )
        .order_by(event.c.id)
        .correlate(event_sink)
    )


@reading
def news(connection: Connection) -> tuple[int | None, datetime | None]:
    """Return what is another one when an event has come, or when the time of a sink has.

    That costs two entries of indexes, however many sinks and events there are.
    """
    newest = sa.select(sa.func.max(event.c.id)).scalar_subquery()
    next_due = sa.select(sa.func.min(event_sink.c.due_at)).where(~is_past(event_sink.c.due_at))
    row = connection.execute(sa.select(newest, next_due.scalar_subquery())).one()
    return row[0], row[1]


@reading
def due(connection: Connection, *, limit: int, everywhere: bool, settled_after: float = OPEN) -> list[str]:
    """Return sinks that have something to do, the one that is due longest first.

    That is to deliver something, to move a cursor that could have been moved for
    a while, or to go.  Each costs a look at the end of its stack's events, however
    many these are.

    Args:
        everywhere: look after the one that takes the events of all stacks as well.
    """
    earliest = (
        sa.select(event_sent.c.event_at)
        .where(event_sent.c.sink_id == event_sink.c.id)
        .order_by(event_sent.c.event_id)
        .limit(1)
        .correlate(event_sink)
        .scalar_subquery()
    )
    found: list[str] = []
    for all_stacks in (False, True) if everywhere else (False,):
        # A value, not EXISTS: whoever plans the query may not turn it into a join with all events.
        unsent = _unsent(everywhere=all_stacks).limit(1).scalar_subquery()
        query = (
            sa.select(event_sink.c.id)
            .where(
                event_sink.c.stack_id.is_(None) if all_stacks else event_sink.c.stack_id.is_not(None),
                is_past(event_sink.c.due_at),
                sa.or_(
                    unsent.is_not(None),
                    earliest < seconds_ago(2 * settled_after),
                    event_sink.c.removed_at < seconds_ago(settled_after),
                ),
            )
            .order_by(event_sink.c.due_at)
            .limit(limit)
        )
        found += connection.scalars(query)
    return found[-limit:]


@writing
def take(connection: Connection, sink_ids: Sequence[str], *, lease: float) -> list[DueSink]:
    """Take the turns of some sinks, WHERE they are due still; they are due again when the lease is over."""
    claim, now = new_id(), clock(connection)
    taken = connection.execute(
        sa.update(event_sink)
        .where(event_sink.c.id.in_(sorted(sink_ids)), event_sink.c.due_at <= now)
        .values(claim=claim, due_at=now + timedelta(seconds=lease))
    )
    if taken.rowcount == 0:
        return []
    query = sa.select(event_sink).where(event_sink.c.claim == claim, event_sink.c.id.in_(sink_ids))
    return rows.intact(connection.execute(query), _turn)


def _turn(row: Any) -> DueSink:
    row = Opened(event_sink, row)
    return DueSink(id=row.id, stack_id=row.stack_id, spec=row.spec, attempts=row.attempts, claim=row.claim)


@reading
def pending(connection: Connection, turn: DueSink, *, limit: int) -> list[Pending]:
    """Return the next events for a sink, in the order of their numbers."""
    unsent = _unsent(everywhere=turn.stack_id is None).with_only_columns(*event.c).limit(limit)
    query = unsent.correlate(None).where(event_sink.c.id == turn.id)
    return [Pending(number=row.id, event=rows.event(row)) for row in connection.execute(query)]


@writing
def end(
    connection: Connection,
    turn: DueSink,
    delivered: Sequence[Pending],
    *,
    again_in: float = 0.0,
    attempts: int = 0,
    settled_after: float = OPEN,
) -> bool:
    """End a turn, WHERE the claim still is as taken, and note what was delivered; False: it came too late.

    A sink that nothing can come for any more, since it or its stack is gone, goes; so
    does one whose stack was deleted a day ago: nobody can mend its target any more.
    """
    now = clock(connection)
    ended = (
        sa.update(event_sink)
        .where(event_sink.c.id == turn.id, event_sink.c.claim == turn.claim)
        .values(
            claim=None,
            due_at=now + timedelta(seconds=again_in),
            attempts=attempts,
        )
    )
    if connection.execute(ended).rowcount != 1:
        return False
    if delivered:
        connection.execute(
            sa.insert(event_sent),
            [
                {"sink_id": turn.id, "event_id": each.number, "event_at": each.event.created_at}
                for each in delivered
            ],
        )
    _settle(connection, turn, now, now - timedelta(seconds=settled_after))
    return True


def _settle(connection: Connection, turn: DueSink, now: datetime, horizon: datetime) -> None:
    """Move the cursor over what was delivered and is older than any transaction that is open."""
    unsent = _unsent(everywhere=turn.stack_id is None).correlate(None).where(event_sink.c.id == turn.id)
    first = connection.scalar(unsent.limit(1))
    of_sink = event_sent.c.sink_id == turn.id
    settled = sa.select(sa.func.max(event_sent.c.event_id)).where(of_sink, event_sent.c.event_at < horizon)
    if first is not None:
        settled = settled.where(event_sent.c.event_id < first)
    cursor = connection.scalar(settled)
    if cursor is not None:
        connection.execute(sa.update(event_sink).where(event_sink.c.id == turn.id).values(cursor=cursor))
        connection.execute(sa.delete(event_sent).where(of_sink, event_sent.c.event_id <= cursor))
    if turn.stack_id is not None:
        given_up = stack.c.deleted_at < now - timedelta(seconds=KEPT)
        ended = sa.or_(event_sink.c.removed_at < horizon, stack.c.deleted_at < horizon, stack.c.id.is_(None))
        gone = sa.select(event_sink.c.id).join(stack, stack.c.id == event_sink.c.stack_id, isouter=True)
        gone = gone.where(event_sink.c.id == turn.id, ended if first is None else given_up)
        if connection.scalar(gone) is not None:
            connection.execute(sa.delete(event_sent).where(of_sink))
            connection.execute(sa.delete(event_sink).where(event_sink.c.id == turn.id))
