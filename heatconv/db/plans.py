# SPDX-License-Identifier: Apache-2.0
"""Plans, as users have them stored; every query here is scoped to a project in one place, ``_there``."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from heatconv import errors
from heatconv.db.convergence import project_quota
from heatconv.db.plumbing.places import Opened, placed
from heatconv.db.plumbing.requests import deciding
from heatconv.db.plumbing.session import clock, reading, writing
from heatconv.db.plumbing.types import is_past
from heatconv.db.tables import plan
from heatconv.model.saved_plan import PAGE, PlanState, SavedPlan

RESOURCES = "resources"  #: the key of what a plan says of resources
FENCE = ("rows", "types", "hidden")  #: the keys of what a plan goes by, which is not said

_LISTED = [column for column in plan.c if column.name not in ("contents", "asked")]


def _there(project_id: str) -> sa.ColumnElement[bool]:
    """The plans of a project whose time is not over."""
    return sa.and_(plan.c.project_id == project_id, ~is_past(plan.c.expires_at))


@deciding
def add(connection: Connection, saved: SavedPlan, seconds: float, limit: int) -> SavedPlan:
    """Store a plan that a user has asked for, for so many seconds; return it with its times.

    Raises:
        RequestLimitExceeded: the project has as many as it may, a negative number being any.
    """
    return _add(connection, saved, seconds, limit)


@writing
def keep(connection: Connection, saved: SavedPlan, seconds: float, limit: int) -> None:
    """Store a plan that shows why something else was refused.

    Raises:
        RequestLimitExceeded: the project has as many as it may, a negative number being any.
    """
    _add(connection, saved, seconds, limit)


def _add(connection: Connection, saved: SavedPlan, seconds: float, limit: int) -> SavedPlan:
    now = clock(connection)
    added = replace(saved, created_at=now, expires_at=now + timedelta(seconds=seconds))
    values = {
        "id": added.id,
        "project_id": added.project_id,
        "user_id": added.user_id,
        "user_name": added.user_name,
        "stack_id": added.stack_id,
        "stack_name": added.stack_name,
        "action": added.action,
        "state": added.state,
        "summary": dict(added.summary),
        "contents": _packed(added.contents),
        "asked": dict(added.asked),
        "created_at": added.created_at,
        "expires_at": added.expires_at,
    }
    connection.execute(sa.insert(plan).values(placed(plan, values)))
    project_quota.take(connection, plan, added.project_id, added.id, limit)
    return added


@reading
def get(connection: Connection, project_id: str, plan_id: str) -> SavedPlan:
    """Return a project's plan, with all that it says, and goes by.

    Raises:
        NotFound: there is none, or its time is over.
    """
    row = _find(connection, project_id, plan_id)
    stored = row.contents
    contents = {
        **_unpacked(stored["head"]),
        **_unpacked(stored["fence"]),
        RESOURCES: [each for portion in stored["portions"] for each in _unpacked(portion)],
    }
    return _record(row, contents=contents, asked=row.asked)


@reading
def show(
    connection: Connection, project_id: str, plan_id: str, start: int, limit: int | None
) -> tuple[SavedPlan, bool]:
    """Return a project's plan with some of what it says of resources, and whether there is more of that.

    No more is unpacked than is asked for.

    Args:
        project_id: whose plan it is.
        plan_id: its id.
        start: how many resources are passed over.
        limit: how many there are at most; None: all the others.

    Raises:
        NotFound: there is none, or its time is over.
    """
    row = _find(connection, project_id, plan_id)
    stored = row.contents
    stop = stored["count"] if limit is None else min(start + limit, stored["count"])
    first, last = start // PAGE, -(-stop // PAGE)
    found = [each for portion in stored["portions"][first:last] for each in _unpacked(portion)]
    resources = found[start - first * PAGE : stop - first * PAGE] if start < stop else []
    contents = {**_unpacked(stored["head"]), RESOURCES: resources}
    return _record(row, contents=contents), stop < stored["count"]


def _find(connection: Connection, project_id: str, plan_id: str) -> Opened:
    query = sa.select(plan).where(plan.c.id == plan_id, _there(project_id))
    row = connection.execute(query).one_or_none()
    if row is None:
        raise errors.NotFound(entity="Plan", name=plan_id)
    return Opened(plan, row)


@reading
def listed(
    connection: Connection, project_id: str, *, stack_id: str | None, limit: int, marker: str | None
) -> list[SavedPlan]:
    """Return a page of a project's plans, or of those of one stack, the newest first, without contents.

    Raises:
        NotFound: the marker is no plan of the project's.
    """
    order = (plan.c.created_at, plan.c.id)
    query = sa.select(*_LISTED).where(_there(project_id))
    if stack_id is not None:
        query = query.where(plan.c.stack_id == stack_id)
    if marker is not None:
        at = connection.execute(
            sa.select(*order).where(plan.c.id == marker, plan.c.project_id == project_id)
        ).one_or_none()
        if at is None:
            raise errors.NotFound(entity="Plan", name=marker)
        query = query.where(sa.tuple_(*order) < sa.tuple_(*at))
    query = query.order_by(*(column.desc() for column in order)).limit(limit)
    return [_record(row) for row in connection.execute(query)]


@deciding
def delete(connection: Connection, project_id: str, plan_id: str) -> None:
    """Delete a plan.

    Raises:
        NotFound: there is none.
    """
    gone = connection.execute(sa.delete(plan).where(plan.c.id == plan_id, _there(project_id)))
    if gone.rowcount != 1:
        raise errors.NotFound(entity="Plan", name=plan_id)


@writing
def try_refuse(connection: Connection, plan_id: str, why: str) -> bool:
    """Note that a plan cannot be applied any more, and why, WHERE it is READY."""
    ready = sa.update(plan).where(plan.c.id == plan_id, plan.c.state == PlanState.READY)
    return connection.execute(ready.values(state=PlanState.REFUSED, refusal=why)).rowcount == 1


# -- parts of a transaction ----------------------------------------------------------------


def take(connection: Connection, plan_id: str) -> None:
    """Note that a plan is applied by this very transaction, WHERE it is READY and its time is not over.

    Raises:
        Conflict: another request has applied it, or was refused, or its time is over.
    """
    ready = (plan.c.id == plan_id, plan.c.state == PlanState.READY, ~is_past(plan.c.expires_at))
    taken = connection.execute(sa.update(plan).where(*ready).values(state=PlanState.APPLIED))
    if taken.rowcount != 1:
        raise errors.Conflict(f"The plan {plan_id} was applied already, or it has ended; make a new one.")


def _packed(contents: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a plan says in parts: what it goes by, and resources by portions, need not be read."""
    resources = contents[RESOURCES]
    head = {key: value for key, value in contents.items() if key != RESOURCES and key not in FENCE}
    return {
        "head": _pack(head),
        "fence": _pack({key: contents[key] for key in FENCE}),
        "portions": [_pack(resources[start : start + PAGE]) for start in range(0, len(resources), PAGE)],
        "count": len(resources),
    }


def _pack(part: Any) -> str:
    """Return a part of a plan as a short text: of thousands of resources most of it is alike."""
    text = json.dumps(part, separators=(",", ":"))
    return base64.b85encode(zlib.compress(text.encode(), _LEVEL)).decode()


def _unpacked(text: str) -> Any:
    return json.loads(zlib.decompress(base64.b85decode(text)))


_LEVEL = 1  #: of compression: half a second for 60 MB


def _record(row: Any, **sealed: Any) -> SavedPlan:
    return SavedPlan(
        id=row.id,
        project_id=row.project_id,
        user_id=row.user_id,
        user_name=row.user_name,
        stack_id=row.stack_id,
        stack_name=row.stack_name,
        action=row.action,
        state=PlanState(row.state),
        refusal=row.refusal,
        summary=row.summary,
        created_at=row.created_at,
        expires_at=row.expires_at,
        **sealed,
    )
