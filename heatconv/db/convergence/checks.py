# SPDX-License-Identifier: Apache-2.0
"""The transactions of a check: record what became of a row that was claimed.

Every write of a worker is fenced, WHERE engine_id = the worker AND atomic_key =
its claim's: a worker whose lock was broken changes nothing.
"""

from __future__ import annotations

import itertools
from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from heatconv.db.convergence import claims, row_locks, rows, sync_points, traversal_ends
from heatconv.db.delivery.events import add_events, resource_event
from heatconv.db.plumbing.group_commit import grouped
from heatconv.db.plumbing.places import placed
from heatconv.db.plumbing.session import Database, Undo, writing
from heatconv.db.plumbing.types import utcnow
from heatconv.db.tables import resource, sync_point
from heatconv.model.definition import Definition
from heatconv.model.failure import stack_reason
from heatconv.model.nodes import Direction, NodeData
from heatconv.model.outcomes import Claimed, Failure, Fenced, Finish, Propagated, Superseded
from heatconv.model.records import Attempt, Job, ResourceRow, Stack, changed, state_shown
from heatconv.model.secrets import masked
from heatconv.model.states import Action, Status, SyncState
from heatconv.model.steps import Replace

AT_ONCE = 32  #: nodes that become ready by one transaction and are taken up by its worker; the rest is shared
FIRST_KEY = 1  #: the atomic key of a replacement, which is locked when it is made

# -- while it is held ------------------------------------------------------------------


@writing
def try_begin(connection: Connection, row: ResourceRow, attempt: Attempt) -> bool:
    """Record that an action starts on a row that is held, fenced."""
    began = row_locks.try_write(connection, row, row_locks.begun(row, attempt), touch=True)
    if began:
        add_events(connection, [row_locks.begun_event(row, attempt)])
    return began


def try_write(database: Database, row: ResourceRow, columns: Mapping[str, Any]) -> bool:
    """Write what became known of a row that is held (physical id, progress, data, metadata), fenced."""
    return _write(database, row_locks.Write(row=row, columns=columns))


def _write_alone(connection: Connection, write: row_locks.Write) -> bool:
    return row_locks.try_write(connection, write.row, write.columns)


def _write_together(connection: Connection, writes: Sequence[row_locks.Write]) -> list[bool | None]:
    """Make the writes to rows that are held and that no other transaction has locked."""
    locked = row_locks.lock_all(connection, [write.row for write in writes])
    row_locks.write_all(connection, [write for write in writes if write.row.id in locked])
    return [True if write.row.id in locked else None for write in writes]


_write = grouped(_write_alone, _write_together, lambda write: write.row.stack_id)


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
    old = _resource_of(job)
    attempt = step.attempt
    given_up: dict[str, Any] = {
        "desired": None,
        "desired_sha1": None,
        "replaced_by": row_id,
        "progress": None,
        "hook": None,
    }
    if old.status is Status.IN_PROGRESS:
        given_up |= {
            "status": Status.COMPLETE,
            "status_reason": f"replaced while its {old.action} was under way",
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
        add_events(connection, [_ended(row, Action.DELETE, Status.IN_PROGRESS, reason)])
    return given_up


@writing
def try_tell(connection: Connection, row: ResourceRow, attempt: Attempt, reason: str) -> bool:
    """Save an attempt at what is done to a row that is held, fenced, and say something in an event."""
    held_still = row_locks.try_write(connection, row, {"progress": attempt.to_json()})
    if held_still:
        add_events(connection, [_ended(row, attempt.action, Status.IN_PROGRESS, reason)])
    return held_still


# -- the end of a check ---------------------------------------------------------------------


def _resource_of(job: Job) -> ResourceRow:
    assert job.resource is not None  # noqa: S101 - only claimed rows come here
    return job.resource


def finish_update(
    database: Database,
    job: Job,
    *,
    applied: Definition,
    sha1: str,
    requires: Mapping[str, int],
    output: NodeData,
    physical_id: str | None,
    action: Action | None,
    applies_current_definition: bool,
    then: claims.Claimant | None = None,
) -> Finish:
    """Record that a resource is as its definition wants it, unlock it, tell its successors.

    Args:
        applied: the resolved definition that made it so; ``sha1`` is of the frozen one.
        action: what was done, None if nothing had to be.
        applies_current_definition: False if what was applied is not what this node wants: then the
            node is not done, and ``Superseded`` makes the caller ring for it again.
        then: who claims nodes that become ready, in the same transaction.

    Concurrency: fenced on the row; WHERE READY on the node's own sync point.
    """
    row = _resource_of(job)
    changes: dict[str, Any] = {
        "type": applied.type,
        "applied": applied.to_json(),
        "applied_sha1": sha1,
        "applied_template_id": job.stack.raw_template_id,
        "requires": dict(requires),
        "physical_id": physical_id,
        "reference_id": output.reference_id,
        "attributes": rows.output_columns(output),
        "output_version": output.output_version,
        "version": row.version + (action is Action.UPDATE),
        "status": Status.COMPLETE,
        "progress": None,
    }
    happened = None
    if action is not None:
        changes["status_reason"] = "state changed"
        made: ResourceRow = changed(row, physical_id=physical_id, type=applied.type)
        shown = {name: masked(value, applied.secrets) for name, value in applied.properties.items()}
        happened = _ended(made, action, Status.COMPLETE, "state changed", shown)
    write = row_locks.Write(row=row, columns=changes, let_go=True, touch=action is not None)
    data = output if job.direction is Direction.UPDATE else None
    return _end(
        database,
        _End(
            job=job,
            write=write,
            happened=happened,
            data=data,
            applies_current_definition=applies_current_definition,
            then=then,
        ),
    )


def finish_visit(
    database: Database,
    job: Job,
    *,
    action: Action,
    status: Status,
    reason: str,
    then: claims.Claimant | None = None,
) -> Finish:
    """Record how a visit to a resource ended, unlock it, and tell the node's successors.

    A visit that a newer traversal came upon is only recorded: ``Superseded``
    makes the caller ring for what that one wants.  Fenced like an update; ``then`` as there.
    """
    row = _resource_of(job)
    changes = {"action": action, "status": status, "status_reason": reason, "progress": None}
    write = row_locks.Write(row=row, columns=changes, let_go=True, touch=True)
    happened = _ended(row, action, status, reason)
    current = job.stack.action is action
    return _end(
        database, _End(job=job, write=write, happened=happened, applies_current_definition=current, then=then)
    )


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
        add_events(connection, [_ended(row, *state, reason)])
    return paused


def finish_cleanup(
    database: Database, job: Job, *, action: Action | None, then: claims.Claimant | None = None
) -> Finish:
    """Drop the row of what was cleaned away and tell the node's successors; fenced like an update."""
    row = _resource_of(job)
    happened = None if action is None else _ended(row, action, Status.COMPLETE, "state changed")
    return _end(database, _End(job=job, drop=row, happened=happened, then=then))


def pass_by(database: Database, job: Job, *, then: claims.Claimant | None = None) -> Finish:
    """Tell the successors of a node that had nothing to do, WHERE its sync point is READY."""
    return _end(database, _End(job=job, then=then))


@dataclass(frozen=True, kw_only=True)
class _End:
    """How a check ends: what is written to its row or that it is dropped, what it propagates, who goes on."""

    job: Job
    write: row_locks.Write | None = None
    drop: ResourceRow | None = None
    happened: Mapping[str, Any] | None = None
    data: NodeData | None = None
    applies_current_definition: bool = True
    then: claims.Claimant | None = None

    @property
    def row(self) -> ResourceRow | None:
        """The row that has to be held."""
        return self.write.row if self.write else self.drop

    @property
    def sender(self) -> sync_points.Sender:
        return sync_points.Sender(self.job.stack.id, self.job.traversal_id, self.job.node, self.data)


def _end_alone(connection: Connection, end: _End) -> Finish:
    if end.write and not row_locks.try_write(
        connection, end.write.row, end.write.columns, let_go=end.write.let_go, touch=end.write.touch
    ):
        return Fenced()
    if end.drop and not row_locks.try_delete(connection, end.drop):
        return Fenced()
    happened = [end.happened] if end.happened else []
    ahead = sync_points.look_ahead(connection, [end.sender]) if end.applies_current_definition else None
    if not ahead or not ahead.senders:
        add_events(connection, happened)
        return Superseded()
    propagation = sync_points.propagate(connection, [end.sender], ahead)
    return _go_on(connection, [end], propagation, happened)[0]


def _end_together(connection: Connection, ends: Sequence[_End]) -> list[Finish | None]:
    """End the checks whose rows are held; another transaction has locked the other rows, or they are gone.

    What only they have locked is written first: others may wait for what is ahead of them.
    """
    rows_held = row_locks.lock_all(connection, [end.row for end in ends if end.row])
    usual = [end for end in ends if end.row is None or end.row.id in rows_held]
    row_locks.write_all(connection, [end.write for end in usual if end.write])
    row_locks.delete_all(connection, [end.drop for end in usual if end.drop])
    happened = [end.happened for end in usual if end.happened]
    ended: dict[int, Finish] = {id(end): Superseded() for end in usual}

    propagating = [end for end in usual if end.applies_current_definition]
    ahead = sync_points.look_ahead(connection, [end.sender for end in propagating])
    ready = ahead.senders
    # Of two that have passed by the same node, the first propagates.
    first = {end.sender.key: end for end in reversed(propagating)}
    current = [end for end in propagating if end.sender.key in ready and first[end.sender.key] is end]
    propagation = sync_points.propagate(connection, [end.sender for end in current], ahead)
    ended |= zip(map(id, current), _go_on(connection, current, propagation, happened), strict=True)
    return [ended.get(id(end)) for end in ends]


def _go_on(
    connection: Connection,
    ends: Sequence[_End],
    propagation: sync_points.Propagation,
    happened: Sequence[Mapping[str, Any]],
) -> list[Propagated]:
    """Claim nodes that have become ready for the workers of the ends, as far as they go on with any.

    Each end takes one, then those with spare capacity take up to ``AT_ONCE`` in all; the first
    end of each traversal rings for what is left.  ``happened`` has the events of the ends,
    which are recorded here.
    """
    left = {traversal_id: deque(nodes) for traversal_id, nodes in propagation.ready.items()}
    takers = [end for end in ends if end.then]
    spare = max(0, AT_ONCE - len(takers))
    more = itertools.chain.from_iterable([end] * (end.then.spare_capacity - 1) for end in takers if end.then)
    asks: list[tuple[claims.Ask, Stack]] = []
    for end in (*takers, *itertools.islice(more, spare)):
        of_stack, nodes = end.job.stack, left.get(end.job.traversal_id)
        if end.then and nodes and nodes[0].resource_id != of_stack.id:  # that one has no row to claim
            ask = claims.Ask(end.job.traversal_id, nodes.popleft(), end.then, of_stack.root_id)
            asks.append((ask, of_stack))
    following: dict[claims.Claimant, list[Claimed]] = defaultdict(list)
    if asks:
        claimed = claims.claim_following(connection, asks, propagation.inputs, happened)
        for (ask, _), claim in zip(asks, claimed, strict=True):
            if claim is not None:
                following[ask.claimant].append(claim)
            else:  # who is rung for sees what is the matter
                left[ask.traversal_id].append(ask.node)
    else:
        add_events(connection, happened)
    return [
        Propagated(
            tuple(left.pop(end.job.traversal_id, ())),
            tuple(following[end.then]) if end.then else (),
        )
        for end in ends
    ]


_end = grouped(_end_alone, _end_together, lambda end: end.job.stack.root_id)


@writing
def fail(
    connection: Connection,
    job: Job,
    *,
    action: Action,
    reason: str,
    definition: Definition | None,
    refused: str | None = None,
    overtaken: bool = False,
) -> Failure:
    """Record that a resource failed, and end its stack's traversal with it.

    ``definition`` is what was being applied: of a resource that never was
    complete it is kept, for whoever deletes what there may be of it.
    ``refused``: why nothing was begun; the resource keeps its state.
    ``overtaken``: the traversal wants something else and only waited for this, so it
    goes on: ``Superseded`` makes the caller ring for the node.

    Concurrency: the stack is locked first, WHERE the traversal is current; then
    the fence on the row decides whether anything is written at all.
    """
    row = _resource_of(job)
    ended = None
    if not overtaken:
        ended = traversal_ends.try_fail(
            connection, job.stack.id, job.traversal_id, stack_reason(action, reason)
        )
    failed: dict[str, Any] = {"progress": None}
    if refused is None:
        failed |= {"action": action, "status": Status.FAILED, "status_reason": reason}
    if definition is not None and row.applied is None:
        failed["applied"] = definition.to_json()
    if not row_locks.try_write(connection, row, failed, let_go=True, touch=True):
        raise Undo(Fenced())
    add_events(connection, [_ended(row, action, Status.FAILED, refused or reason)])
    if ended is None:
        return Superseded()
    sync_points.forget(connection, job.stack.id)
    return ended


def _ended(
    row: ResourceRow,
    action: Action,
    status: Status,
    reason: str,
    properties: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
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
