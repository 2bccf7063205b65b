# SPDX-License-Identifier: Apache-2.0
"""How often stacks and resources were healed: what keeps healing from going round in circles."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from heatconv.db.events import add_events, resource_event
from heatconv.db.session import reading, writing
from heatconv.db.tables import resource_healing, stack_observed
from heatconv.db.types import utcnow
from heatconv.model.records import Resource
from heatconv.model.states import Action, Status

HOUR = timedelta(hours=1)


@writing
def start_afresh(connection: Connection, root_id: str, stack_ids: Collection[str], traversal_id: str) -> None:
    """Forget how often the resources of a root stack were healed: a user has started a traversal since."""
    connection.execute(sa.delete(resource_healing).where(resource_healing.c.stack_id.in_(stack_ids)))
    _note(connection, root_id, traversal_id)


@writing
def note_begun(connection: Connection, root_id: str, traversal_id: str) -> None:
    """Record which traversal heals a root stack: any other one is a user's."""
    _note(connection, root_id, traversal_id)


def _note(connection: Connection, root_id: str, traversal_id: str) -> None:
    known = stack_observed.c.stack_id == root_id
    connection.execute(sa.update(stack_observed).where(known).values(traversal_id=traversal_id))


@reading
def given_up(connection: Connection, stack_ids: Collection[str]) -> set[tuple[str, str]]:
    """Return the resources of some stacks that are left alone, by stack and name."""
    query = sa.select(resource_healing.c.stack_id, resource_healing.c.resource_name).where(
        resource_healing.c.stack_id.in_(stack_ids), resource_healing.c.tripped == sa.true()
    )
    return {(stack_id, name) for stack_id, name in connection.execute(query)}


@writing
def try_count_stack(connection: Connection, root_id: str, *, most: int) -> bool:
    """Count one more healing of a root stack, WHERE there were fewer than ``most`` within an hour."""
    now = _now(connection)
    known = stack_observed.c.stack_id == root_id
    over = sa.or_(stack_observed.c.heals_since.is_(None), stack_observed.c.heals_since <= now - HOUR)
    anew = sa.update(stack_observed).where(known, over).values(heals=1, heals_since=now)
    if connection.execute(anew).rowcount == 1:
        return True
    more = sa.update(stack_observed).where(known, stack_observed.c.heals < most)
    return connection.execute(more.values(heals=stack_observed.c.heals + 1)).rowcount == 1


@writing
def count(connection: Connection, resources: Sequence[Resource], *, most: int) -> set[str]:
    """Count one more healing of each of some resources; return the ids of those that are given up.

    That is those that were healed ``most`` times within an hour and have
    drifted once more; an event tells of it.  They are not to come here again.
    """
    now = _now(connection)
    table = resource_healing
    known = {
        (row.stack_id, row.resource_name): row
        for row in connection.execute(
            sa.select(table)
            .where(table.c.stack_id.in_({row.stack_id for row in resources}))
            .with_for_update()
        )
    }
    tripped, told, counted = set(), [], []
    for resource in resources:
        attempts, since = _within_an_hour(known.get((resource.stack_id, resource.name)), now)
        if attempts >= most:
            tripped.add(resource.id)
            told.append(_given_up(resource, attempts))
        counted.append(
            {
                "stack_id": resource.stack_id,
                "resource_name": resource.name,
                "attempts": min(attempts + 1, most),
                "since": since,
                "tripped": attempts >= most,
            }
        )
    for stack_id in sorted({row.stack_id for row in resources}):
        names = [row.name for row in resources if row.stack_id == stack_id]
        connection.execute(
            sa.delete(table).where(table.c.stack_id == stack_id, table.c.resource_name.in_(names))
        )
    if counted:
        connection.execute(sa.insert(table), counted)
    add_events(connection, told)
    return tripped


def _within_an_hour(before: sa.Row[tuple[object, ...]] | None, now: datetime) -> tuple[int, datetime]:
    if before is None or before.since <= now - HOUR:
        return 0, now
    return before.attempts, before.since


def _given_up(row: Resource, attempts: int) -> dict[str, object]:
    return resource_event(
        stack_id=row.stack_id,
        resource_id=row.id,
        name=row.name,
        type_name=row.type,
        physical_id=row.physical_id,
        action=Action.OBSERVE,
        status=Status.FAILED,
        reason=f"it does not stay healed: after {attempts} times within an hour it is left alone until a"
        " user updates or converges the stack",
    )


def _now(connection: Connection) -> datetime:
    now: datetime = connection.execute(sa.select(utcnow())).scalar_one()
    return now
