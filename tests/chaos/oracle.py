# SPDX-License-Identifier: Apache-2.0
"""Was it right in the end?  Asked of the cloud, which knows no stacks, and of the database's tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from heatconv.db.tables import graph_edge, raw_template, resource, stack, sync_point, sync_point_input
from heatconv.model.states import Status
from heatconv.testing.cloud import AuditEntry
from heatconv.testing.templates import Template, differences

Json = Mapping[str, Any]


def in_the_cloud(wanted: Mapping[str, Template], objects: Sequence[Json]) -> Iterator[str]:
    """Yield what is wrong with the world, given what each stack is to be; one not named is to be nothing."""
    of_stack: dict[str, list[Any]] = {name: [] for name in wanted}
    for found in objects:
        of_stack.setdefault(str(found["owner"]).partition("/")[0], []).append(found)
    for name, mine in of_stack.items():
        for problem in differences(wanted.get(name, Template()), mine):
            yield f"{name}: {problem}"


def twins(audit: Sequence[AuditEntry]) -> Iterator[str]:
    """Yield a complaint for each object that was made while another of its name was there."""
    live: set[str] = set()
    for entry in audit:
        if not entry.succeeded:
            continue
        if entry.op == "create":
            if entry.name in live:
                yield f"{entry.name} was made twice"
            live.add(entry.name)
        elif entry.op == "delete":
            live.discard(entry.name)


def turnover(audit: Iterable[AuditEntry]) -> Counter[str]:
    """Count the objects made and removed, by owner; to remove one twice is to remove it once."""
    done = {
        (entry.op, entry.owner, entry.object_id)
        for entry in audit
        if entry.succeeded and entry.op in ("create", "delete")
    }
    return Counter(f"{op} {owner}" for op, owner, _ in done)


def in_the_database(connection: Connection) -> Iterator[str]:
    """Yield what should not be there when nothing is going on."""
    for row in connection.execute(sa.select(stack).where(stack.c.status != Status.COMPLETE)):
        yield f"stack {row.name} is {row.action}_{row.status} ({row.phase}): {row.status_reason}"
    for row in connection.execute(sa.select(resource)):
        for problem in _of_a_resource(row):
            yield f"resource {row.name} (version {row.version}, {row.action}_{row.status}) {problem}"
    for what, query in _LEFT.items():
        if left := connection.scalar(query):
            yield f"{left} {what}"


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
