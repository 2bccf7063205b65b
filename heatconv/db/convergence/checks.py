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

from sqlalchemy.engine import Connection

from heatconv.db import rows
from heatconv.db.convergence import claims, row_locks, sync_points, traversal_ends
from heatconv.db.convergence.actions import event_of
from heatconv.db.delivery.events import add_events
from heatconv.db.plumbing.group_commit import grouped
from heatconv.db.plumbing.session import Database, Undo, writing
from heatconv.model.definition import Definition
from heatconv.model.failure import stack_reason
from heatconv.model.nodes import Direction, NodeData
from heatconv.model.outcomes import Claimed, Failure, Fenced, Finish, Propagated, Superseded
from heatconv.model.records import Job, ResourceRow, Stack, changed
from heatconv.model.secrets import masked
from heatconv.model.states import Action, Status

AT_ONCE = 32  #: nodes that become ready by one transaction and are taken up by its worker; the rest is shared


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
    row = job.row
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
        happened = event_of(made, action, Status.COMPLETE, "state changed", shown)
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
    row = job.row
    changes = {"action": action, "status": status, "status_reason": reason, "progress": None}
    write = row_locks.Write(row=row, columns=changes, let_go=True, touch=True)
    happened = event_of(row, action, status, reason)
    current = job.stack.action is action
    return _end(
        database, _End(job=job, write=write, happened=happened, applies_current_definition=current, then=then)
    )


def finish_cleanup(
    database: Database, job: Job, *, action: Action | None, then: claims.Claimant | None = None
) -> Finish:
    """Drop the row of what was cleaned away and tell the node's successors; fenced like an update."""
    row = job.row
    happened = None if action is None else event_of(row, action, Status.COMPLETE, "state changed")
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
    row = job.row
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
    add_events(connection, [event_of(row, action, Status.FAILED, refused or reason)])
    if ended is None:
        return Superseded()
    sync_points.forget(connection, job.stack.id)
    return ended
