# SPDX-License-Identifier: Apache-2.0
"""How a traversal ends: half by half, COMPLETE, FAILED, or given up.

The stack is locked first, WHERE the traversal is current; so each ends once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from heatconv.db.convergence import ahead, completion, propagation, snapshots, sync_points
from heatconv.db.convergence.traversal_rows import NEW_KEY
from heatconv.db.delivery.events import add_stack_event
from heatconv.db.plumbing.group_commit import Grouped
from heatconv.db.plumbing.prepared import Prepared
from heatconv.db.plumbing.requests import deciding
from heatconv.db.plumbing.session import Database
from heatconv.db.plumbing.together import Together
from heatconv.db.tables import resource, stack, sync_point
from heatconv.model.ids import new_id
from heatconv.model.nodes import Direction, Node
from heatconv.model.outcomes import Half, StackFailed
from heatconv.model.states import Action, DeletionPolicy, Phase, Status, SyncState, cancelled

#: The actions whose failure is followed by a rollback, if the stack is to have one.
_ROLLED_BACK = (Action.CREATE, Action.ADOPT, Action.UPDATE, Action.RESTORE)

#: What a stack is in while a half of its traversal is not done.
_PHASES = {Direction.UPDATE: Phase.UPDATE, Direction.CLEANUP: Phase.GC}

NO_CHECK = "CHECK not supported"  #: how the reason of a resource begins whose type cannot be checked

#: What is known of a stack when it is locked: all that ending its traversal takes.
_LOCKED: Sequence[sa.Column[Any]] = (
    stack.c.id,
    stack.c.current_traversal,
    stack.c.name,
    stack.c.action,
    stack.c.phase,
    stack.c.disable_rollback,
    stack.c.owner_resource_id,
    stack.c.raw_template_id,
    stack.c.prev_raw_template_id,
)
_DUE = sa.select(*_LOCKED).where(
    stack.c.id.in_(sa.bindparam("ids", expanding=True)),  # which MariaDB looks up in the index
    sa.tuple_(stack.c.id, stack.c.current_traversal, stack.c.phase).in_(
        sa.bindparam("halves", expanding=True)
    ),
    stack.c.status == Status.IN_PROGRESS,
    sa.exists().where(
        sync_point.c.traversal_id == stack.c.current_traversal,
        sync_point.c.resource_id == stack.c.id,
        sync_point.c.is_update == (stack.c.phase == Phase.UPDATE),
        sync_point.c.state == SyncState.READY,
    ),
)
_LOCK_DUE = Prepared(_DUE.with_for_update(of=stack))
_LOCK_THOSE_DUE = Prepared(_DUE.with_for_update(of=stack, skip_locked=True))


class _Due(NamedTuple):
    """Half of a traversal whose nodes are all done."""

    stack_id: str
    traversal_id: str
    direction: Direction

    @property
    def sender(self) -> propagation.Sender:
        """The stack's own node, which stands for the half."""
        return propagation.Sender(self.stack_id, self.traversal_id, Node(self.stack_id, self.direction))


def finish_half(database: Database, stack_id: str, traversal_id: str, direction: Direction) -> Half:
    """Do what a stack's own node stands for; return the nodes that are READY by it.

    UPDATE: every wanted resource is as wanted, so this template is the one to
    roll back to, and what is not wanted may go.  Where nothing can be left to
    go, and after CLEANUP, the traversal ends.  Halves that are done at the same
    time share a transaction.

    Concurrency: the stack is locked WHERE id AND current_traversal AND status =
    IN_PROGRESS AND phase = that of this half, and its sync point is READY; of two
    who do the same half the second finds the next phase.
    """
    return _finish(database, _Due(stack_id, traversal_id, direction))


def _finish_all(connection: Connection, halves: Sequence[_Due]) -> list[Half | None]:
    """Finish some halves; of several, those are left out whose stacks another transaction has locked."""
    locked = _lock_due(connection, halves)
    # Of two that have the same half to finish, the first does.
    first = {half: number for number, half in reversed([*enumerate(halves)])}
    due = {half: locked[half] for half in first if half in locked}
    updates = [half.sender for half in _with_cleanup(connection, due)]
    writes = Together(connection)
    found = ahead.look(writes, {sender.key for sender in updates})
    cleaning = [sender for sender in updates if sender.key in found.senders]
    ready = _begin_cleanup(writes, cleaning, found) if cleaning else {}
    going_on = {sender.traversal_id for sender in cleaning}  # even if none is READY: a join may be in between
    ended = [row for half, row in due.items() if half.traversal_id not in going_on]
    completed = [_completed(connection, row) for row in ended]
    owners = completion.complete(connection, completed, last=True)
    missed = Half() if len(halves) == 1 else None
    return [
        Half(ready=tuple(ready.get(half.traversal_id, ())), owner=owners.get(half.stack_id))
        if half in due and first[half] == number
        else missed
        for number, half in enumerate(halves)
    ]


#: The traversals with cleanup nodes that act on rows which are not wanted any more.
_LEAVING = Prepared(
    sa.select(sync_point.c.traversal_id)
    .join(resource, resource.c.id == sync_point.c.acts_on)
    .where(
        sync_point.c.traversal_id.in_(sa.bindparam("traversals", expanding=True)),
        sync_point.c.is_update == sa.false(),
        resource.c.desired_sha1.is_(None),
    )
    .distinct()
)


def _with_cleanup(connection: Connection, due: Mapping[_Due, sa.Row[Any]]) -> list[_Due]:
    """Return the update halves after which there is something to clear up: what is wanted is left alone."""
    updates = [half for half in due if half.direction is Direction.UPDATE]
    applying = {half.traversal_id for half in updates if due[half].action not in completion.APPLY_NOTHING}
    leaving = set(connection.scalars(_LEAVING, {"traversals": sorted(applying)})) if applying else set[str]()
    return [half for half in updates if half.traversal_id not in applying - leaving]


#: All trees count for one: a small stack waits for a group beside a huge one, but once, not at each node.
_finish: Grouped[_Due, Half] = Grouped(_finish_all, lambda _half: "")


def _lock_due(connection: Connection, halves: Sequence[_Due]) -> dict[_Due, sa.Row[Any]]:
    """Lock the stacks of halves that are to be finished still; of several, none that somebody else holds."""
    direction_of = {_PHASES[half.direction]: half.direction for half in halves}
    wanted = [(half.stack_id, half.traversal_id, _PHASES[half.direction]) for half in halves]
    lock = _LOCK_THOSE_DUE if len(halves) > 1 else _LOCK_DUE
    return {
        _Due(row.id, row.current_traversal, direction_of[row.phase]): row
        for row in connection.execute(lock, {"ids": [half.stack_id for half in halves], "halves": wanted})
    }


_CLEANING = Prepared(
    sa.update(stack)
    .where(stack.c.id.in_(sa.bindparam("cleaning", expanding=True)))
    .values(phase=Phase.GC, prev_raw_template_id=completion.APPLIED, atomic_key=stack.c.atomic_key + 1)
)


def _begin_cleanup(
    writes: Together, own: Sequence[propagation.Sender], found: ahead.Ahead
) -> Mapping[str, Sequence[Node]]:
    """Go on to the clean-up of locked stacks; what completed is what a rollback applies.

    Returns the nodes that are READY by it, by traversal.
    """
    writes.execute(_CLEANING, {"cleaning": [sender.stack_id for sender in own]})
    ready = propagation.propagate(own, found, writes).ready
    propagation.send(writes)
    return ready


def _lock(connection: Connection, stack_id: str, traversal_id: str) -> sa.Row[Any] | None:
    """Lock a stack and return what ending its traversal takes, WHERE that is current and IN_PROGRESS."""
    current = sa.and_(
        stack.c.id == stack_id,
        stack.c.current_traversal == traversal_id,
        stack.c.status == Status.IN_PROGRESS,
    )
    return connection.execute(sa.select(*_LOCKED).where(current).with_for_update()).one_or_none()


def end_at_once(connection: Connection, stack_id: str, traversal_id: str) -> None:
    """End a traversal that has nothing to do, WHERE it is current; part of the transaction that begins it."""
    current = _lock(connection, stack_id, traversal_id)
    if current is not None:
        completion.complete(connection, [_completed(connection, current)])


def _completed(connection: Connection, current: sa.Row[Any]) -> completion.Completed:
    """Say how the traversal of a locked stack ends: FAILED if it was a check, and not all is well."""
    if current.action == Action.CHECK:
        return completion.Completed(current, *_findings(connection, current.id))
    reason = f"Stack {current.action} completed successfully"
    return completion.Completed(current, Status.COMPLETE, reason)


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
    owners = completion.owners_of(connection, [found])
    return StackFailed(roll_back, owners.get(stack_id))


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
