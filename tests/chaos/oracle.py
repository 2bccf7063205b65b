# SPDX-License-Identifier: Apache-2.0
"""Was it right in the end?  Asked of the cloud, which knows no stacks, and of the database's tables."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from heatconv.db.tables import (
    event,
    graph_edge,
    raw_template,
    resource,
    stack,
    sync_point,
    sync_point_input,
)
from heatconv.model.states import Action, Status
from heatconv.testing.cloud import AuditEntry
from heatconv.testing.templates import Template
from heatconv.testing.trees import differences, found_by, place_of
from tests.chaos.drift import Drift
from tests.chaos.driver import DOOMED

Json = Mapping[str, Any]

#: What failed.  That a lock was broken is told with the state of the resource, which may have failed before.
FAILED = sa.and_(event.c.status == Status.FAILED, ~event.c.status_reason.startswith("taken over from worker"))

around = stack.alias("around")  #: a stack as the one that others are nested in

_MADE_UP = re.compile("[a-z2-7]{12}")  #: a name that a group gave a member


def in_the_cloud(wanted: Mapping[str, Template], objects: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield what is wrong with the world, given what each stack is to be; one not named is to be nothing."""
    of_stack = found_by(objects)
    for name in {**dict(wanted), **of_stack}:
        for problem in differences(wanted.get(name, Template()), of_stack.get(name, ())):
            yield f"{name}: {problem}"


def touched(audit: Iterable[AuditEntry], roots: Collection[str]) -> Iterator[str]:
    """Yield a complaint for each request that changed, or was to change, an object of some stacks."""
    for entry in audit:
        if entry.op in ("create", "update", "delete") and place_of(entry.owner)[0] in roots:
            yield f"{entry.op} of {entry.owner} ({entry.object_id}), which nobody asked for"


def twins(audit: Sequence[AuditEntry], *, excused: Collection[str] = ()) -> Iterator[str]:
    """Yield a complaint for each object that was made while another of its name was there.

    Of a name that is excused, two may be.
    """
    live: set[str] = set()
    for entry in audit:
        if not entry.succeeded:
            continue
        if entry.op == "create":
            if entry.name in live and entry.name not in excused:
                yield f"{entry.name} was made twice"
            live.add(entry.name)
        elif entry.op == "delete":
            live.discard(entry.name)


def turnover(audit: Iterable[AuditEntry]) -> Counter[str]:
    """Count the objects made and removed, by their place; to remove one twice is to remove it once."""
    done = {
        (entry.op, entry.owner, entry.object_id)
        for entry in audit
        if entry.succeeded and entry.op in ("create", "delete")
    }
    return Counter(f"{op} {_shown(owner)}" for op, owner, _ in done)


def _shown(owner: str) -> str:
    """Return where an object is, with names that were made up left out."""
    stack, place = place_of(owner)
    return "/".join([stack, *("*" if _MADE_UP.fullmatch(name) else name for name in place)])


def in_the_database(connection: Connection) -> Iterator[str]:
    """Yield what should not be there when nothing is going on."""
    for row in connection.execute(sa.select(stack).where(stack.c.status != Status.COMPLETE)):
        yield f"stack {row.name} is {row.action}_{row.status} ({row.phase}): {row.status_reason}"
    for row in connection.execute(sa.select(resource)):
        for problem in _of_a_resource(row):
            yield f"resource {row.name} (version {row.version}, {row.action}_{row.status}) {problem}"
    yield from _of_trees(connection)
    for what, query in _LEFT.items():
        if left := connection.scalar(query):
            yield f"{left} {what}"


def failures(connection: Connection, drifts: Sequence[Drift], audit: Sequence[AuditEntry]) -> Iterator[str]:
    """Yield what failed, or was found drifted, though nothing that was done to the world explains it."""
    roots, objects = {drift.stack for drift in drifts}, {drift.physical_id for drift in drifts}
    query = (
        sa.select(event, stack.c.name)
        .join(stack, stack.c.id == event.c.stack_id)
        .where(FAILED, event.c.resource_id.is_not(None))
    )
    for row in connection.execute(query.order_by(event.c.id)):
        where, why = f"{row.name}/{row.resource_name}", row.status_reason
        if row.action == Action.OBSERVE:
            if row.physical_id not in objects:
                asked = ", ".join(_asked(entry) for entry in audit if entry.object_id == row.physical_id)
                yield f"{where} ({row.physical_id}) was found drifted and was not: {why}; of it {asked}"
        elif row.resource_name != DOOMED and not (place_of(where)[0] in roots and _BY_DRIFT.search(why)):
            yield f"{where} failed: {why}"


def _asked(entry: AuditEntry) -> str:
    heard = "" if entry.answered else ", unheard"
    return f"{entry.sequence} {entry.op} {entry.properties or ''}: {entry.result}{heard}"


#: What fails because an object is not there any more, or is broken.
_BY_DRIFT = re.compile("there is no object|does not exist any more|is not there, or not ready|ERROR")


def _of_a_resource(row: Any) -> Iterator[str]:
    if row.engine_id is not None:
        yield f"is locked by {row.engine_id}"
    if row.progress is not None:
        yield "has something under way"
    if row.status != Status.COMPLETE:
        yield f"is not complete: {row.status_reason}"
    if row.desired is None:
        yield "is garbage"
    elif row.desired_sha1 != row.applied_sha1:
        yield "is not what is desired"


def _of_trees(connection: Connection) -> Iterator[str]:
    """Yield what is wrong with how stacks are nested: each has an owner, whose it is and that lives."""
    query = (
        sa.select(stack.c.id, stack.c.name, resource.c.physical_id, around.c.deleted_at)
        .select_from(
            stack.outerjoin(resource, resource.c.id == stack.c.owner_resource_id).outerjoin(
                around, around.c.id == resource.c.stack_id
            )
        )
        .where(stack.c.owner_resource_id.is_not(None), stack.c.deleted_at.is_(None))
    )
    for row in connection.execute(query):
        if row.physical_id != row.id or row.deleted_at is not None:
            yield f"stack {row.name} is nobody's"


def _count(of: sa.FromClause) -> sa.Select[int]:
    return sa.select(sa.func.count()).select_from(of)


#: What is of no use any more, and the query that counts it.
_LEFT: Mapping[str, sa.Select[int]] = {
    **{
        f"rows are left in {table.name}": _count(table)
        for table in (graph_edge, sync_point, sync_point_input)
    },
    "templates are left of no stack": _count(
        raw_template.outerjoin(stack, stack.c.raw_template_id == raw_template.c.id)
    ).where(stack.c.id.is_(None)),
    "resources are left of deleted stacks": _count(
        resource.join(stack, stack.c.id == resource.c.stack_id)
    ).where(stack.c.deleted_at.is_not(None)),
}
