# SPDX-License-Identifier: Apache-2.0
"""How a traversal begins, step by step: that of a new stack, and that of one that is there.

``traversal_stacks`` has what is written of the stack, ``traversal_rows`` what is written of its
resources, ``traversal_kinds`` what some traversals add, and ``traversal_ends`` how they end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from sqlalchemy.engine import Connection

from heatconv.db.convergence import (
    delegations,
    project_quota,
    snapshots,
    sync_points,
    traversal_ends,
    traversal_rows,
    traversal_stacks,
)
from heatconv.db.convergence.traversal_kinds import Creation, Kind, NestedGrowth
from heatconv.db.delivery.events import add_stack_event, drop_old_events
from heatconv.db.observation import taking_up
from heatconv.db.plumbing.connections import unhurried
from heatconv.db.plumbing.requests import deciding
from heatconv.db.tables import stack
from heatconv.model.ids import new_id
from heatconv.model.nodes import Node
from heatconv.model.plan import Plan, TraversalSpec
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
def create(
    connection: Connection, new: Stack, spec: TraversalSpec, creation: Creation, planned: Plan
) -> Started:
    """Store a root stack and start its first traversal.

    The plan is there before the transaction is: to make that of a large stack takes
    longer than a transaction may pause.

    Raises:
        RequestLimitExceeded: there would be too many resources in the stack, or stacks in the project.
        StackExists: the project has a living stack of that name (unique index).
        TransportError: the delegation took so long that it was given up.

    Concurrency: there is no tree around it, of which anything would have to be locked.
    The quota's row is locked last (``project_quota.take``).
    """
    creation.quota.check(len(spec.targets) + creation.quota.inside)
    traversal_id = _store(connection, new, spec)
    if creation.delegation is not None:
        delegations.keep(connection, new.id, creation.delegation)
    started = _begin_first(connection, new, traversal_id, spec, planned)
    project_quota.take(connection, stack, new.project_id, new.id, creation.max_stacks)
    return started


@deciding
def create_nested(
    connection: Connection, new: Stack, spec: TraversalSpec, growth: NestedGrowth, planned: Plan
) -> Started:
    """Store a nested stack and start its first traversal; the plan is there, as in ``create``.

    Raises:
        RequestLimitExceeded: there would be too many resources in the tree.
        ResourceLocked: the owner's claim does not count any more.
        StackExists: the project has a living stack of that name (unique index).
    """
    hold = growth.hold(connection, new, len(spec.targets))
    traversal_id = _store(connection, new, spec)
    started = _begin_first(connection, new, traversal_id, spec, planned)
    if not hold.clearing:
        return started
    # What the stack's template says counts for the stack before it, too, which is being deleted.
    left = traversal_rows.leave_in_predecessors(connection, growth.owner, spec.targets)
    return replace(started, left=left)


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
    if not traversal_stacks.try_take(connection, seen):
        return None
    traversal_id = new_id()
    _write_stack(connection, seen, traversal_id, spec, kind)
    kind.note(connection, seen.id, traversal_id)
    _end_what_went_on(connection, seen, spec)

    extant = kind.as_seen(_lock_rows(connection, seen))
    with unhurried(connection, max(len(extant), len(spec.targets))):
        planned = plan(extant)
    _forget_sync_points(connection, seen)
    _take_up_drift(connection, extant, planned)
    traversal_rows.write_rows(connection, seen.id, spec.targets, planned)
    left = traversal_rows.write_policies(connection, extant, kind.policies(extant, planned))

    started = _lay_out(connection, seen, traversal_id, spec, planned)
    return replace(started, left=left, snapshot=kind.snapshot(connection, traversal_id))


# -- of a new stack --------------------------------------------------------------------------------


def _store(connection: Connection, new: Stack, spec: TraversalSpec) -> str:
    """Store a stack with its template; return the id of its first traversal."""
    assert isinstance(spec.template, RawTemplate)  # noqa: S101 - a new stack has a template of its own
    template_id = traversal_stacks.add_template(connection, new.id, spec.template)
    traversal_id = new_id()
    traversal_stacks.add(connection, new, traversal_id, template_id, spec)
    return traversal_id


def _begin_first(
    connection: Connection, new: Stack, traversal_id: str, spec: TraversalSpec, planned: Plan
) -> Started:
    """Start the first traversal of a stack that is stored, and of which nobody else knows yet."""
    traversal_stacks.add_settings(connection, new, spec)
    traversal_rows.write_rows(connection, new.id, spec.targets, planned)
    return _lay_out(connection, new, traversal_id, spec, planned)


# -- of a stack that is there ----------------------------------------------------------------------


def _write_stack(
    connection: Connection, seen: Stack, traversal_id: str, spec: TraversalSpec, kind: Kind
) -> None:
    """Write what is wanted of the stack itself: the template, and what is set."""
    template_id = spec.template or seen.raw_template_id
    if isinstance(template_id, RawTemplate):
        template_id = traversal_stacks.add_template(connection, seen.id, template_id)
    traversal_stacks.write(connection, seen.id, traversal_id, template_id, spec, abandoned=kind.abandons)
    traversal_stacks.change_settings(connection, seen, spec)


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


def _lay_out(
    connection: Connection, begun: Stack, traversal_id: str, spec: TraversalSpec, planned: Plan
) -> Started:
    """Store the graph, and what its nodes are given by the rows that have none; say that it has begun."""
    outputs = traversal_rows.outputs_of(connection, {sender.resource_id for _, sender in planned.inputs})
    sync_points.lay_out(connection, begun.id, traversal_id, planned, outputs)
    # As late as may be: until the commit, whoever delivers events has to reckon with one of this number.
    add_stack_event(
        connection,
        stack_id=begun.id,
        name=begun.name,
        action=spec.action,
        status=Status.IN_PROGRESS,
        reason=traversal_stacks.reason(spec),
    )
    if not planned.requires:
        traversal_ends.end_at_once(connection, begun.id, traversal_id)
    return Started(
        stack_id=begun.id,
        traversal_id=traversal_id,
        leaves=planned.leaves,
        tree=begun.root_id,
        nodes=len(planned.requires),
    )
