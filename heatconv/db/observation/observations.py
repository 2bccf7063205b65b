# SPDX-License-Identifier: Apache-2.0
"""What was found of what is really there: recorded when it is news, with what is to be done about it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from heatconv.db.delivery.events import add_events, resource_event
from heatconv.db.observation.observable import HOLDS, IS_DRIFT, SEEN, row_of
from heatconv.db.plumbing.places import Opened, placed
from heatconv.db.plumbing.session import reading, writing
from heatconv.db.plumbing.types import utcnow
from heatconv.db.tables import (
    resource,
    resource_observed,
    resource_properties_observed,
    stack,
    stack_observed,
)
from heatconv.metrics import types
from heatconv.metrics.declared import DRIFT
from heatconv.metrics.transactions import count_with_commit
from heatconv.model.definition import Definition
from heatconv.model.drift import OF_PROPERTIES, Drift, DriftStatus, Finding, Handling, Kind
from heatconv.model.records import ResourceRow
from heatconv.model.secrets import masked
from heatconv.model.states import Action, Status


@writing
def record(connection: Connection, roots: Collection[str], findings: Sequence[Finding]) -> list[Finding]:
    """Record what is news of some findings, with an event for each drift; return those that hold.

    ``roots`` are the root stacks of all of them, which have to be known to ``turns``.

    Concurrency: a finding holds WHERE its row's ``atomic_key`` still is as
    seen and nobody has locked it.  Those who look at the same stack at the
    same time record one after the other: each locks the rows of the roots.
    """
    turns = sa.select(stack_observed.c.stack_id).where(stack_observed.c.stack_id.in_(roots))
    connection.execute(turns.order_by(stack_observed.c.stack_id).with_for_update()).all()
    by_id = {finding.row.id: finding for finding in findings}
    query = (
        sa.select(
            resource.c.id,
            resource.c.atomic_key,
            resource_observed.c.atomic_key.label("seen_with"),
            resource_observed.c.kind,
            resource_observed.c.digest,
        )
        .select_from(resource.outerjoin(resource_observed, resource_observed.c.resource_id == resource.c.id))
        .where(resource.c.id.in_(by_id), resource.c.engine_id.is_(None))
    )
    holding, news, known = [], [], {}
    for row in connection.execute(query):
        finding = by_id[row.id]
        if row.atomic_key != finding.row.atomic_key:
            continue
        holding.append(finding)
        if (row.seen_with, row.digest) != (row.atomic_key, finding.digest):
            news.append(finding)
            known[row.id] = row.kind
    if news:
        _write(connection, news)
        reported = [each for each in news if each.kind is not None or known[each.row.id] is not None]
        add_events(connection, [_event(each) for each in sorted(reported, key=lambda each: each.row.name)])
        for each in reported:
            found = (each.kind or DriftStatus.IN_SYNC).lower()
            count_with_commit(DRIFT, type=types.label(each.row.type), finding=found)
    return holding


def _write(connection: Connection, news: Sequence[Finding]) -> None:
    ids = [finding.row.id for finding in news]
    connection.execute(sa.delete(resource_observed).where(resource_observed.c.resource_id.in_(ids)))
    connection.execute(
        sa.insert(resource_observed).values(observed_at=utcnow()),
        [
            {
                "resource_id": finding.row.id,
                "stack_id": finding.row.stack_id,
                "atomic_key": finding.row.atomic_key,
                "kind": finding.kind,
                "handling": Handling.NEVER if _is_external(finding.row) else Handling.OPEN,
                "digest": finding.digest,
                "reason": finding.reason,
            }
            for finding in news
        ],
    )
    names = defaultdict(list)
    for finding in news:
        names[finding.row.stack_id].append(finding.row.name)
    for stack_id, of_stack in names.items():
        connection.execute(
            sa.delete(resource_properties_observed).where(
                resource_properties_observed.c.stack_id == stack_id,
                resource_properties_observed.c.resource_name.in_(of_stack),
            )
        )
    live = [
        {
            "stack_id": finding.row.stack_id,
            "resource_name": finding.row.name,
            "prop_name": name,
            "prop_value": value,
        }
        for finding in news
        for name, value in finding.differences.items()
    ]
    if live:
        connection.execute(
            sa.insert(resource_properties_observed),
            [placed(resource_properties_observed, each) for each in live],
        )


def _is_external(row: ResourceRow) -> bool:
    return row.applied is not None and row.applied.external_id is not None


def _event(finding: Finding) -> dict[str, Any]:
    row = finding.row
    return resource_event(
        stack_id=row.stack_id,
        resource_id=row.id,
        name=row.name,
        type_name=row.type,
        physical_id=row.physical_id,
        action=Action.OBSERVE,
        status=Status.COMPLETE if finding.kind is None else Status.FAILED,
        reason=finding.reason if finding.kind is not None else "it is as it was made again",
    )


@reading
def drifts(
    connection: Connection, stack_ids: Collection[str], names: Sequence[str] | None = None
) -> list[Drift]:
    """Return what has drifted in some stacks, by stack and name."""
    query = (
        sa.select(
            *SEEN,
            resource_observed.c.kind,
            resource_observed.c.handling,
            resource_observed.c.reason.label("said"),
            resource_observed.c.observed_at,
        )
        .select_from(resource.join(resource_observed, HOLDS))
        .where(
            resource_observed.c.stack_id.in_(stack_ids),
            IS_DRIFT,
            resource.c.desired_sha1.is_not(None),
        )
        .order_by(resource.c.stack_id, resource.c.name)
    )
    if names is not None:
        query = query.where(resource.c.name.in_(names))
    found = connection.execute(query).all()
    changed = [(row.stack_id, row.name) for row in found if row.kind in OF_PROPERTIES]
    live = live_values(connection, changed)
    return [
        Drift(
            resource_id=row.id,
            stack_id=row.stack_id,
            name=row.name,
            kind=Kind(row.kind),
            handling=Handling(row.handling),
            reason=row.said,
            since=row.observed_at,
            differences=live.get((row.stack_id, row.name), {}),
            row=row_of(row),
        )
        for row in found
    ]


@reading
def looked_at(connection: Connection, ids: Collection[str]) -> dict[str, datetime]:
    """Return when some resources were looked at last, of those that nobody has touched since."""
    query = (
        sa.select(resource.c.id, resource_observed.c.observed_at)
        .select_from(resource.join(resource_observed, HOLDS))
        .where(resource.c.id.in_(ids), sa.or_(resource_observed.c.kind.is_(None), IS_DRIFT))
    )
    return {row.id: row.observed_at for row in connection.execute(query)} if ids else {}


def live_values(
    connection: Connection, changed: Sequence[tuple[str, str]]
) -> dict[tuple[str, str], dict[str, Any]]:
    """Return what is live of the properties that differ, by stack and name of the resource."""
    names = defaultdict(list)
    for stack_id, name in changed:
        names[stack_id].append(name)
    live: dict[tuple[str, str], dict[str, Any]] = defaultdict(dict)
    table = resource_properties_observed
    for stack_id, of_stack in names.items():
        query = sa.select(table).where(table.c.stack_id == stack_id, table.c.resource_name.in_(of_stack))
        for row in connection.execute(query.order_by(table.c.prop_name)):
            live[stack_id, row.resource_name][row.prop_name] = Opened(table, row).prop_value
    return live


@writing
def mark_owners(connection: Connection, tree: Collection[str]) -> None:
    """Note of which resources of a root stack and those nested in it what is inside is to be put right.

    To be called when the drifts of the tree, or what is to be done about them, are new.

    Concurrency: as with any observation, WHERE the owner's ``atomic_key`` is as it is now.
    """
    owners = (
        sa.select(stack.c.id, resource.c.id.label("owner"), resource.c.stack_id, resource.c.atomic_key)
        .join(resource, resource.c.id == stack.c.owner_resource_id)
        .where(stack.c.id.in_(tree), resource.c.engine_id.is_(None))
    )
    owner_of = {row.id: row for row in connection.execute(owners)}
    drifted = (
        sa.select(resource.c.stack_id)
        .select_from(resource.join(resource_observed, HOLDS))
        .where(resource.c.stack_id.in_(owner_of), IS_DRIFT, resource_observed.c.handling == Handling.OPEN)
    )
    marked = {}
    for stack_id in connection.scalars(drifted.distinct()):
        inside = stack_id
        while inside in owner_of and owner_of[inside].owner not in marked:
            marked[owner_of[inside].owner] = owner_of[inside]
            inside = owner_of[inside].stack_id
    known = resource_observed.c.resource_id.in_([row.owner for row in owner_of.values()])
    connection.execute(sa.delete(resource_observed).where(known))
    if marked:
        connection.execute(
            sa.insert(resource_observed).values(observed_at=utcnow()),
            [
                {
                    "resource_id": row.owner,
                    "stack_id": row.stack_id,
                    "atomic_key": row.atomic_key,
                    "kind": Kind.INSIDE,
                    "handling": Handling.OPEN,
                    "digest": "",
                    "reason": "",
                }
                for row in marked.values()
            ],
        )


def is_secret(applied: Definition, name: str) -> bool:
    """Tell whether the value that a property was given has a secret in it; then so may the live one."""
    value = applied.properties.get(name)
    return bool(masked(value, applied.secrets) != value)


@writing
def set_handling(
    connection: Connection, stack_ids: Collection[str], handling: Handling, ids: Collection[str] | None = None
) -> None:
    """Hold back the drifts of some stacks, or of some of their resources, or release them.

    WHERE the resource is this installation's own: somebody else's thing is NEVER healed.
    """
    where = [resource_observed.c.stack_id.in_(stack_ids), resource_observed.c.handling != Handling.NEVER]
    if ids is not None:
        where.append(resource_observed.c.resource_id.in_(ids))
    connection.execute(sa.update(resource_observed).where(*where).values(handling=handling))
