# SPDX-License-Identifier: Apache-2.0
"""How often stacks and resources were healed: what keeps healing from going round in circles."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from heatconv.db.delivery.events import add_events, resource_event
from heatconv.db.plumbing.session import clock, reading, writing
from heatconv.db.tables import resource_healing, stack_observed
from heatconv.model.records import ResourceRow, Stack
from heatconv.model.states import Action, Status

HOUR = timedelta(hours=1)


@writing
def start_afresh(connection: Connection, stack_ids: Collection[str]) -> None:
    """Forget how often the resources of some stacks were healed: a user has started a traversal since."""
    connection.execute(sa.delete(resource_healing).where(resource_healing.c.stack_id.in_(stack_ids)))


def note_begun(
    connection: Connection, root_id: str, traversal_id: str, resources: Sequence[ResourceRow]
) -> None:
    """Record which traversal heals a root stack (any other one is a user's), and count what it heals.

    Concurrency: within the transaction that starts it, which has locked the stack's row.
    """
    now, known = clock(connection), stack_observed.c.stack_id == root_id
    over = sa.or_(stack_observed.c.heals_since.is_(None), stack_observed.c.heals_since <= now - HOUR)
    begun = sa.update(stack_observed).where(known)
    begun = begun.ordered_values(
        # In this order: MySQL reads in the second what it wrote in the first.
        (stack_observed.c.heals, sa.case((over, 1), else_=stack_observed.c.heals + 1)),
        (stack_observed.c.heals_since, sa.case((over, now), else_=stack_observed.c.heals_since)),
        (stack_observed.c.traversal_id, traversal_id),
    )
    connection.execute(begun)
    before = _counted(connection, resources)
    counted = {}
    for row in resources:
        attempts, since = _within_an_hour(before.get((row.stack_id, row.name)), now)
        counted[row.stack_id, row.name] = attempts + 1, since
    _replace(connection, counted, tripped=False)


@reading
def given_up(connection: Connection, stack_ids: Collection[str]) -> set[tuple[str, str]]:
    """Return the resources of some stacks that are left alone, by stack and name."""
    query = sa.select(resource_healing.c.stack_id, resource_healing.c.resource_name).where(
        resource_healing.c.stack_id.in_(stack_ids), resource_healing.c.tripped == sa.true()
    )
    return {(stack_id, name) for stack_id, name in connection.execute(query)}


@reading
def may_heal(connection: Connection, root_id: str, *, most: int) -> bool:
    """Tell whether a root stack was healed fewer than ``most`` times within an hour."""
    lately = stack_observed.c.heals_since > clock(connection) - HOUR
    heals = connection.scalar(
        sa.select(stack_observed.c.heals).where(stack_observed.c.stack_id == root_id, lately)
    )
    return (heals or 0) < most


@writing
def leave_alone(connection: Connection, root: Stack, resources: Sequence[ResourceRow], *, rule: str) -> None:
    """Give up some drifted resources of a tree that a rule lets nobody heal, until a user begins something.

    An event has that for each.
    """
    counted = _counted(connection, resources)
    now = clock(connection)
    before = {(row.stack_id, row.name): counted.get((row.stack_id, row.name)) for row in resources}
    _replace(connection, {key: _within_an_hour(row, now) for key, row in before.items()}, tripped=True)
    barred = f"a guard is against healing it ({rule.rstrip('.')});"
    # Nothing of a user's has begun since: see ``start_afresh``.
    known = sa.update(stack_observed).where(stack_observed.c.stack_id == root.id)
    connection.execute(known.values(traversal_id=root.current_traversal))
    add_events(connection, [_given_up(row, barred) for row in resources])


@writing
def give_up(connection: Connection, resources: Sequence[ResourceRow], *, most: int) -> set[str]:
    """Give up those of some drifted resources that were healed ``most`` times within an hour.

    Returns their ids.
    An event tells of each, WHERE it was not given up before.
    """
    now, table = clock(connection), resource_healing
    known = _counted(connection, resources)
    tripped, happened = set(), []
    for row in resources:
        attempts, _ = _within_an_hour(known.get((row.stack_id, row.name)), now)
        if attempts < most:
            continue
        tripped.add(row.id)
        this = sa.and_(table.c.stack_id == row.stack_id, table.c.resource_name == row.name)
        news = sa.update(table).where(this, table.c.tripped == sa.false()).values(tripped=True)
        if connection.execute(news).rowcount == 1:
            unstable = f"it does not stay healed: after {attempts} times within an hour"
            happened.append(_given_up(row, unstable))
    add_events(connection, happened)
    return tripped


def _replace(
    connection: Connection, counted: Mapping[tuple[str, str], tuple[int, datetime]], *, tripped: bool
) -> None:
    """Write how often resources were healed, and since when, by stack and name; what was known goes."""
    table = resource_healing
    for stack_id in sorted({stack_id for stack_id, _ in counted}):
        names = [name for found, name in counted if found == stack_id]
        connection.execute(
            sa.delete(table).where(table.c.stack_id == stack_id, table.c.resource_name.in_(names))
        )
    rows = [
        {
            "stack_id": stack_id,
            "resource_name": name,
            "attempts": attempts,
            "since": since,
            "tripped": tripped,
        }
        for (stack_id, name), (attempts, since) in counted.items()
    ]
    if rows:
        connection.execute(sa.insert(table), rows)


def _counted(
    connection: Connection, resources: Sequence[ResourceRow]
) -> dict[tuple[str, str], sa.Row[tuple[object, ...]]]:
    """Return how often resources of the stacks that some are in were healed, by stack and name."""
    query = sa.select(resource_healing).where(
        resource_healing.c.stack_id.in_({row.stack_id for row in resources})
    )
    return {(row.stack_id, row.resource_name): row for row in connection.execute(query)}


def _within_an_hour(before: sa.Row[tuple[object, ...]] | None, now: datetime) -> tuple[int, datetime]:
    if before is None or before.since <= now - HOUR:
        return 0, now
    return before.attempts, before.since


def _given_up(row: ResourceRow, why: str) -> dict[str, object]:
    return resource_event(
        stack_id=row.stack_id,
        resource_id=row.id,
        name=row.name,
        type_name=row.type,
        physical_id=row.physical_id,
        action=Action.OBSERVE,
        status=Status.FAILED,
        reason=f"{why} it is left alone until a user updates or converges the stack",
    )
