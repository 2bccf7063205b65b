# SPDX-License-Identifier: Apache-2.0
"""Events: what happened to which resource or stack, when, why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from heatconv import errors
from heatconv.db import rows
from heatconv.db.delivery.sinks import OPEN
from heatconv.db.plumbing import bulk
from heatconv.db.plumbing.filters import Condition, Given, conditions, in_status
from heatconv.db.plumbing.prepared import Prepared
from heatconv.db.plumbing.session import reading
from heatconv.db.plumbing.together import Writer
from heatconv.db.plumbing.types import seconds_ago, utcnow
from heatconv.db.tables import event, stack
from heatconv.metrics.declared import TRAVERSALS
from heatconv.metrics.transactions import count_with_commit
from heatconv.model.ids import new_id
from heatconv.model.records import Event
from heatconv.model.states import Action, Status

STACK_TYPE = "OS::Heat::Stack"  #: what events of the stack itself have for a type

#: What an event of a stack says of its traversal.
_OUTCOMES = {Status.IN_PROGRESS: "begun", Status.COMPLETE: "complete", Status.FAILED: "failed"}


_ADD = bulk.Insert(
    event,
    [column.name for column in event.c if column.name not in ("id", "created_at")],
    same={"created_at": utcnow()},
)


def resource_event(
    *,
    stack_id: str,
    resource_id: str | None,
    name: str,
    type_name: str,
    physical_id: str | None,
    action: Action,
    status: Status,
    reason: str,
    properties: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return the columns that tell what happened to a resource, to be recorded by ``add_events``."""
    return {
        "uuid": new_id(),
        "stack_id": stack_id,
        "resource_id": resource_id,
        "resource_name": name,
        "resource_type": type_name,
        "physical_id": physical_id,
        "action": action,
        "status": status,
        "status_reason": reason,
        "properties": properties,
    }


def add_events(writer: Writer, events: Sequence[Mapping[str, Any]]) -> None:
    """Record, within a transaction, what happened."""
    if events:
        _ADD.execute(writer, events)
        for each in events:
            if each["resource_id"] is None and each["action"] is not Action.OBSERVE:
                count_with_commit(TRAVERSALS, action=each["action"], outcome=_OUTCOMES[each["status"]])


def stack_event(*, stack_id: str, name: str, action: Action, status: Status, reason: str) -> dict[str, Any]:
    """Return the columns that tell what happened to a stack, to be recorded by ``add_events``."""
    return resource_event(
        stack_id=stack_id,
        resource_id=None,
        name=name,
        type_name=STACK_TYPE,
        physical_id=stack_id,
        action=action,
        status=status,
        reason=reason,
    )


def add_stack_event(
    writer: Writer, *, stack_id: str, name: str, action: Action, status: Status, reason: str
) -> None:
    """Record, within a transaction, what happened to a stack."""
    happened = stack_event(stack_id=stack_id, name=name, action=action, status=status, reason=reason)
    add_events(writer, [happened])


# -- which of them go ------------------------------------------------------------------------------

#: Every transaction that may have written an event before this one has ended.
SETTLED = event.c.created_at < seconds_ago(sa.bindparam("settled_after", OPEN))


def last_to_go(stack_id: sa.ColumnElement[str], keep: int | sa.BindParameter[int]) -> sa.Select[int]:
    """Return a query for the number of the last event of a stack that may go: the newest ones stay.

    What is not settled stays, too: whoever has read everything after events were dropped knows all that
    has a lower number than those.
    """
    newest = sa.select(event.c.id).where(event.c.stack_id == stack_id).order_by(event.c.id.desc()).limit(1)
    too_many = newest.offset(keep).correlate(stack).scalar_subquery()
    return newest.where(event.c.id <= too_many, SETTLED).correlate(stack)


_LAST = sa.bindparam("last", type_=stack.c.last_dropped.type)
_NOTE_DROPPED = (
    sa.update(stack)
    .where(stack.c.id == sa.bindparam("of"), sa.func.coalesce(stack.c.last_dropped, 0) < _LAST)
    .values(last_dropped=_LAST)
)


def note_dropped(connection: Connection, stack_id: str, last: int) -> None:
    """Note, within a transaction, in the row of a stack that its events up to one may be gone.

    It is noted before they are dropped, so that whoever drops events locks the stack's row first.
    """
    connection.execute(_NOTE_DROPPED, {"of": stack_id, "last": last})


_LAST_TO_GO = Prepared(
    last_to_go(sa.bindparam("of", type_=stack.c.id.type), sa.bindparam("keep", type_=sa.Integer))
)


def drop_old_events(connection: Connection, stack_id: str, *, keep: int) -> None:
    """Drop, within a transaction, all but the newest events of a stack."""
    last = connection.scalar(_LAST_TO_GO, {"of": stack_id, "keep": keep})
    if last is not None:
        note_dropped(connection, stack_id, last)
        connection.execute(sa.delete(event).where(event.c.stack_id == stack_id, event.c.id <= last))


# -- reading them ----------------------------------------------------------------------------------


_FILTERS: dict[str, Condition] = {
    "resource_name": event.c.resource_name.in_,
    "resource_type": event.c.resource_type.in_,
    "action": event.c.action.in_,
    "status": in_status(event),
}

_SORT_KEYS = {
    "event_time": event.c.id,  # numbered as they happened, of which no two have the same
    "resource_type": event.c.resource_type,
}


_LISTED = (
    *(column for column in event.c if column is not event.c.properties),
    sa.null().label("properties"),
)


@reading
def list_events(
    connection: Connection,
    stack_ids: Sequence[str],
    *,
    limit: int | None = None,
    marker: str | None = None,
    sort_keys: Sequence[str] = (),
    descending: bool = True,
    resource_name: str | None = None,
    filters: Given | None = None,
) -> list[Event]:
    """Return a page of the events of some stacks, by default the newest first; without properties.

    Raises:
        NotFound: the stacks have no event that is ``marker``.
    """
    mine = event.c.stack_id.in_(stack_ids)
    columns = [*dict.fromkeys([*(_SORT_KEYS[key] for key in sort_keys), event.c.id])]
    query = sa.select(*_LISTED).where(mine, *conditions(_FILTERS, filters))
    if resource_name is not None:
        query = query.where(event.c.resource_name == resource_name)
    if marker is not None:
        at = connection.execute(sa.select(*columns).where(mine, event.c.uuid == marker)).one_or_none()
        if at is None:
            raise errors.NotFound(entity="Event", name=marker)
        place = sa.tuple_(*columns)
        query = query.where(place < tuple(at) if descending else place > tuple(at))
    query = query.order_by(*(column.desc() if descending else column for column in columns)).limit(limit)
    return [rows.event(row) for row in connection.execute(query)]


@reading
def find_event(connection: Connection, stack_id: str, event_uuid: str) -> Event | None:
    """Return one event of a stack."""
    query = sa.select(event).where(event.c.stack_id == stack_id, event.c.uuid == event_uuid)
    row = connection.execute(query).one_or_none()
    return None if row is None else rows.event(row)
