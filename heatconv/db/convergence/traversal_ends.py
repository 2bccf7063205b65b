# SPDX-License-Identifier: Apache-2.0
"""How a traversal ends: half by half, COMPLETE, FAILED, or given up.

The stack is locked first, WHERE the traversal is current; so each ends once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from heatconv.db.convergence import (
    delegations,
    propagation,
    snapshots,
    sync_points,
)
from heatconv.db.convergence.traversal_rows import NEW_KEY
from heatconv.db.delivery.events import add_stack_event
from heatconv.db.plumbing.requests import deciding
from heatconv.db.plumbing.session import writing
from heatconv.db.plumbing.together import Together
from heatconv.db.plumbing.types import utcnow
from heatconv.db.tables import raw_template, resource, stack, sync_point
from heatconv.model.ids import new_id
from heatconv.model.nodes import Direction, Node
from heatconv.model.outcomes import Half, Owner, StackFailed
from heatconv.model.states import VISITS, Action, DeletionPolicy, Phase, Status, cancelled

#: The actions whose failure is followed by a rollback, if the stack is to have one.
_ROLLED_BACK = (Action.CREATE, Action.ADOPT, Action.UPDATE, Action.RESTORE)
#: The actions that make nothing of a template.
_APPLIES_NOTHING = VISITS | {Action.DELETE}
#: A stack's first traversal.
_FIRST = frozenset({Action.CREATE, Action.ADOPT})

#: What a stack is in while a half of its traversal is not done.
_PHASES = {Direction.UPDATE: Phase.UPDATE, Direction.CLEANUP: Phase.GC}

NO_CHECK = "CHECK not supported"  #: how the reason of a resource begins whose type cannot be checked


@writing
def finish_half(connection: Connection, stack_id: str, traversal_id: str, direction: Direction) -> Half:
    """Do what a stack's own node stands for; return the nodes that are READY by it.

    UPDATE: every wanted resource is as wanted, so this template is the one to
    roll back to, and what is not wanted may go.  Where nothing can be left to
    go, and after CLEANUP, the traversal ends.

    Concurrency: the stack is locked WHERE id AND current_traversal AND status =
    IN_PROGRESS AND phase = that of this half, and its sync point is READY; of two
    who do the same half the second finds the next phase.
    """
    node = Node(stack_id, direction)
    due = stack.c.phase == _PHASES[direction], sync_points.is_ready(traversal_id, node)
    current = _lock(connection, stack_id, traversal_id, *due)
    if current is None:
        return Half()
    if direction is Direction.CLEANUP:
        return Half(owner=_complete(connection, current))
    action = Action(current.action)
    if not _has_cleanup(connection, traversal_id, action):
        return Half(owner=_complete(connection, current))
    _end_update_half(connection, stack_id, traversal_id, action)
    own = [propagation.Sender(stack_id, traversal_id, node)]
    ahead = propagation.look_ahead(connection, own)
    if not ahead.edges:
        return Half(owner=_complete(connection, current))
    writes = Together(connection)
    passed_on = propagation.propagate(connection, own, ahead, writes)
    propagation.send(writes)
    return Half(ready=tuple(passed_on.ready[traversal_id]))


#: The rows that the cleanup nodes of a traversal act on, and that are not wanted any more.
_LEFT = (
    sa.select(sync_point.c.resource_id)
    .join(resource, resource.c.id == sync_point.c.acts_on)
    .where(
        sync_point.c.traversal_id == sa.bindparam("traversal"),
        sync_point.c.is_update == sa.false(),
        resource.c.desired_sha1.is_(None),
    )
    .limit(1)
)


def _has_cleanup(connection: Connection, traversal_id: str, action: Action) -> bool:
    """Tell whether the cleanup half of a traversal has anything to do: it leaves alone what is wanted."""
    if action in _APPLIES_NOTHING:
        return True
    return connection.execute(_LEFT, {"traversal": traversal_id}).first() is not None


def _current(stack_id: str, traversal_id: str) -> sa.ColumnElement[bool]:
    return sa.and_(
        stack.c.id == stack_id,
        stack.c.current_traversal == traversal_id,
        stack.c.status == Status.IN_PROGRESS,
    )


_LOCKED: Sequence[sa.Column[Any]] = (
    stack.c.id,
    stack.c.current_traversal,
    stack.c.name,
    stack.c.action,
    stack.c.disable_rollback,
    stack.c.owner_resource_id,
    stack.c.raw_template_id,
    stack.c.prev_raw_template_id,
)


def _lock(
    connection: Connection, stack_id: str, traversal_id: str, *due: sa.ColumnElement[bool]
) -> sa.Row[Any] | None:
    """Lock a stack and return what ending its traversal takes, WHERE that is current and ``due`` holds."""
    query = sa.select(*_LOCKED).where(_current(stack_id, traversal_id), *due).with_for_update()
    return connection.execute(query).one_or_none()


def end_at_once(connection: Connection, stack_id: str, traversal_id: str) -> None:
    """End a traversal that has nothing to do, WHERE it is current; part of the transaction that begins it."""
    current = _lock(connection, stack_id, traversal_id)
    if current is not None:
        _complete(connection, current)


def _end_update_half(connection: Connection, stack_id: str, traversal_id: str, action: Action) -> None:
    """Go on to the clean-up, WHERE the traversal is current; what completed is what a rollback applies."""
    completed = {} if action in _APPLIES_NOTHING else {"prev_raw_template_id": stack.c.raw_template_id}
    connection.execute(
        sa.update(stack)
        .where(_current(stack_id, traversal_id))
        .values(phase=Phase.GC, atomic_key=stack.c.atomic_key + 1, **completed)
    )


_ENDED = (
    sa.update(stack)
    .where(stack.c.id == sa.bindparam("ended"))
    .values(
        status=sa.bindparam("status"),
        status_reason=sa.bindparam("status_reason"),
        phase=Phase.DONE,
        deadline=None,
        atomic_key=stack.c.atomic_key + 1,
    )
)
_ENDED_FOR_GOOD = _ENDED.values(deleted_at=utcnow(), live_name=None)
_ENDED_AS_WANTED = _ENDED.values(prev_raw_template_id=stack.c.raw_template_id)
_DROP_OTHERS = sa.delete(raw_template).where(
    raw_template.c.stack_id == sa.bindparam("of_templates"), raw_template.c.id != sa.bindparam("kept")
)


def _complete(connection: Connection, found: sa.Row[Any]) -> Owner | None:
    """End the traversal of a locked stack, and drop what only it needed; return whom to tell.

    It is COMPLETE, or FAILED if it was to check resources and some are not well.
    """
    owner = _owner(connection, found.owner_resource_id)
    status, reason = Status.COMPLETE, f"Stack {found.action} completed successfully"
    if found.action == Action.CHECK:
        status, reason = _findings(connection, found.id)
    as_wanted = _ENDED if found.action in VISITS else _ENDED_AS_WANTED
    ended = _ENDED_FOR_GOOD if found.action == Action.DELETE else as_wanted
    writes = Together(connection)
    writes.execute(ended, {"ended": found.id, "status": status, "status_reason": reason})
    add_stack_event(
        writes,
        stack_id=found.id,
        name=found.name,
        action=Action(found.action),
        status=status,
        reason=reason,
    )
    sync_points.forget(writes, found.id)
    if found.action == Action.DELETE and found.owner_resource_id is None:
        delegations.release(writes, found.id)
    # At first there is one template; those that a visit finds are kept for another reason.
    if Action(found.action) not in VISITS | _FIRST:
        writes.execute(_DROP_OTHERS, {"of_templates": found.id, "kept": found.raw_template_id})
    writes.send()
    if found.action == Action.SNAPSHOT:
        snapshots.fill(connection, found.current_traversal, found.id)
    return owner


def _owner(connection: Connection, resource_id: str | None) -> Owner | None:
    """Return the row that owns a stack, if a worker holds it."""
    if resource_id is None:
        return None
    engine_id = connection.scalar(sa.select(resource.c.engine_id).where(resource.c.id == resource_id))
    return engine_id and Owner(resource_id, engine_id)


_SHOWN = 5  #: how many resources that are not well a stack's reason names


def _findings(connection: Connection, stack_id: str) -> tuple[Status, str]:
    """Return how a check of a stack's resources ended, and why."""
    checked = sa.select(resource.c.name, resource.c.status_reason).where(
        resource.c.stack_id == stack_id,
        resource.c.desired_sha1.is_not(None),
        resource.c.action == Action.CHECK,
    )
    unwell = checked.where(resource.c.status == Status.FAILED).order_by(resource.c.name).limit(_SHOWN + 1)
    found = connection.execute(unwell).all()
    if found:
        said = [f"{row.name}: {row.status_reason}" for row in found[:_SHOWN]]
        more = "; and others" if len(found) > _SHOWN else ""
        return Status.FAILED, f"Resource CHECK failed: {'; '.join(said)}{more}"
    reason = f"Stack {Action.CHECK} completed successfully"
    beginning = sa.func.substr(resource.c.status_reason, 1, len(NO_CHECK))  # SQLite's LIKE ignores case
    unable = checked.where(beginning == NO_CHECK).limit(1)
    if connection.execute(unable).first() is not None:
        reason += ". 'CHECK' not fully supported (see resources)"
    return Status.COMPLETE, reason


def try_fail(
    connection: Connection, stack_id: str, traversal_id: str, reason: str, *, may_roll_back: bool = True
) -> StackFailed | None:
    """End a traversal as FAILED, WHERE it is current; part of a transaction.

    Returns None if it is not current any more.  If a rollback is to
    follow, the stack goes over to ROLLBACK_IN_PROGRESS in the same breath,
    waiting to be prepared, and nobody can see it rest in between.  The sync
    points go, so that no new node starts.
    """
    found = _lock(connection, stack_id, traversal_id)
    if found is None:
        return None
    # To the template that was to be applied there is no way back: it is what was there.
    elsewhere = found.raw_template_id != found.prev_raw_template_id
    wanted = may_roll_back and not found.disable_rollback and Action(found.action) in _ROLLED_BACK
    roll_back = wanted and elsewhere
    now = (
        {"action": Action.ROLLBACK, "phase": Phase.PREPARE, "current_traversal": new_id()}
        if roll_back
        else {"status": Status.FAILED, "phase": Phase.DONE, "deadline": None}
    )
    connection.execute(
        sa.update(stack)
        .where(stack.c.id == stack_id)
        .values(status_reason=reason, atomic_key=stack.c.atomic_key + 1, **now)
    )
    if found.action == Action.SNAPSHOT:
        snapshots.end(connection, traversal_id, Status.FAILED, reason)
    add_stack_event(
        connection,
        stack_id=stack_id,
        name=found.name,
        action=Action(found.action),
        status=Status.FAILED,
        reason=reason,
    )
    return StackFailed(roll_back, _owner(connection, found.owner_resource_id))


@deciding
def give_up_deletion(connection: Connection, stack_id: str, traversal_id: str) -> list[tuple[str, str]]:
    """End the traversal that deletes a stack, WHERE it is current; what is being deleted is let go of.

    Returns the rows that workers are deleting, each with its worker, who is to give that up.
    """
    reason = cancelled(Action.DELETE)
    if try_fail(connection, stack_id, traversal_id, reason, may_roll_back=False) is None:
        return []
    sync_points.forget(connection, stack_id)
    under_way = sa.and_(
        resource.c.stack_id == stack_id,
        resource.c.action == Action.DELETE,
        resource.c.status == Status.IN_PROGRESS,
    )
    connection.execute(
        sa.update(resource).where(under_way).values(deletion_policy=DeletionPolicy.RETAIN, atomic_key=NEW_KEY)
    )
    locked = sa.select(resource.c.id, resource.c.engine_id).where(
        under_way, resource.c.engine_id.is_not(None)
    )
    return [(row.id, row.engine_id) for row in connection.execute(locked)]


@deciding
def fail(
    connection: Connection, stack_id: str, traversal_id: str, reason: str, *, may_roll_back: bool = True
) -> StackFailed | None:
    """End a traversal as FAILED for a reason that no resource gave; see ``try_fail``."""
    failed = try_fail(connection, stack_id, traversal_id, reason, may_roll_back=may_roll_back)
    if failed is not None:
        sync_points.forget(connection, stack_id)
    return failed
