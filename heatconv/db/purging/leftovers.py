# SPDX-License-Identifier: Apache-2.0
"""Rows that belong to nothing any more, or are too many: found without a lock, dropped by their keys."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from heatconv.db.delivery.events import last_to_go, note_dropped
from heatconv.db.plumbing.session import Database, reading, writing
from heatconv.db.plumbing.types import is_past, seconds_ago
from heatconv.db.purging import dropping
from heatconv.db.tables import (
    event,
    plan,
    quota,
    raw_template,
    resource,
    resource_healing,
    resource_observed,
    resource_properties_observed,
    service,
    software_config,
    software_deployment,
    stack,
    stack_observed,
)

DEAD = 86400.0  #: seconds without a heartbeat after which nobody asks any more what became of a daemon
STACKS = 500  #: stacks whose events are looked at together


class Leftover(NamedTuple):
    """Rows of a table that nobody needs."""

    table: sa.Table
    is_left: sa.ColumnElement[bool]  #: tells them from the others
    for_good: bool = True  #: whether one that is left once always is


def _there(table: sa.Table, *where: sa.ColumnElement[bool]) -> sa.ColumnElement[bool]:
    return sa.select(sa.literal_column("1")).select_from(table).where(*where).exists()


def _named(table: sa.Table) -> sa.ColumnElement[bool]:
    """Whether there is a resource of the stack and the name that a row is about."""
    return _there(resource, resource.c.stack_id == table.c.stack_id, resource.c.name == table.c.resource_name)


def _has_some(table: sa.Table) -> sa.ColumnElement[bool]:
    """Whether a quota's project has a row of the table that the quota is for."""
    return sa.and_(quota.c.kind == table.name, _there(table, table.c.project_id == quota.c.project_id))


_wanted = (stack.c.raw_template_id, stack.c.prev_raw_template_id)

LEFTOVERS: Sequence[Leftover] = (
    # Tries that failed, one after the other: what a stack is, and goes back to, are its first and its last.
    # A template and the stack that names it are written by one transaction.
    Leftover(
        raw_template,
        ~_there(stack, stack.c.id == raw_template.c.stack_id, raw_template.c.id.in_(_wanted)),
    ),
    Leftover(
        stack_observed, ~_there(stack, stack.c.id == stack_observed.c.stack_id, stack.c.deleted_at.is_(None))
    ),
    Leftover(resource_observed, ~_there(resource, resource.c.id == resource_observed.c.resource_id)),
    Leftover(resource_properties_observed, ~_named(resource_properties_observed), for_good=False),
    Leftover(resource_healing, ~_named(resource_healing), for_good=False),
    # Locked by whoever adds to a project, who adds it again if it is gone.
    Leftover(
        quota,
        ~sa.or_(*(_has_some(table) for table in (stack, plan, software_config, software_deployment))),
        for_good=False,
    ),
    Leftover(plan, is_past(plan.c.expires_at)),
    Leftover(service, service.c.updated_at <= seconds_ago(DEAD), for_good=False),
)


def sweep(database: Database, *, keep_events: int = -1) -> Iterator[Counter[str]]:
    """Drop what nobody needs; yield after each transaction how many rows have gone by then, by table.

    That is after each look that found nothing, too: in a large installation one may take long.

    Args:
        keep_events: how many of a stack's events stay, the newest; all of them if negative.

    Concurrency: what is left for good is dropped by its key; the rest WHERE it still is left, on which no
    row of a stack or of a resource that is there is locked.  That of a stack of which events go is written
    first, in a transaction of its own.
    """
    rows: Counter[str] = Counter()
    for leftover in LEFTOVERS:
        for dropped in _swept(database, leftover):
            rows += Counter({leftover.table.name: dropped})
            yield rows
    if keep_events >= 0:
        for dropped in _old_events_dropped(database, keep_events):
            rows += Counter({event.name: dropped})
            yield rows


def _swept(database: Database, leftover: Leftover) -> Iterator[int]:
    last: dropping.Key | None = None
    while found := _found(database, leftover, last):
        yield _dropped(database, leftover, found)
        last = found[-1]
    yield 0


@reading
def _found(connection: Connection, leftover: Leftover, last: dropping.Key | None) -> Sequence[dropping.Key]:
    return dropping.keys_after(connection, leftover.table, last, leftover.is_left, limit=dropping.ROWS)


@writing
def _dropped(connection: Connection, leftover: Leftover, found: Sequence[dropping.Key]) -> int:
    # To ask again would have MariaDB lock what the answer goes by: the stacks of templates, for one.
    where = () if leftover.for_good else (leftover.is_left,)
    return dropping.drop(connection, leftover.table, found, *where)


# -- events ------------------------------------------------------------------------------------------


def _old_events_dropped(database: Database, keep: int) -> Iterator[int]:
    """Drop all but the newest events of each stack, as an action does that begins; yield how many."""
    last = ""
    while page := _oldest_kept(database, keep, after=last):
        for row in page:
            if row.last_to_go is None:
                continue
            _note_dropped(database, row.id, row.last_to_go)
            while dropped := _drop_old(database, row.id, row.last_to_go):
                yield dropped
        yield 0
        last = page[-1].id


@reading
def _oldest_kept(connection: Connection, keep: int, *, after: str) -> Sequence[Any]:
    """Return the next stacks, each with the number of the last of its events that may go, if one may."""
    last = last_to_go(stack.c.id, keep).scalar_subquery().label("last_to_go")
    query = sa.select(stack.c.id, last).where(stack.c.id > after)
    return connection.execute(query.order_by(stack.c.id).limit(STACKS)).all()


_note_dropped = writing(note_dropped)


@writing
def _drop_old(connection: Connection, stack_id: str, last_to_go: int) -> int:
    old = event.c.stack_id == stack_id, event.c.id <= last_to_go
    return dropping.drop(connection, event, dropping.keys(connection, event, *old, limit=dropping.ROWS))
