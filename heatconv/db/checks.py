# SPDX-License-Identifier: Apache-2.0
"""The transactions of a check: claim a row, record what became of it.

Every write of a worker is fenced, WHERE engine_id = the worker AND atomic_key =
its claim's: a worker whose lock was broken changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from heatconv.db import rows, sync_points, traversals
from heatconv.db.events import add_resource_event
from heatconv.db.services import alive
from heatconv.db.session import Undo, reading, writing
from heatconv.db.tables import resource, service, stack, sync_point, sync_point_input
from heatconv.db.types import utcnow
from heatconv.model.definition import Definition
from heatconv.model.nodes import Direction, Node, NodeData
from heatconv.model.outcomes import (
    Busy,
    Claim,
    Claimed,
    Failure,
    Fenced,
    Finish,
    Idle,
    Propagated,
    StackFailed,
    Superseded,
)
from heatconv.model.records import Attempt, Job, Resource
from heatconv.model.states import Action, Status, SyncState
from heatconv.model.steps import Replace, Skip, Start, Step

Decide = Callable[[Job], Step]


# -- claim -------------------------------------------------------------------------------


@writing
def claim(
    connection: Connection,
    stack_id: str,
    traversal_id: str,
    node: Node,
    *,
    me: str,
    dead_after: float,
    decide: Decide,
) -> Claim:
    """Lock the row that a node acts on and decide the first step, in three or four statements.

    Args:
        me: the engine id of this worker.
        dead_after: seconds without a heartbeat after which a lock's holder is dead.
        decide: a pure function; it runs inside the transaction.

    Concurrency: the lock is taken WHERE id AND atomic_key = as read, which a
    newer traversal changes as well; a live holder's lock is respected, a dead
    one's is broken by the same statement.
    """
    job = _read_job(connection, stack_id, traversal_id, node, dead_after)
    if isinstance(job, Idle):
        return job
    row = job.resource
    if row is not None and row.engine_id is not None and job.lock_alive:
        return Busy(row.engine_id)
    step = decide(job)
    if row is None or isinstance(step, Skip):
        return Claimed(job, step)
    locked = _lock(connection, row, me, step)
    if locked is None:
        return Idle("the resource changed while it was being claimed")
    return Claimed(_with_resource(job, locked), step)


def _read_job(
    connection: Connection, stack_id: str, traversal_id: str, node: Node, dead_after: float
) -> Job | Idle:
    found = connection.execute(
        sa.select(
            sync_point.c.state,
            *stack.c,
            *resource.c,
            alive(dead_after).label("lock_alive"),
        )
        .select_from(
            sync_point.join(stack, stack.c.id == sync_point.c.stack_id)
            .outerjoin(resource, resource.c.id == sync_point.c.acts_on)
            .outerjoin(service, service.c.engine_id == resource.c.engine_id)
        )
        .where(sync_points.key_of(traversal_id, node))
        .set_label_style(sa.LABEL_STYLE_TABLENAME_PLUS_COL)
    ).one_or_none()
    if found is None:
        return Idle("its traversal is gone")
    columns = found._mapping  # noqa: SLF001 - SQLAlchemy's documented way to rows by column
    in_progress = columns[stack.c.status] == Status.IN_PROGRESS
    if columns[stack.c.current_traversal] != traversal_id or not in_progress:
        return Idle("its traversal is not the current one")
    if columns[sync_point.c.state] != SyncState.READY:
        return Idle(f"it is {columns[sync_point.c.state]}")
    there = columns[resource.c.id] is not None
    return Job(
        stack=rows.stack(_part(columns, stack)),
        traversal_id=traversal_id,
        node=node,
        resource=rows.resource(_part(columns, resource)) if there else None,
        inputs=_read_inputs(connection, traversal_id, node) if there else (),
        lock_alive=bool(columns["lock_alive"]),
    )


def _part(columns: Mapping[Any, Any], table: sa.Table) -> SimpleNamespace:
    return SimpleNamespace(**{column.name: columns[column] for column in table.c})


def _read_inputs(connection: Connection, traversal_id: str, node: Node) -> tuple[NodeData, ...]:
    if node.direction is not Direction.UPDATE:
        return ()
    query = sa.select(sync_point_input.c.data).where(
        sync_point_input.c.traversal_id == traversal_id,
        sync_point_input.c.resource_id == node.resource_id,
        sync_point_input.c.is_update == True,  # noqa: E712 - SQL
    )
    return tuple(NodeData(**data) for data in connection.scalars(query))


def _lock(connection: Connection, row: Resource, me: str, step: Step) -> Resource | None:
    """Take the lock, and begin the step's action if it is one, in one write."""
    begun: dict[str, Any] = {}
    if isinstance(step, Start):
        begun = _begun(row, step.attempt)
    changed = connection.execute(
        sa.update(resource)
        .where(resource.c.id == row.id, resource.c.atomic_key == row.atomic_key)
        .values(engine_id=me, atomic_key=row.atomic_key + 1, **begun)
    )
    if changed.rowcount != 1:
        return None
    if isinstance(step, Start):
        _begun_event(connection, row, step.attempt)
    return _evolve(row, engine_id=me, atomic_key=row.atomic_key + 1)


def _begun(row: Resource, attempt: Attempt) -> dict[str, Any]:
    return {
        "type": attempt.definition.type,
        "action": attempt.action,
        "status": Status.IN_PROGRESS,
        "status_reason": "state changed",
        "progress": attempt.to_json(),
        # Until it is done the real thing may depend on the old as well as on the new.
        "requires": {**row.requires, **attempt.requires},
        "updated_at": utcnow(),
    }


def _begun_event(connection: Connection, row: Resource, attempt: Attempt) -> None:
    add_resource_event(
        connection,
        stack_id=row.stack_id,
        resource_id=row.id,
        name=row.name,
        type_name=attempt.definition.type,
        physical_id=row.physical_id,
        action=attempt.action,
        status=Status.IN_PROGRESS,
        reason="state changed",
    )


def _evolve(record: Any, **changes: Any) -> Any:
    """Return a copy of a frozen record; ``dataclasses.replace`` without its validation costs."""
    copy = object.__new__(type(record))
    copy.__dict__.update(record.__dict__, **changes)
    return copy


def _with_resource(job: Job, row: Resource) -> Job:
    changed: Job = _evolve(job, resource=row)
    return changed


# -- while it is held ------------------------------------------------------------------


def _held(row: Resource) -> sa.ColumnElement[bool]:
    """The fence: the row is still locked by the claim that ``row`` was read with."""
    return sa.and_(
        resource.c.id == row.id,
        resource.c.engine_id == row.engine_id,
        resource.c.atomic_key == row.atomic_key,
    )


@writing
def try_begin(connection: Connection, row: Resource, attempt: Attempt) -> bool:
    """Record that an action starts on a row that is held, fenced."""
    changed = connection.execute(sa.update(resource).where(_held(row)).values(**_begun(row, attempt)))
    if changed.rowcount == 1:
        _begun_event(connection, row, attempt)
    return changed.rowcount == 1


@writing
def try_write(connection: Connection, row: Resource, **columns: Any) -> bool:
    """Write what became known of a row that is held (physical id, progress, data, metadata), fenced."""
    written = sa.update(resource).where(_held(row)).values(**columns)
    return connection.execute(written).rowcount == 1


@writing
def try_release(connection: Connection, row: Resource, **columns: Any) -> bool:
    """Let go of a row and leave its action to be taken up by another, fenced."""
    released = sa.update(resource).where(_held(row))
    values = {"engine_id": None, "atomic_key": resource.c.atomic_key + 1, **columns}
    return connection.execute(released.values(**values)).rowcount == 1


@writing
def try_replace(connection: Connection, job: Job, row_id: str, step: Replace) -> Job | None:
    """Let a new row take over the node of the row that is held, and begin to create it.

    The new row impersonates the old one's graph key: successors wait for that
    key and are told the new row's id.  The old row is garbage from now on.

    Concurrency: fenced on the old row; and WHERE the sync point is READY, for a
    newer traversal that has read the old row must not find two.  Returns None,
    and changes nothing, if either does not hold.
    """
    old = _resource_of(job)
    attempt = step.attempt
    given_up = connection.execute(
        sa.update(resource)
        .where(_held(old))
        .values(
            desired=None,
            desired_sha1=None,
            replaced_by=row_id,
            engine_id=None,
            progress=None,
            atomic_key=resource.c.atomic_key + 1,
            **({"status": Status.COMPLETE} if old.status is Status.IN_PROGRESS else {}),
        )
    )
    new = Resource(
        id=row_id,
        stack_id=old.stack_id,
        name=old.name,
        type=attempt.definition.type,
        version=old.version + 1,
        replaces=old.id,
        desired=old.desired,
        desired_sha1=old.desired_sha1,
        wanted_attributes=old.wanted_attributes,
        action=Action.CREATE,
        status=Status.IN_PROGRESS,
        engine_id=old.engine_id,
        atomic_key=1,
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
    if given_up.rowcount != 1 or taken_over.rowcount != 1:
        raise Undo(None)
    _insert_replacement(connection, new, attempt)
    return _with_resource(job, new)


def _insert_replacement(connection: Connection, new: Resource, attempt: Attempt) -> None:
    definition = new.desired
    connection.execute(
        sa.insert(resource).values(
            id=new.id,
            stack_id=new.stack_id,
            name=new.name,
            version=new.version,
            replaces=new.replaces,
            desired=definition and definition.to_json(),
            desired_sha1=new.desired_sha1,
            wanted_attributes=list(new.wanted_attributes),
            attributes={},
            output_version=0,
            engine_id=new.engine_id,
            atomic_key=new.atomic_key,
            metadata=dict(new.metadata),
            data={},
            created_at=utcnow(),
            **_begun(new, attempt),
        )
    )
    _begun_event(connection, new, attempt)


# -- the end of a check ---------------------------------------------------------------------


def _resource_of(job: Job) -> Resource:
    assert job.resource is not None  # noqa: S101 - only claimed rows come here
    return job.resource


@writing
def finish_update(
    connection: Connection,
    job: Job,
    *,
    applied: Definition,
    sha1: str,
    requires: Mapping[str, int],
    output: NodeData,
    physical_id: str | None,
    metadata: Mapping[str, Any],
    action: Action | None,
    told: bool,
) -> Finish:
    """Record that a resource is as its definition wants it, unlock it, tell its successors.

    Args:
        applied: the resolved definition that made it so; ``sha1`` is of the frozen one.
        action: what was done, None if nothing had to be.
        told: False if what was applied is not what this node wants: then the
            node is not done, and ``Superseded`` makes the caller ring for it again.

    Concurrency: fenced on the row; WHERE READY on the node's own sync point.
    """
    row = _resource_of(job)
    version = row.version + (action is Action.UPDATE)
    changes: dict[str, Any] = {
        "applied": applied.to_json(),
        "applied_sha1": sha1,
        "applied_template_id": job.stack.raw_template_id,
        "requires": dict(requires),
        "reference_id": output.reference_id,
        "attributes": dict(output.attributes),
        "output_version": output.output_version,
        "version": version,
        "status": Status.COMPLETE,
        "engine_id": None,
        "progress": None,
        "atomic_key": resource.c.atomic_key + 1,
    }
    if action is not None:
        changes |= {"status_reason": "state changed", "updated_at": utcnow(), "metadata": dict(metadata)}
    if connection.execute(sa.update(resource).where(_held(row)).values(**changes)).rowcount != 1:
        return Fenced()
    if action is not None:
        made = _evolve(row, physical_id=physical_id)
        _ended_event(connection, made, action, Status.COMPLETE, "state changed", applied.properties)
    return _propagate(connection, job, output) if told else Superseded()


@writing
def finish_cleanup(connection: Connection, job: Job, *, action: Action | None) -> Finish:
    """Drop the row of what was cleaned away and tell the node's successors; fenced like an update."""
    row = _resource_of(job)
    if connection.execute(sa.delete(resource).where(_held(row))).rowcount != 1:
        return Fenced()
    if action is not None:
        _ended_event(connection, row, action, Status.COMPLETE, "state changed")
    return _propagate(connection, job, None)


@writing
def pass_by(connection: Connection, job: Job) -> Finish:
    """Tell the successors of a node that had nothing to do, WHERE its sync point is READY."""
    return _propagate(connection, job, None)


def _propagate(connection: Connection, job: Job, data: NodeData | None) -> Finish:
    if not sync_points.try_finish(connection, job.traversal_id, job.node):
        return Superseded()
    ready, _ = sync_points.tell_successors(
        connection,
        job.stack.id,
        job.traversal_id,
        job.node,
        data if job.direction is Direction.UPDATE else None,
    )
    return Propagated(tuple(ready))


@writing
def fail(
    connection: Connection, job: Job, *, action: Action, reason: str, definition: Definition | None
) -> Failure:
    """Record that a resource failed, and end its stack's traversal with it.

    ``definition`` is what was being applied: of a resource that never was
    complete it is kept, for whoever deletes what there may be of it.

    Concurrency: the stack is locked first, WHERE the traversal is current; then
    the fence on the row decides whether anything is written at all.
    """
    row = _resource_of(job)
    roll_back = traversals.try_fail(
        connection, job.stack.id, job.traversal_id, f"Resource {action} failed: {reason}"
    )
    failed = sa.update(resource).where(_held(row))
    kept = {"applied": definition.to_json()} if definition is not None and row.applied is None else {}
    changed = connection.execute(
        failed.values(
            **kept,
            action=action,
            status=Status.FAILED,
            status_reason=reason,
            engine_id=None,
            progress=None,
            atomic_key=resource.c.atomic_key + 1,
            updated_at=utcnow(),
        )
    )
    if changed.rowcount != 1:
        raise Undo(Fenced())
    _ended_event(connection, row, action, Status.FAILED, reason)
    if roll_back is None:
        return Superseded()
    sync_points.forget(connection, job.stack.id)
    return StackFailed(roll_back=roll_back)


def _ended_event(
    connection: Connection,
    row: Resource,
    action: Action,
    status: Status,
    reason: str,
    properties: Mapping[str, Any] | None = None,
) -> None:
    add_resource_event(
        connection,
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


@reading
def find_resource(connection: Connection, resource_id: str) -> Resource | None:
    """Return a resource row as it is now."""
    row = connection.execute(sa.select(resource).where(resource.c.id == resource_id)).one_or_none()
    return row and rows.resource(row)
