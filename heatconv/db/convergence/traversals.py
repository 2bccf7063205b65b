# SPDX-License-Identifier: Apache-2.0
"""How a traversal begins, step by step: that of a new stack, and that of one that is there.

``traversal_stacks`` has what is written of the stack, ``traversal_rows`` what is written of its
resources, ``traversal_kinds`` what some traversals add, and ``traversal_ends`` how they end.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from oslo_db import exception as oslo_db_exception
from sqlalchemy.engine import Connection

from heatconv import errors
from heatconv.db import plans
from heatconv.db.convergence import (
    delegations,
    layouts,
    owners,
    project_quota,
    snapshots,
    sync_points,
    traversal_ends,
    traversal_rows,
    traversal_stacks,
    tree_quota,
)
from heatconv.db.convergence.traversal_kinds import Creation, Kind, NestedGrowth
from heatconv.db.convergence.traversal_stacks import Beginning
from heatconv.db.convergence.tree_quota import Growing
from heatconv.db.delivery.events import add_events, drop_old_events, stack_event
from heatconv.db.observation import taking_up
from heatconv.db.plumbing.connections import unhurried
from heatconv.db.plumbing.requests import deciding
from heatconv.db.plumbing.session import Undo
from heatconv.db.plumbing.together import Together
from heatconv.db.tables import stack
from heatconv.model.ids import new_id
from heatconv.model.nodes import Node
from heatconv.model.plan import Plan, Target, TraversalSpec
from heatconv.model.records import Extant, RawTemplate, Snapshot, Stack
from heatconv.model.states import Action, Status

Planner = Callable[[Sequence[Extant]], Plan]


@dataclass(frozen=True, kw_only=True)
class Started:
    """A traversal that has begun: the nodes to ring for."""

    stack_id: str
    traversal_id: str
    leaves: tuple[Node, ...]
    tree: str  #: the root of the tree that the stack is in
    nodes: int = 0  #: how many there are, leaves and others
    left: tuple[str, ...] = ()  #: rows whose deletion is under way at some worker and not wanted any more
    snapshot: Snapshot | None = None  #: what it takes, if that is what it is for


@deciding
def create(connection: Connection, new: Beginning, creation: Creation) -> Started:
    """Store a root stack and start its first traversal.

    The plan is there before the transaction is: to make that of a large stack takes
    longer than a transaction may pause.

    Raises:
        Conflict: the plan that is applied by it was applied already, or has ended.
        RequestLimitExceeded: there would be too many resources in the stack, or stacks in the project.
        StackExists: the project has a living stack of that name (unique index).
        TransportError: the delegation took so long that it was given up.

    Concurrency: there is no tree around it, of which anything would have to be locked.
    The quota's row is locked last (``project_quota.take``).
    """
    creation.quota.check(len(new.spec.targets) + creation.quota.inside)
    if creation.plan_id is not None:
        plans.take(connection, creation.plan_id)
    (started,) = _begin_first(connection, [new])
    if creation.delegation is not None:
        delegations.keep(connection, new.stack.id, creation.delegation)
    project_quota.take(connection, stack, new.stack.project_id, new.stack.id, creation.max_stacks)
    return started


@deciding
def create_nested(connection: Connection, wanted: Sequence[tuple[Beginning, NestedGrowth]]) -> list[Started]:
    """Store nested stacks and start their first traversals; the plans are there, as in ``create``.

    Of several, those are left out whose owners' claims do not count any more, or whose owners another
    transaction has locked.

    Raises:
        RequestLimitExceeded: there would be too many resources in a tree.
        ResourceLocked: there is one, and its owner's claim does not count any more.
        StackExists: the project has a living stack of one of the names (unique index).

    Concurrency: locks the roots, then the owners, WHERE they are held by these claims; of several without
    waiting for any.
    """
    growing = [Growing(new.stack, len(new.spec.targets), growth.quota) for new, growth in wanted]
    tree_quota.take(connection, growing, owned=True)
    holds = owners.hold(connection, [growth.owner for _, growth in wanted])
    held = [(new, growth.owner) for new, growth in wanted if growth.owner.id in holds]
    started = _begin_first(connection, [new for new, _ in held])
    # What the template of a stack says counts for the stack before it, too, which is being deleted.
    return [
        replace(each, left=traversal_rows.leave_in_predecessors(connection, owner, new.spec.targets))
        if holds[owner.id].clearing
        else each
        for each, (new, owner) in zip(started, held, strict=True)
    ]


@deciding
def try_start(
    connection: Connection, seen: Stack, spec: TraversalSpec, kind: Kind, plan: Planner
) -> Started | None:
    """Start a traversal of a stack, WHERE id AND atomic_key = as seen; None: another was faster.

    Raises:
        RequestLimitExceeded: there would be too many resources in the tree, or snapshots of the stack.
        ResourceLocked: the owner's claim does not count any more.

    Concurrency: the row of the stack is locked first, then, unless it is COMPLETE,
    those of its resources, so that no worker can replace one between the plan's
    reading and its writing; only then are the old traversal's sync points deleted,
    which is what tells the workers that they were superseded.
    """
    kind.admit(connection, seen, len(spec.targets))
    traversal_id = new_id()
    if not _try_write_stack(connection, seen, traversal_id, spec, kind):
        raise Undo(None)  # with the template that was added
    kind.note(connection, seen.id, traversal_id)
    _end_what_went_on(connection, seen, spec)

    extant = _that_counts(kind.as_seen(_lock_rows(connection, seen)), spec.targets)
    with unhurried(connection, max(len(extant), len(spec.targets))):
        planned = plan(extant)
        _forget_sync_points(connection, seen)
        _take_up_drift(connection, extant, planned)
        traversal_rows.write_rows(connection, seen.id, spec.targets, planned)
        left = traversal_rows.write_policies(connection, extant, kind.policies(extant, planned))

    begun = Beginning(stack=seen, spec=spec, planned=planned, traversal_id=traversal_id)
    (started,) = _lay_out(connection, [begun], Together(connection))
    return replace(started, left=left, snapshot=kind.snapshot(connection, traversal_id))


# -- of a new stack --------------------------------------------------------------------------------


def _begin_first(connection: Connection, new: Sequence[Beginning]) -> list[Started]:
    """Store stacks of which nobody else knows yet, and start their first traversals.

    Raises:
        StackExists: the project has a living stack of one of the names (unique index).
    """
    if not new:
        return []
    writes = Together(connection)
    planned = [(each.stack.id, each.spec.targets, each.planned) for each in new]
    try:
        with unhurried(connection, sum(len(targets) for _, targets, _ in planned)):
            traversal_stacks.add(connection, new, writes)
            traversal_rows.add_rows(writes, planned)  # which sends the stacks before it, if there are many
        return _lay_out(connection, new, writes)
    except oslo_db_exception.DBDuplicateEntry:
        raise errors.StackExists(name=new[0].stack.name) from None


# -- of a stack that is there ----------------------------------------------------------------------


def _try_write_stack(
    connection: Connection, seen: Stack, traversal_id: str, spec: TraversalSpec, kind: Kind
) -> bool:
    """Lock the stack's row and write what is wanted of the stack itself: the template, and what is set."""
    template_id = spec.template or seen.raw_template_id
    if isinstance(template_id, RawTemplate):
        template_id = traversal_stacks.add_template(connection, seen.id, template_id)
    taken = traversal_stacks.try_write(
        connection, seen, traversal_id, template_id, spec, abandoned=kind.abandons
    )
    if taken:
        traversal_stacks.change_settings(connection, seen, spec)
    return taken


def _end_what_went_on(connection: Connection, seen: Stack, spec: TraversalSpec) -> None:
    """Drop the events that are too many by now, and end the snapshot that was being taken."""
    if spec.keep_events >= 0:
        drop_old_events(connection, seen.id, keep=spec.keep_events)
    if seen.action is Action.SNAPSHOT and seen.status is Status.IN_PROGRESS:
        reason = f"Stack {spec.action} came in between"
        snapshots.end(connection, seen.current_traversal, Status.FAILED, reason)


def _lock_rows(connection: Connection, seen: Stack) -> list[Extant]:
    """Return the rows of the stack's resources, of which none changes any more before they are written.

    Of a stack that is COMPLETE nobody holds a row, or can replace one: there is nothing to lock.
    """
    if seen.status is not Status.COMPLETE:
        traversal_rows.lock_rows(connection, seen.id)
    return traversal_rows.extant_rows(connection, seen.id)


def _that_counts(extant: list[Extant], targets: Mapping[str, Target]) -> list[Extant]:
    """Return rows of which no drift counts that the plan which is applied does not put right."""

    def is_left(row: Extant) -> bool:
        target = targets.get(row.name)
        return target is not None and target.foreseen is not None and not target.foreseen.may

    return [row._replace(drifted=False) if row.drifted and is_left(row) else row for row in extant]


def _forget_sync_points(connection: Connection, seen: Stack) -> None:
    """Tell the workers of the traversal before that they were superseded, if it has not ended."""
    if seen.status is not Status.COMPLETE:
        sync_points.forget(connection, seen.id)


def _take_up_drift(connection: Connection, extant: Sequence[Extant], planned: Plan) -> None:
    """Let the rows say what is really there of what has drifted, so that its check finds the difference."""
    drifted = [row.id for row in extant if row.drifted and row.name in planned.dirty]
    if drifted:
        taking_up.take_up(connection, drifted)


# -- of any ----------------------------------------------------------------------------------------


def _lay_out(connection: Connection, begun: Sequence[Beginning], writes: Together) -> list[Started]:
    """Store the graphs, and what nodes are given by the rows that have none; say that they have begun.

    With that, what is left with ``writes`` is written.
    """
    senders = {sender.resource_id for each in begun for _, sender in each.planned.inputs}
    outputs = traversal_rows.outputs_of(connection, senders)
    with unhurried(connection, sum(len(each.planned.requires) for each in begun)):
        layouts.lay_out(
            writes,
            [layouts.Layout(each.stack.id, each.traversal_id, each.planned) for each in begun],
            outputs,
        )
    # As late as may be: until the commit, whoever delivers events has to reckon with one of this number.
    add_events(
        writes,
        [
            stack_event(
                stack_id=each.stack.id,
                name=each.stack.name,
                action=each.spec.action,
                status=Status.IN_PROGRESS,
                reason=traversal_stacks.reason(each.spec),
            )
            for each in begun
        ],
    )
    writes.send()
    for each in begun:
        if not each.planned.requires:
            traversal_ends.end_at_once(connection, each.stack.id, each.traversal_id)
    return [
        Started(
            stack_id=each.stack.id,
            traversal_id=each.traversal_id,
            leaves=each.planned.leaves,
            tree=each.stack.root_id,
            nodes=len(each.planned.requires),
        )
        for each in begun
    ]
