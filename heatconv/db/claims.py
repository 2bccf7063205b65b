# SPDX-License-Identifier: Apache-2.0
"""Claiming the row that a node acts on."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from heatconv.db import held, rows
from heatconv.db.services import alive
from heatconv.db.session import writing
from heatconv.db.tables import resource, service, stack, sync_point, sync_point_input
from heatconv.model.nodes import Direction, Node, NodeData
from heatconv.model.outcomes import Busy, Claim, Claimed, Idle
from heatconv.model.records import Job, Resource, changed
from heatconv.model.states import VISITS, Status, SyncState
from heatconv.model.steps import Compare, Skip, Start, Step

Decide = Callable[[Job], Step]

# Built once: building a statement costs more than sending it.

_READ = (
    sa.select(
        sync_point.c.state,
        alive(sa.bindparam("dead_after", type_=sa.Float)),
        *stack.c,
        *resource.c,
    )
    .select_from(
        sync_point.join(stack, stack.c.id == sync_point.c.stack_id)
        .outerjoin(resource, resource.c.id == sync_point.c.acts_on)
        .outerjoin(service, service.c.engine_id == resource.c.engine_id)
    )
    .where(
        sync_point.c.traversal_id == sa.bindparam("traversal"),
        sync_point.c.resource_id == sa.bindparam("node"),
        sync_point.c.is_update == sa.bindparam("update"),
    )
)
_STACK = slice(2, 2 + len(stack.c))
_RESOURCE = slice(2 + len(stack.c), None)
_STACK_NAMES = [column.name for column in stack.c]
_RESOURCE_NAMES = [column.name for column in resource.c]

_READ_INPUTS = sa.select(sync_point_input.c.data).where(
    sync_point_input.c.traversal_id == sa.bindparam("traversal"),
    sync_point_input.c.resource_id == sa.bindparam("node"),
    sync_point_input.c.is_update == sa.true(),
)


@writing
def claim(
    connection: Connection,
    traversal_id: str,
    node: Node,
    *,
    me: str,
    dead_after: float,
    decide: Decide,
    locked: list[Resource],
) -> Claim:
    """Lock the row that a node acts on and decide the first step, in three or four statements.

    Args:
        me: the engine id of this worker.
        dead_after: seconds without a heartbeat after which a lock's holder is dead.
        decide: a pure function; it runs inside the transaction.
        locked: gets the row.  The answer to a commit can be lost: whoever tries
            again with the same list, as a retry does, finds the lock that it
            took itself; whoever gives up has to give back what is in there.

    Concurrency: the lock is taken WHERE id AND atomic_key = as read, which a
    newer traversal changes as well; a live holder's lock is respected, a dead
    one's is broken by the same statement.
    """
    job = _read_job(connection, traversal_id, node, dead_after)
    if isinstance(job, Idle):
        return job
    row = job.resource
    held_already = row is not None and any(_is_same_lock(row, before) for before in locked)
    if row is not None and row.engine_id is not None and job.lock_alive and not held_already:
        return Busy(row.engine_id)
    if _is_torn(job):
        return Idle("its traversal ended while it was being claimed")
    step = decide(job)
    if row is None or held_already or isinstance(step, Skip):
        return Claimed(job, step)
    if not held.try_lock(connection, row, me, _with_lock(row, step), touch=isinstance(step, Start)):
        return Idle("the resource changed while it was being claimed")
    if isinstance(step, Start):
        held.add_begun_event(connection, row, step.attempt)
    taken: Resource = changed(row, engine_id=me, atomic_key=row.atomic_key + 1)
    locked.append(taken)
    return Claimed(changed(job, resource=taken), step)


def _is_same_lock(row: Resource, before: Resource) -> bool:
    return (row.id, row.engine_id, row.atomic_key) == (before.id, before.engine_id, before.atomic_key)


def _with_lock(row: Resource, step: Step) -> dict[str, Any]:
    """Return what taking a step writes together with its lock.

    What the step may make the row depend on is known from here on: a newer
    traversal orders its deletions by it.
    """
    match step:
        case Start(attempt):
            return held.begun(row, attempt)
        case Compare(requires=requires):
            return {"requires": {**row.requires, **requires}}
        case _:
            return {}


def _is_torn(job: Job) -> bool:
    """Tell whether inputs are missing: the traversal failed between one statement and the next.

    Nothing may be made of a definition whose references mean nothing any more.
    """
    row = job.resource
    if row is None or row.desired is None or job.direction is not Direction.UPDATE:
        return False
    if job.stack.action in VISITS:  # which resolve nothing
        return False
    return not row.desired.requires <= {data.name for data in job.inputs}


def _read_job(connection: Connection, traversal_id: str, node: Node, dead_after: float) -> Job | Idle:
    key = {"traversal": traversal_id, "node": node.resource_id}
    update = node.direction is Direction.UPDATE
    found = connection.execute(_READ, {**key, "update": update, "dead_after": dead_after}).one_or_none()
    if found is None:
        return Idle("its traversal is gone")
    state, lock_alive = found[:2]
    of_stack = SimpleNamespace(**dict(zip(_STACK_NAMES, found[_STACK], strict=True)))
    if of_stack.current_traversal != traversal_id or of_stack.status != Status.IN_PROGRESS:
        return Idle("its traversal is not the current one")
    if state != SyncState.READY:
        return Idle(f"it is {state}")
    columns: list[Any] = list(found[_RESOURCE])
    row = SimpleNamespace(**dict(zip(_RESOURCE_NAMES, columns, strict=True)))
    inputs = connection.scalars(_READ_INPUTS, key).all() if update and row.id is not None else ()
    return Job(
        stack=rows.stack(of_stack),
        traversal_id=traversal_id,
        node=node,
        resource=rows.resource(row) if row.id is not None else None,
        inputs=tuple(NodeData(**data) for data in inputs),
        lock_alive=bool(lock_alive),
    )
