# SPDX-License-Identifier: Apache-2.0
"""After a restore: what the dump does not know is written down as not known.

The world may have gone on after the dump was taken.  A row of which nothing was made then may have its
thing by now, so it is looked for before one is made; and each stack is looked at and put right once.
Written in portions, none of which changes anything if it is written again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from heatconv.db import rows
from heatconv.db.convergence.services import alive
from heatconv.db.plumbing.places import placed
from heatconv.db.plumbing.session import Database, clock, reading, writing
from heatconv.db.plumbing.types import in_seconds, is_past, utcnow
from heatconv.db.tables import resource, restored_stack, service, stack
from heatconv.model.deferred import contains_deferred
from heatconv.model.records import Attempt, ResourceRow
from heatconv.model.states import Action, Status

ROWS = 500  #: that are read and written at a time
LEASE = 60.0  #: seconds until a stack whose turn an engine took is another engine's


@dataclass(frozen=True)
class Progress:
    """How much has been written down."""

    resources: int = 0  #: that may have been made since the dump
    stacks: int = 0  #: that are to be looked at

    def __str__(self) -> str:
        """Return a sentence."""
        return (
            f"{self.resources} resources are looked for before they are made;"
            f" {self.stacks} stacks are looked at, and put right, once the daemons run."
        )


@reading
def alive_daemons(connection: Connection, *, dead_after: float) -> int:
    """Return how many daemons heartbeat, or did so shortly before the dump."""
    query = sa.select(sa.func.count()).select_from(service).where(alive(dead_after))
    return connection.scalar(query) or 0


def mark(database: Database) -> Iterator[Progress]:
    """Write down what is not known; yield after each transaction how much that is by then.

    Concurrency: no daemon may run.
    """
    while _let_go_on(database):
        pass
    made, last = 0, ""
    while page := _never_made(database, after=last):
        last = page[-1].id
        made += _forget(database, page)
        yield Progress(resources=made)
    yield Progress(resources=made, stacks=_have_looked_at(database))


@writing
def _let_go_on(connection: Connection) -> int:
    """Give what was under way its whole time anew, WHERE that has run out; return of how many stacks."""
    now = clock(connection)
    late = sa.select(stack).where(stack.c.status == Status.IN_PROGRESS, stack.c.deadline <= now).limit(ROWS)
    found = connection.execute(late).all()
    for row in found:
        took = row.deadline - (row.updated_at or row.created_at)
        anew = now + max(took, timedelta(seconds=LEASE))
        connection.execute(sa.update(stack).where(stack.c.id == row.id).values(deadline=anew))
    return len(found)


@reading
def _never_made(connection: Connection, *, after: str) -> list[ResourceRow]:
    """Return the next rows of which nothing was made when the dump was taken, and nothing begun."""
    query = sa.select(resource).where(
        resource.c.id > after,
        resource.c.physical_id.is_(None),
        resource.c.desired_sha1.is_not(None),
        resource.c.applied_sha1.is_(None),
        resource.c.engine_id.is_(None),
        resource.c.action.in_([Action.INIT, Action.CREATE, Action.ADOPT]),
        sa.or_(resource.c.action == Action.INIT, resource.c.status != Status.COMPLETE),
    )
    return [rows.resource(row) for row in connection.execute(query.order_by(resource.c.id).limit(ROWS))]


@writing
def _forget(connection: Connection, page: Sequence[ResourceRow]) -> int:
    """Let rows have a creation of which nobody knows whether it was begun; return of how many that is so."""
    forgotten = [row for row in page if row.progress is None or row.progress.forgotten]
    for row in forgotten:
        written = placed(resource, {"progress": _unknown_creation(row).to_json()}, row)
        connection.execute(sa.update(resource).where(resource.c.id == row.id).values(written))
    return len(forgotten)


def _unknown_creation(row: ResourceRow) -> Attempt:
    """Return the creation of a row, by as much of its definition as is known without its inputs."""
    wanted = row.desired
    assert wanted is not None  # noqa: S101 - the query asked for it
    known = {name: value for name, value in wanted.properties.items() if not contains_deferred(value)}
    definition = wanted.changed(properties=known, metadata={}, update_policy={})
    return Attempt(action=Action.CREATE, definition=definition, sha1="", requires={}, forgotten=True)


@writing
def _have_looked_at(connection: Connection) -> int:
    """Have each root stack that is not left failed looked at; return how many there are to look at."""
    already = sa.select(restored_stack.c.stack_id)
    found = sa.select(stack.c.id, utcnow()).where(
        stack.c.deleted_at.is_(None),
        stack.c.owner_resource_id.is_(None),
        stack.c.action != Action.DELETE,
        stack.c.status != Status.FAILED,
        stack.c.id.not_in(already),
    )
    connection.execute(sa.insert(restored_stack).from_select(["stack_id", "due_at"], found))
    return connection.scalar(sa.select(sa.func.count()).select_from(restored_stack)) or 0


# -- looking at the stacks -----------------------------------------------------------------------------


@writing
def try_take(connection: Connection) -> str | None:
    """Take the turn of a stack that is to be looked at, WHERE it still is due; return its id, or None.

    It is due again when the lease is over.
    """
    query = sa.select(restored_stack.c.stack_id).where(is_past(restored_stack.c.due_at))
    due = connection.scalar(query.order_by(restored_stack.c.due_at).limit(1))
    mine = restored_stack.c.stack_id == due, is_past(restored_stack.c.due_at)
    leased = sa.update(restored_stack).where(*mine).values(due_at=in_seconds(LEASE))
    # If another engine was faster, there is another look a tick later.
    return due if due is not None and connection.execute(leased).rowcount == 1 else None


@writing
def put_off(connection: Connection, stack_id: str, *, seconds: float) -> None:
    """Have a stack looked at in some seconds."""
    mine = sa.update(restored_stack).where(restored_stack.c.stack_id == stack_id)
    connection.execute(mine.values(due_at=in_seconds(seconds)))


@writing
def finish(connection: Connection, stack_id: str) -> None:
    """Have a stack looked at no more."""
    connection.execute(sa.delete(restored_stack).where(restored_stack.c.stack_id == stack_id))
