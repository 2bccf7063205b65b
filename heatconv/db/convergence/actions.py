# SPDX-License-Identifier: Apache-2.0
"""What a worker writes while it acts on a row that it holds.

Every write is fenced, WHERE engine_id = the worker AND atomic_key = that of its claim; see ``row_locks``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from heatconv.db.convergence import row_locks, sync_points
from heatconv.db.delivery.events import add_events, resource_event
from heatconv.db.plumbing.group_commit import Grouped
from heatconv.db.plumbing.places import placed
from heatconv.db.plumbing.session import Database, Undo, writing
from heatconv.db.plumbing.together import Together
from heatconv.db.plumbing.types import utcnow
from heatconv.db.tables import resource, sync_point
from heatconv.model.records import Attempt, Job, ResourceRow, changed, state_shown
from heatconv.model.states import Action, Status, SyncState
from heatconv.model.steps import Replace

FIRST_KEY = 1  #: the atomic key of a replacement, which is locked when it is made


@writing
def try_begin(connection: Connection, row: ResourceRow, attempt: Attempt) -> bool:
    """Record that an action starts on a row that is held, fenced."""
    writes = Together(connection)
    row_locks.write_one(writes, row_locks.Write(row=row, columns=row_locks.begun(row, attempt), touch=True))
    add_events(writes, [row_locks.begun_event(row, attempt)])
    if not writes.send(last=True):
        raise Undo(result=False)
    return True


def try_write(database: Database, row: ResourceRow, columns: Mapping[str, Any]) -> bool:
    """Write what became known of a row that is held (physical id, progress, data, metadata), fenced."""
    return _write(database, row_locks.Write(row=row, columns=columns))


def _write_all(connection: Connection, wanted: Sequence[row_locks.Write]) -> list[bool | None]:
    if len(wanted) == 1:
        (write,) = wanted
        return [row_locks.try_write(connection, write.row, write.columns, alone=True)]
    writes = Together(connection)
    held = row_locks.write_all(connection, wanted, writes)
    writes.send(last=True)
    return [True if write.row.id in held else None for write in wanted]


_write: Grouped[row_locks.Write, bool] = Grouped(_write_all, lambda write: write.row.stack_id)


@writing
def try_take_from(connection: Connection, row: ResourceRow) -> bool:
    """Record that what a row has replaced takes back what it handed over: the row is never gone on with.

    Concurrency: WHERE nobody holds the row, and its ``atomic_key`` is as it was read.
    """
    unheld = resource.c.engine_id.is_(None), resource.c.atomic_key == row.atomic_key
    taken = {
        "status": Status.FAILED,
        "status_reason": "what it replaced took back what it had handed over",
        "handover": [],
        "atomic_key": row.atomic_key + 1,
    }
    statement = sa.update(resource).where(resource.c.id == row.id, *unheld).values(taken)
    return connection.execute(statement).rowcount == 1


@writing
def try_release(connection: Connection, row: ResourceRow) -> bool:
    """Let go of a row and leave its action to be taken up by another, fenced.

    If it is held no more because another row of the same worker has replaced
    it, and the worker was not told, that one is let go of.
    """
    if row_locks.try_write(connection, row, {}, let_go=True):
        return True
    successor = connection.scalar(sa.select(resource.c.replaced_by).where(resource.c.id == row.id))
    if successor is None:
        return False
    new = changed(row, id=successor, atomic_key=FIRST_KEY)
    return row_locks.try_write(connection, new, {}, let_go=True)


@writing
def try_replace(connection: Connection, job: Job, row_id: str, step: Replace) -> Job | None:
    """Let a new row take over the node of the row that is held, and begin to create it.

    The new row impersonates the old one's graph key: successors wait for that
    key and are told the new row's id.  The old row is garbage from now on.

    Concurrency: fenced on the old row; and WHERE the sync point is READY, for a
    newer traversal that has read the old row must not find two.  Returns None,
    and changes nothing, if either does not hold; then whatever was done by a
    try whose answer was lost is given back by ``try_release`` of the old row.
    """
    old = job.row
    attempt = step.attempt
    given_up: dict[str, Any] = {
        "desired": None,
        "desired_sha1": None,
        "replaced_by": row_id,
        "progress": None,
        "hook": None,
    }
    if old.status is Status.IN_PROGRESS:
        # How far that came nobody knows: without ``applied_sha1`` no traversal goes on with the row.
        given_up |= {
            "status": Status.COMPLETE,
            "status_reason": f"replaced while its {old.action} was under way",
            "applied_sha1": None,
        }
    if old.applied is None and old.progress is not None:
        # A create that was given up in the middle: its cleanup goes by what it was to be.
        given_up["applied"] = old.progress.definition.to_json()
    if not row_locks.try_write(connection, old, given_up, let_go=True):
        raise Undo(None)
    new = ResourceRow(
        id=row_id,
        stack_id=old.stack_id,
        name=old.name,
        type=attempt.definition.type,
        version=old.version + 1,
        replaces=old.id,
        desired=old.desired,
        desired_sha1=old.desired_sha1,
        deletion_policy=old.deletion_policy,
        foreseen=old.foreseen,
        wanted_attributes=old.wanted_attributes,
        action=Action.CREATE,
        status=Status.IN_PROGRESS,
        engine_id=old.engine_id,
        atomic_key=FIRST_KEY,
        progress=attempt,
        metadata=attempt.definition.metadata,
    )
    taken_over = connection.execute(
        sa.update(sync_point)
        .where(
            sync_points.key_of(job.traversal_id, job.node),
            sync_point.c.state == SyncState.READY,
            sync_point.c.acts_on == old.id,
        )
        .values(acts_on=row_id, atomic_key=sync_point.c.atomic_key + 1)
    )
    if taken_over.rowcount != 1:
        raise Undo(None)
    _insert_replacement(connection, new, attempt)
    taken: Job = changed(job, resource=new)
    return taken


def _insert_replacement(connection: Connection, new: ResourceRow, attempt: Attempt) -> None:
    definition = new.desired
    connection.execute(
        sa.insert(resource).values(
            placed(
                resource,
                {
                    "id": new.id,
                    "stack_id": new.stack_id,
                    "name": new.name,
                    "version": new.version,
                    "replaces": new.replaces,
                    "desired": definition and definition.to_json(),
                    "desired_sha1": new.desired_sha1,
                    "deletion_policy": new.deletion_policy,
                    "foreseen": new.foreseen and new.foreseen.to_json(),
                    "wanted_attributes": list(new.wanted_attributes),
                    "attributes": {},
                    "output_version": 0,
                    "engine_id": new.engine_id,
                    "atomic_key": new.atomic_key,
                    "metadata": dict(new.metadata),
                    "data": {},
                    "created_at": utcnow(),
                    **row_locks.begun(new, attempt),
                },
            )
        )
    )
    add_events(connection, [row_locks.begun_event(new, attempt)])


@writing
def try_leave(connection: Connection, row: ResourceRow, left: Attempt) -> bool:
    """Record that the deletion under way of a row that is held is given up for another attempt, fenced."""
    given_up = row_locks.try_write(connection, row, {"progress": left.to_json(), "hook": None})
    if given_up:
        reason = "the deletion under way is given up: what is left of the resource is retained"
        add_events(connection, [event_of(row, Action.DELETE, Status.IN_PROGRESS, reason)])
    return given_up


@writing
def try_add_event(connection: Connection, row: ResourceRow, attempt: Attempt, reason: str) -> bool:
    """Save an attempt at what is done to a row that is held, fenced, and say something in an event."""
    held_still = row_locks.try_write(connection, row, {"progress": attempt.to_json()})
    if held_still:
        add_events(connection, [event_of(row, attempt.action, Status.IN_PROGRESS, reason)])
    return held_still


@writing
def try_set_metadata(connection: Connection, row: ResourceRow, metadata: Mapping[str, Any]) -> bool:
    """Write the metadata of a row that is held, fenced; whoever signals meanwhile reads it again."""
    return row_locks.try_write(connection, row, {"metadata": dict(metadata)}, metadata_too=True)


@writing
def try_pause(connection: Connection, row: ResourceRow, hook: str, attempt: Attempt) -> bool:
    """Let an action on a row that is held wait at a breakpoint, fenced; say so in an event."""
    paused = row_locks.try_write(connection, row, {"hook": hook, "progress": attempt.to_json()})
    if paused:
        reason = f"{attempt.action} paused until Hook {hook} is cleared"
        begun = (attempt.action, Status.IN_PROGRESS)
        # Nothing is begun at the breakpoint of an update: the row is as it was.
        state = (row.action, row.status) if hook == "pre-update" else state_shown(*begun, hook)
        add_events(connection, [event_of(row, *state, reason)])
    return paused


def event_of(
    row: ResourceRow,
    action: Action,
    status: Status,
    reason: str,
    properties: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return the event that an action on a row is in some state."""
    return resource_event(
        stack_id=row.stack_id,
        resource_id=row.id,
        name=row.name,
        type_name=row.type,
        physical_id=row.physical_id,
        action=action,
        status=status,
        reason=reason,
        properties=properties,
    )
