# SPDX-License-Identifier: Apache-2.0
"""What users and the things themselves tell a resource, whoever acts on it meanwhile.

None of these writes waits for a lock or breaks one; each is one conditional
UPDATE with its event, and returns whether it was in time.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from heatconv.db.convergence import pending_signals
from heatconv.db.delivery.events import add_events, resource_event
from heatconv.db.plumbing.places import placed
from heatconv.db.plumbing.requests import deciding
from heatconv.db.plumbing.session import writing
from heatconv.db.tables import resource
from heatconv.model.records import ResourceRow, state_shown
from heatconv.model.states import Action, Status


@deciding
def try_set_metadata(
    connection: Connection, row: ResourceRow, metadata: Mapping[str, Any], *, wished: bool = False
) -> bool:
    """Write a resource's metadata, WHERE metadata_key = as read: nothing that another wrote is lost.

    ``wished``: they say what its nested stack is to be, and that is to be carried out.
    """
    seen = (resource.c.id == row.id, resource.c.metadata_key == row.metadata_key)
    changes = placed(resource, {"metadata": dict(metadata), "metadata_key": row.metadata_key + 1}, row)
    written = connection.execute(sa.update(resource).where(*seen).values(changes)).rowcount == 1
    if written and wished:
        pending_signals.note(connection, row.id)
    return written


@deciding
def try_write(connection: Connection, row: ResourceRow, columns: Mapping[str, Any]) -> bool:
    """Write to a row that nobody acts on, WHERE atomic_key = as read AND engine_id is null."""
    return _try_write(connection, row, columns)


def _try_write(connection: Connection, row: ResourceRow, columns: Mapping[str, Any]) -> bool:
    seen = (
        resource.c.id == row.id,
        resource.c.atomic_key == row.atomic_key,
        resource.c.engine_id.is_(None),
    )
    changes = {**placed(resource, columns, row), "atomic_key": row.atomic_key + 1}
    return connection.execute(sa.update(resource).where(*seen).values(changes)).rowcount == 1


@writing
def forget_attributes(connection: Connection, resource_id: str) -> None:
    """Drop what a resource told to others, so that the next update asks it again; whoever asks asks anew."""
    connection.execute(sa.update(resource).where(resource.c.id == resource_id).values(attributes={}))


@deciding
def note(connection: Connection, row: ResourceRow, status: Status, reason: str) -> None:
    """Record that a resource was signalled, and what came of it."""
    _event(connection, row, Action.SIGNAL, status, reason)


@deciding
def note_refusal(connection: Connection, row: ResourceRow, reason: str) -> None:
    """Record that a signal to a resource was refused as the resource is, whose state stays what it is."""
    _event(connection, row, row.action, row.status, reason)


@deciding
def try_clear_hook(connection: Connection, row: ResourceRow, hook: str) -> bool:
    """Let an action go on past a breakpoint, WHERE hook = the one it waits at."""
    waits = (resource.c.id == row.id, resource.c.hook == hook)
    cleared = connection.execute(sa.update(resource).where(*waits).values(hook=None)).rowcount == 1
    if cleared:
        _event(connection, row, *state_shown(row.action, row.status, hook), f"Hook {hook} is cleared")
    return cleared


@deciding
def try_mark(connection: Connection, row: ResourceRow, status: Status, reason: str) -> bool:
    """Set the outcome of a resource's last check, WHERE nobody acts on it and it is as read."""
    marked = {"action": Action.CHECK, "status": status, "status_reason": reason}
    done = _try_write(connection, row, marked)
    if done:
        _event(connection, row, Action.CHECK, status, reason)
    return done


def _event(connection: Connection, row: ResourceRow, action: Action, status: Status, reason: str) -> None:
    happened = resource_event(
        stack_id=row.stack_id,
        resource_id=row.id,
        name=row.name,
        type_name=row.type,
        physical_id=row.physical_id,
        action=action,
        status=status,
        reason=reason,
    )
    add_events(connection, [happened])
