# SPDX-License-Identifier: Apache-2.0
"""Whose turn it is to look at which stack: a row for each root stack, with when it is due next.

There is no leader: an engine takes the turns that are due by one conditional
update, for as long as a lease lasts.  One that dies loses them to the others
when the lease is over.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from heatconv.db import rows
from heatconv.db.delivery.events import add_stack_event
from heatconv.db.plumbing.session import clock, reading, writing
from heatconv.db.plumbing.types import is_past
from heatconv.db.tables import stack, stack_observed
from heatconv.model.drift import DriftStatus, StackDrift
from heatconv.model.ids import new_id
from heatconv.model.records import Stack
from heatconv.model.states import Action, Status


@dataclass(frozen=True, kw_only=True)
class DueStack:
    """A root stack that is to be looked at, and how far a round that takes several turns is."""

    stack: Stack
    claim: str
    cursor: str | None
    blind: bool  #: something could not be looked at in this round


@dataclass(frozen=True, kw_only=True)
class Looked:
    """How a turn ended: when the next one is, and how the stack was found."""

    turn: DueStack
    again_in: float  #: seconds
    cursor: str | None = None  #: where the round goes on; None: it is at its end
    blind: bool = False
    status: DriftStatus | None = None  #: None: it is not known yet whether that has changed


@writing
def make_known(connection: Connection, stack_id: str, *, due_in: float | None = None) -> None:
    """Have a root stack looked at from now on, first in some seconds: see ``ask_for``."""
    connection.execute(sa.select(stack.c.id).where(stack.c.id == stack_id).with_for_update()).all()
    ask_for(connection, stack_id, due_in=due_in)


def ask_for(connection: Connection, stack_id: str, *, due_in: float | None) -> None:
    """Have a root stack looked at in some seconds; None: when it is due anyway.

    Concurrency: within a transaction that has locked the stack's row.
    """
    now = clock(connection)
    known = stack_observed.c.stack_id == stack_id
    if connection.scalar(sa.select(stack_observed.c.stack_id).where(known)) is None:
        connection.execute(sa.insert(stack_observed), [_first(stack_id, now, due_in or 0)])
    elif due_in is not None:
        due = now + timedelta(seconds=due_in)
        connection.execute(sa.update(stack_observed).where(known).values(due_at=due, claim=None))


@writing
def hurry(connection: Connection, stack_id: str, *, within: float) -> None:
    """Have a root stack looked at within some seconds, WHERE it would be later."""
    due = clock(connection) + timedelta(seconds=within)
    later = sa.and_(stack_observed.c.stack_id == stack_id, stack_observed.c.due_at > due)
    connection.execute(sa.update(stack_observed).where(later).values(due_at=due))


@writing
def make_unknown_known(connection: Connection, *, limit: int, spread: float) -> int:
    """Have root stacks looked at that nobody said anything about; return how many.

    They are due over some seconds, one after the other.
    """
    unknown = (
        sa.select(stack.c.id)
        .outerjoin(stack_observed, stack_observed.c.stack_id == stack.c.id)
        .where(
            stack.c.live_name.is_not(None),
            stack.c.owner_resource_id.is_(None),
            stack_observed.c.stack_id.is_(None),
        )
        .order_by(stack.c.id)
        .limit(limit)
    )
    found = connection.scalars(unknown).all()
    if not found:
        return 0
    # Another process that does the same waits here, and then finds these stacks known.
    connection.execute(
        sa.select(stack.c.id).where(stack.c.id.in_(found)).order_by(stack.c.id).with_for_update()
    ).all()
    already = set(
        connection.scalars(sa.select(stack_observed.c.stack_id).where(stack_observed.c.stack_id.in_(found)))
    )
    new = [stack_id for stack_id in found if stack_id not in already]
    now = clock(connection)
    if new:
        firsts = [_first(each, now, spread * place / len(new)) for place, each in enumerate(new)]
        connection.execute(sa.insert(stack_observed), firsts)
    return len(found)


def _first(stack_id: str, now: datetime, due_in: float) -> dict[str, object]:
    return {
        "stack_id": stack_id,
        "status": DriftStatus.UNKNOWN,
        "since": now,
        "due_at": now + timedelta(seconds=due_in),
        "blind": False,
        "heals": 0,
    }


# -- turns ----------------------------------------------------------------------------------


@reading
def due(connection: Connection, limit: int) -> list[str]:
    """Return the stacks that are due, the one that is so longest first."""
    query = sa.select(stack_observed.c.stack_id).where(is_past(stack_observed.c.due_at))
    return list(connection.scalars(query.order_by(stack_observed.c.due_at).limit(limit)))


@writing
def take(connection: Connection, stack_ids: Sequence[str], *, lease: float) -> list[DueStack]:
    """Take the turns of some stacks, WHERE they are due still; they are due again when the lease is over."""
    claim, now = new_id(), clock(connection)
    taken = connection.execute(
        sa.update(stack_observed)
        .where(stack_observed.c.stack_id.in_(sorted(stack_ids)), stack_observed.c.due_at <= now)
        .values(claim=claim, due_at=now + timedelta(seconds=lease))
    )
    if taken.rowcount == 0:
        return []
    query = (
        sa.select(*stack.c, stack_observed.c.cursor, stack_observed.c.blind)
        .join(stack_observed, stack_observed.c.stack_id == stack.c.id)
        .where(stack_observed.c.claim == claim)
        .order_by(stack.c.id)
    )
    return [
        DueStack(stack=rows.stack(row), claim=claim, cursor=row.cursor, blind=row.blind)
        for row in connection.execute(query)
    ]


@writing
def end(connection: Connection, looked: Sequence[Looked]) -> None:
    """End some turns, WHERE the claim still is as taken: an observer that came too late changes nothing.

    A stack whose status is another by that has an event that says so.
    """
    now = clock(connection)
    found = {each.turn.stack.id: each for each in looked if each.status is not None}
    for row in _locked(connection, found) if found else ():
        turn, status = found[row.stack_id].turn, found[row.stack_id].status
        if row.claim == turn.claim and status is not None and status != row.status:
            _add_status_event(connection, row, status, turn.stack.name)
    ended = (
        sa.update(stack_observed)
        .where(
            stack_observed.c.stack_id == sa.bindparam("of_stack"),
            stack_observed.c.claim == sa.bindparam("claimed"),
        )
        .ordered_values(
            # In this order: in MySQL a later assignment reads the values that the earlier ones wrote.
            (stack_observed.c.since, _since("found", now)),
            (stack_observed.c.status, sa.func.coalesce(sa.bindparam("found"), stack_observed.c.status)),
            (
                stack_observed.c.observed_at,
                sa.func.coalesce(sa.bindparam("at"), stack_observed.c.observed_at),
            ),
            (stack_observed.c.due_at, sa.bindparam("again_at")),
            (stack_observed.c.cursor, sa.bindparam("goes_on")),
            (stack_observed.c.blind, sa.bindparam("was_blind")),
            (stack_observed.c.claim, None),
        )
    )
    connection.execute(
        ended,
        [
            {
                "of_stack": each.turn.stack.id,
                "claimed": each.turn.claim,
                "found": each.status,
                "at": None if each.cursor else now,
                "again_at": now + timedelta(seconds=each.again_in),
                "goes_on": each.cursor,
                "was_blind": each.blind and each.cursor is not None,
            }
            for each in looked
        ],
    )


def _locked(connection: Connection, stack_ids: Iterable[str]) -> Sequence[Any]:
    """Lock the rows on the drift of some stacks, and return them."""
    known = sa.select(stack_observed.c.stack_id, stack_observed.c.status, stack_observed.c.claim)
    known = known.where(stack_observed.c.stack_id.in_(list(stack_ids))).order_by(stack_observed.c.stack_id)
    return connection.execute(known.with_for_update()).all()


def _add_status_event(connection: Connection, known: Any, status: DriftStatus, name: str) -> None:
    """Record as an event that the status of a stack's drift has changed."""
    add_stack_event(
        connection,
        stack_id=known.stack_id,
        name=name,
        action=Action.OBSERVE,
        status=Status.FAILED if status is DriftStatus.DRIFTED else Status.COMPLETE,
        reason=f"Stack is {status}; it was {known.status}",
    )


def _since(parameter: str, now: datetime) -> sa.ColumnElement[datetime]:
    return sa.case(
        (sa.func.coalesce(sa.bindparam(parameter), stack_observed.c.status) != stack_observed.c.status, now),
        else_=stack_observed.c.since,
    )


@writing
def note(connection: Connection, stack_id: str, status: DriftStatus, *, whole: bool) -> None:
    """Record the status of a root stack after a look at it that was not due; ``whole``: at all of it."""
    now = clock(connection)
    for row in _locked(connection, [stack_id]):
        if status != row.status:
            name = connection.execute(sa.select(stack.c.name).where(stack.c.id == stack_id)).scalar_one()
            _add_status_event(connection, row, status, name)
    noted = sa.update(stack_observed).where(stack_observed.c.stack_id == sa.bindparam("of_stack"))
    noted = noted.ordered_values(
        (stack_observed.c.since, _since("found", now)),
        (stack_observed.c.status, sa.bindparam("found")),
        (stack_observed.c.observed_at, now if whole else stack_observed.c.observed_at),
    )
    connection.execute(noted, {"of_stack": stack_id, "found": status})


@reading
def get(connection: Connection, stack_id: str) -> StackDrift | None:
    """Return the drift that is known of a root stack; None if nobody ever looked, or asked for a look."""
    query = sa.select(stack_observed).where(stack_observed.c.stack_id == stack_id)
    row = connection.execute(query).one_or_none()
    if row is None:
        return None
    return rows.stack_drift(row.stack_id, row.status, row.since, row.observed_at, row.traversal_id)
