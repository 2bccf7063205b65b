# SPDX-License-Identifier: Apache-2.0
"""Traversals: how one starts, changes phase, ends."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any

import sqlalchemy as sa
from oslo_db import exception as oslo_db_exception
from sqlalchemy.engine import Connection

from heatconv import errors
from heatconv.db.convergence import (
    delegations,
    project_quota,
    row_locks,
    rows,
    snapshots,
    sync_points,
    tree_quota,
)
from heatconv.db.convergence.tree_quota import TreeQuota
from heatconv.db.delivery import sinks
from heatconv.db.delivery.events import add_stack_event, drop_old_events
from heatconv.db.observation import healing, observations, schedule
from heatconv.db.plumbing import bulk
from heatconv.db.plumbing.connections import unhurried
from heatconv.db.plumbing.places import placed
from heatconv.db.plumbing.requests import deciding
from heatconv.db.plumbing.session import writing
from heatconv.db.plumbing.types import in_seconds, utcnow
from heatconv.db.tables import raw_template, resource, resource_observed, stack, stack_tag
from heatconv.model.deletion import LEAVING, newer_policies
from heatconv.model.ids import new_id
from heatconv.model.nodes import Direction, Node, NodeData
from heatconv.model.outcomes import Half, Owner, StackFailed
from heatconv.model.plan import Plan, Target
from heatconv.model.records import Extant, Held, RawTemplate, ResourceRow, Snapshot, Stack
from heatconv.model.states import VISITS, Action, DeletionPolicy, Phase, Status, cancelled

#: The actions whose failure is followed by a rollback, if the stack is to have one.
_ROLLED_BACK = (Action.CREATE, Action.ADOPT, Action.UPDATE, Action.RESTORE)

#: A stack's first traversal.
_FIRST = frozenset({Action.CREATE, Action.ADOPT})

#: What a stack is in while a half of its traversal is not done.
_PHASES = {Direction.UPDATE: Phase.UPDATE, Direction.CLEANUP: Phase.GC}

NO_CHECK = "CHECK not supported"  #: how the reason of a resource begins whose type cannot be checked

Planner = Callable[[Sequence[Extant]], Plan]


@dataclass(frozen=True, kw_only=True)
class TraversalSpec:
    """A traversal to be started: of which stack, doing what, towards which resources.

    ``template``: a new one, the id of one that is there, or None to keep the
    stack's.  ``settings`` are columns of the stack that change with it.
    """

    action: Action
    targets: Mapping[str, Target]
    template: RawTemplate | int | None = None
    settings: Mapping[str, Any]
    tags: Sequence[str] | None = None
    timeout_secs: int
    keep_events: int = -1  #: how many of the stack's events stay; all of them if negative
    abandon: bool = False  #: what a deletion's resources stand for stays
    snapshot_name: str | None = None  #: of a traversal that takes a snapshot
    max_snapshots: int = -1  #: how many the stack may have then; any number if negative
    max_stacks: int = -1  #: how many the project may have with one that is created; any number if negative
    tree_quota: TreeQuota | None = None  #: how many resources there may be in the tree; None is any number
    owner: Held | None = None  #: on behalf of which row a nested stack is made or changed
    only_drifted: frozenset[str] | None = None  #: the resources whose drift counts; None: all
    heals: Sequence[ResourceRow] | None = None  #: what nobody asked to heal: the traversal is the observer's
    delegation: str | None = None  #: by what right daemons act for a stack that is created
    sinks: Sequence[Mapping[str, Any]] | None = None  #: where events are delivered to; None: where they were


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
def create(connection: Connection, new: Stack, spec: TraversalSpec, planned: Plan) -> Started:
    """Store a stack and start its first traversal.

    The plan is there before the transaction is: to make that of a large stack takes
    longer than a transaction may pause.

    Raises:
        RequestLimitExceeded: there would be too many resources in the tree, or stacks in the project.
        ResourceLocked: the owner's claim does not count any more.
        StackExists: the project has a living stack of that name (unique index).

    Concurrency: the quota's row is locked last (``project_quota.take``).
    """
    if new.owner_resource_id is None and spec.tree_quota is not None:  # there is no tree around it
        spec.tree_quota.check(len(spec.targets) + spec.tree_quota.inside)
    else:
        _check_tree_quota(connection, new, spec)
    clearing = _check_owner(connection, spec)
    template_id = _add_template(connection, new.id, spec.template, present=None)
    try:
        connection.execute(
            sa.insert(stack).values(
                id=new.id,
                name=new.name,
                live_name=new.name,
                project_id=new.project_id,
                user_id=new.user_id,
                user_name=new.user_name,
                owner_resource_id=new.owner_resource_id,
                root_stack_id=new.root_id,
                nested_depth=new.depth,
                description=new.description,
                raw_template_id=template_id,
                current_traversal=new.current_traversal,
                action=spec.action,
                status=Status.IN_PROGRESS,
                status_reason="",
                phase=Phase.PREPARE,
                disable_rollback=new.disable_rollback,
                atomic_key=0,
                created_at=utcnow(),
            )
        )
    except oslo_db_exception.DBDuplicateEntry:
        raise errors.StackExists(name=new.name) from None
    if spec.delegation is not None:
        delegations.keep(connection, new.id, spec.delegation)
    started = _begin(connection, new, template_id, spec, lambda _no_rows: planned)
    project_quota.take(connection, stack, new.project_id, new.id, spec.max_stacks)
    if not clearing or spec.owner is None:
        return started
    return replace(started, left=_leave_in_predecessors(connection, spec.owner, spec.targets))


@deciding
def try_start(connection: Connection, seen: Stack, spec: TraversalSpec, plan: Planner) -> Started | None:
    """Start a traversal of a stack, WHERE id AND atomic_key = as seen; None: another was faster.

    Raises:
        RequestLimitExceeded: there would be too many resources in the tree, or snapshots of the stack.
        ResourceLocked: the owner's claim does not count any more.

    Concurrency: the row of the stack is locked first, then, unless it is COMPLETE,
    those of its resources, so that no worker can replace one between the plan's
    reading and its writing; only then are the old traversal's sync points deleted,
    which is what tells the workers that they were superseded.
    """
    _check_tree_quota(connection, seen, spec)
    _check_owner(connection, spec)
    won = sa.update(stack).where(stack.c.id == seen.id, stack.c.atomic_key == seen.atomic_key)
    if connection.execute(won.values(atomic_key=stack.c.atomic_key + 1)).rowcount != 1:
        return None
    template_id = _add_template(connection, seen.id, spec.template, present=seen.raw_template_id)
    return _begin(connection, seen, template_id, spec, plan)


def _check_tree_quota(connection: Connection, grown: Stack, spec: TraversalSpec) -> None:
    if spec.tree_quota is not None:
        tree_quota.take(connection, grown, len(spec.targets), spec.tree_quota, owned=spec.owner is not None)


def _check_owner(connection: Connection, spec: TraversalSpec) -> bool:
    """Hold on to the claim on whose behalf a traversal is started, if there is one: it may be late.

    Returns whether another row of the owner's name is being deleted.
    """
    if spec.owner is None:
        return False
    hold = row_locks.hold(connection, spec.owner)
    if hold is None:
        raise errors.ResourceLocked(name=spec.owner.id)
    return hold.clearing


def _leave_in_predecessors(
    connection: Connection, owner: Held, targets: Mapping[str, Target]
) -> tuple[str, ...]:
    """Write what a nested stack that takes the place of others says is to become of their resources.

    They are nested in what had the owner's name before, and are being deleted with that,
    unless that is to be left as it is: then so is all that is in it.
    Returns the rows that a worker is deleting and is to give up.
    """
    new, old = resource.alias("new"), resource.alias("old")
    left_whole = sa.func.coalesce(old.c.deletion_policy.in_(LEAVING), sa.false())
    before = (
        sa.select(stack.c.id)
        .join(old, old.c.id == stack.c.owner_resource_id)
        .join(new, sa.and_(new.c.stack_id == old.c.stack_id, new.c.name == old.c.name))
        .where(new.c.id == owner.id, old.c.action == Action.DELETE, ~left_whole)
        .where(stack.c.deleted_at.is_(None))
    )
    left: tuple[str, ...] = ()
    for stack_id in connection.scalars(before).all():
        extant = extant_rows(connection, stack_id)
        policies = dict(newer_policies(targets, extant, {}, frozenset()))
        left += _write_policies(connection, extant, policies)
    return left


def _begin(
    connection: Connection, seen: Stack, template_id: int, spec: TraversalSpec, plan: Planner
) -> Started:
    traversal_id = new_id()
    first = spec.action in _FIRST
    # Of one that is COMPLETE nobody holds a row, or can replace one, and its sync points are forgotten.
    may_be_held = not first and seen.status is not Status.COMPLETE
    connection.execute(
        sa.update(stack)
        .where(stack.c.id == seen.id)
        .values(
            **spec.settings,
            **({} if spec.action in VISITS else {"size": len(spec.targets)}),
            abandoned=spec.abandon,
            raw_template_id=template_id,
            current_traversal=traversal_id,
            action=spec.action,
            status=Status.IN_PROGRESS,
            status_reason=f"Stack {spec.action} started",
            phase=Phase.UPDATE,
            deadline=in_seconds(spec.timeout_secs),
            updated_at=None if first else utcnow(),
        )
    )
    _write_settings(connection, seen, spec, first=first)
    if spec.heals is not None:
        healing.note_begun(connection, seen.id, traversal_id, spec.heals)
    if not first and spec.keep_events >= 0:
        drop_old_events(connection, seen.id, keep=spec.keep_events)
    if seen.action is Action.SNAPSHOT and seen.status is Status.IN_PROGRESS and not first:
        snapshots.end(
            connection, seen.current_traversal, Status.FAILED, f"Stack {spec.action} came in between"
        )
    if spec.action is Action.SNAPSHOT:
        snapshots.begin(connection, traversal_id, seen.id, spec.snapshot_name, limit=spec.max_snapshots)
    if may_be_held:
        _lock_rows(connection, seen.id)
    extant = [] if first else extant_rows(connection, seen.id)
    if spec.only_drifted is not None:
        extant = [row._replace(drifted=row.drifted and row.name in spec.only_drifted) for row in extant]
    with unhurried(connection, max(len(extant), len(spec.targets))):
        planned = plan(extant)
    if may_be_held:
        sync_points.forget(connection, seen.id)
    drifted = [row.id for row in extant if row.drifted and row.name in planned.dirty]
    if drifted:
        observations.take_up(connection, drifted)
    _write_rows(connection, seen.id, spec.targets, planned)
    left = _write_policies(connection, extant, planned.policies, abandon=spec.abandon)
    outputs = _outputs(connection, {sender.resource_id for _, sender in planned.inputs})
    sync_points.lay_out(connection, seen.id, traversal_id, planned, outputs)
    # As late as may be: until the commit, whoever delivers events has to reckon with one of this number.
    add_stack_event(
        connection,
        stack_id=seen.id,
        name=seen.name,
        action=spec.action,
        status=Status.IN_PROGRESS,
        reason=f"Stack {spec.action} started",
    )
    if not planned.requires and (current := _lock(connection, seen.id, traversal_id)):
        end_update_half(connection, seen.id, traversal_id, spec.action)
        _complete(connection, current)
    return Started(
        stack_id=seen.id,
        traversal_id=traversal_id,
        leaves=planned.leaves,
        tree=seen.root_id,
        nodes=len(planned.requires),
        left=left,
        snapshot=snapshots.get(connection, traversal_id) if spec.action is Action.SNAPSHOT else None,
    )


def _add_template(
    connection: Connection, stack_id: str, template: RawTemplate | int | None, *, present: int | None
) -> int:
    """Store a new template, unless it is one that is there, or the present one; return its id."""
    if isinstance(template, RawTemplate):
        added = connection.execute(
            sa.insert(raw_template).values(
                placed(
                    raw_template,
                    {
                        "uuid": new_id(),
                        "stack_id": stack_id,
                        "template": template.template,
                        "environment": template.environment,
                        "files": template.files,
                        "outputs": template.outputs,
                        "parameters": template.parameters,
                    },
                )
            )
        )
        (template_id,) = added.inserted_primary_key or (0,)
        return int(template_id)
    if template is not None:
        return template
    assert present is not None  # noqa: S101 - a stack always has a template
    return present


def _write_settings(connection: Connection, seen: Stack, spec: TraversalSpec, *, first: bool) -> None:
    """Write what changes with a traversal beside the stack's row."""
    if spec.tags is not None:
        _set_tags(connection, seen.id, spec.tags, before=() if first else seen.tags)
    if spec.settings.get("policy"):
        schedule.ask_for(connection, seen.id, due_in=0)
    if spec.sinks or (spec.sinks is not None and not first):
        sinks.keep(connection, seen.id, spec.sinks)


def _set_tags(connection: Connection, stack_id: str, tags: Sequence[str], *, before: Collection[str]) -> None:
    if before:
        connection.execute(sa.delete(stack_tag).where(stack_tag.c.stack_id == stack_id))
    if tags:
        connection.execute(
            sa.insert(stack_tag),
            [
                {"stack_id": stack_id, "tag": tag, "position": position}
                for position, tag in enumerate(dict.fromkeys(tags))
            ],
        )


_EXTANT = (  # in the order in which ``rows.extant`` takes them
    resource.c.id,
    resource.c.name,
    resource.c.desired_sha1,
    resource.c.applied_sha1,
    resource.c.requires,
    resource.c.attributes,
    resource.c.output_version,
    resource.c.action,
    resource.c.status,
    resource.c.engine_id,
    resource.c.deletion_policy,
    # What was handed over is to be taken back, as drift is to be put right.
    sa.or_(observations.is_open(), resource.c.handover.is_not(None)).label("drifted"),
)


def extant_rows(connection: Connection, stack_id: str) -> list[Extant]:
    """Return a stack's resources, as a plan sees them."""
    query = (
        sa.select(*_EXTANT)
        .select_from(resource.outerjoin(resource_observed, observations.HOLDS))
        .where(resource.c.stack_id == stack_id)
    )
    # Sorted here: PostgreSQL goes by the rules of some language, which takes it longer.
    return sorted((rows.extant(row, stack_id) for row in connection.execute(query)), key=attrgetter("id"))


def _lock_rows(connection: Connection, stack_id: str) -> None:
    """Lock a stack's resources, after whoever is replacing one; only a later statement sees the new row."""
    mine = sa.select(resource.c.id).where(resource.c.stack_id == stack_id).order_by(resource.c.id)
    connection.execute(mine.with_for_update()).all()


_OUTPUT = (
    resource.c.id,
    resource.c.stack_id,
    resource.c.name,
    resource.c.reference_id,
    resource.c.attributes,
    resource.c.output_version,
)


def _outputs(connection: Connection, row_ids: Collection[str]) -> dict[str, NodeData]:
    """Return what rows tell those that require them, by their ids."""
    return {
        row.id: rows.output_of(row)
        for some in sync_points.portions(sorted(row_ids))
        for row in connection.execute(sa.select(*_OUTPUT).where(resource.c.id.in_(some)))
    }


def _write_rows(connection: Connection, stack_id: str, targets: Mapping[str, Target], plan: Plan) -> None:
    """Write what is desired of each row that is not clean."""
    if plan.garbage:
        for ids in sync_points.portions(sorted(plan.garbage)):
            connection.execute(
                sa.update(resource)
                .where(resource.c.id.in_(ids), resource.c.desired_sha1.is_not(None))
                .values(desired=None, desired_sha1=None, atomic_key=_NEW_KEY)
            )
    kept = sorted(plan.dirty - plan.created)
    if kept:
        _KEEP_ROWS.execute(
            connection, [_desired(stack_id, plan.chosen[name], targets[name]) for name in kept]
        )
    if plan.created:
        _ADD_ROWS.execute(
            connection,
            [_new_row(stack_id, plan.chosen[name], targets[name]) for name in sorted(plan.created)],
        )


def _write_policies(
    connection: Connection,
    extant: Sequence[Extant],
    policies: Mapping[str, DeletionPolicy],
    *,
    abandon: bool = False,
) -> tuple[str, ...]:
    """Write what the newest template says is to become of rows that are not desired anew.

    Of a stack that is abandoned, what is being deleted is let go of as well.
    Returns the rows that a worker is deleting and is to give up.
    """
    if abandon:
        policies = {row.id: DeletionPolicy.ABANDON for row in extant if row.action is Action.DELETE}
    if not policies:
        return ()
    written = [{"id": row_id, "deletion_policy": policies[row_id]} for row_id in sorted(policies)]
    _WRITE_POLICIES.execute(connection, written)
    return tuple(
        row.id
        for row in extant
        if row.locked and row.action is Action.DELETE and policies.get(row.id) in LEAVING
    )


#: What every new row has.
_NEW: dict[str, Any] = {
    "version": 0,
    "requires": {},
    "attributes": {},
    "output_version": 0,
    "action": Action.INIT,
    "status": Status.COMPLETE,
    "status_reason": "",
    "atomic_key": 0,
    "data": {},
}
_ADD_ROWS = bulk.Insert(
    resource,
    [
        "id",
        "stack_id",
        "name",
        "type",
        "desired",
        "desired_sha1",
        "deletion_policy",
        "wanted_attributes",
        "metadata",
    ],
    same={
        "created_at": utcnow(),
        **{name: sa.literal(value, resource.c[name].type) for name, value in _NEW.items()},
    },
)

#: A row that nobody holds gets a new ``atomic_key``: a worker of the old traversal that has read
#: it, but not locked it yet, comes too late.
_NEW_KEY = resource.c.atomic_key + sa.case((resource.c.engine_id.is_(None), 1), else_=0)
_KEEP_ROWS = bulk.Update(
    resource,
    ["id"],
    ["desired", "desired_sha1", "deletion_policy", "wanted_attributes"],
    same={"replaced_by": sa.null(), "atomic_key": _NEW_KEY},
)
_WRITE_POLICIES = bulk.Update(resource, ["id"], ["deletion_policy"], same={"atomic_key": _NEW_KEY})


def _desired(stack_id: str, row_id: str, target: Target) -> dict[str, Any]:
    return {
        "id": row_id,
        "stack_id": stack_id,
        "desired": target.definition.to_json(),
        "desired_sha1": target.definition.sha1,
        "deletion_policy": target.definition.deletion_policy,
        "wanted_attributes": sorted(target.attributes),
    }


def _new_row(stack_id: str, row_id: str, target: Target) -> dict[str, Any]:
    desired = _desired(stack_id, row_id, target)
    return desired | {
        "name": target.definition.name,
        "type": target.definition.type,
        "metadata": desired["desired"]["metadata"],
    }


# -- the stack's own nodes ---------------------------------------------------------------


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
    end_update_half(connection, stack_id, traversal_id, Action(current.action))
    own = [sync_points.Sender(stack_id, traversal_id, node)]
    ahead = sync_points.look_ahead(connection, own)
    if not ahead.edges:
        return Half(owner=_complete(connection, current))
    propagation = sync_points.propagate(connection, own, ahead)
    return Half(ready=tuple(propagation.ready[traversal_id]))


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


def end_update_half(connection: Connection, stack_id: str, traversal_id: str, action: Action) -> None:
    """Go on to the clean-up, WHERE the traversal is current; what completed is what a rollback applies."""
    applied_nothing = action is Action.DELETE or action in VISITS
    completed = {} if applied_nothing else {"prev_raw_template_id": stack.c.raw_template_id}
    connection.execute(
        sa.update(stack)
        .where(_current(stack_id, traversal_id))
        .values(phase=Phase.GC, atomic_key=stack.c.atomic_key + 1, **completed)
    )


def _complete(connection: Connection, found: sa.Row[Any]) -> Owner | None:
    """End the traversal of a locked stack, and drop what only it needed; return whom to tell.

    It is COMPLETE, or FAILED if it was to check resources and some are not well.
    """
    owner = _owner(connection, found.owner_resource_id)
    status, reason = Status.COMPLETE, f"Stack {found.action} completed successfully"
    if found.action == Action.CHECK:
        status, reason = _findings(connection, found.id)
    gone = {"deleted_at": utcnow(), "live_name": None} if found.action == Action.DELETE else {}
    connection.execute(
        sa.update(stack)
        .where(stack.c.id == found.id)
        .values(
            status=status,
            status_reason=reason,
            phase=Phase.DONE,
            deadline=None,
            atomic_key=stack.c.atomic_key + 1,
            **gone,
        )
    )
    add_stack_event(
        connection,
        stack_id=found.id,
        name=found.name,
        action=Action(found.action),
        status=status,
        reason=reason,
    )
    sync_points.forget(connection, found.id)
    if gone and found.owner_resource_id is None:
        delegations.release(connection, found.id)
    if found.action == Action.SNAPSHOT:
        snapshots.fill(connection, found.current_traversal, found.id)
    if Action(found.action) in VISITS | _FIRST:
        return owner  # whatever templates are kept are kept for another reason; at first there is one
    connection.execute(
        sa.delete(raw_template).where(
            raw_template.c.stack_id == found.id, raw_template.c.id != found.raw_template_id
        )
    )
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
        sa.update(resource)
        .where(under_way)
        .values(deletion_policy=DeletionPolicy.RETAIN, atomic_key=_NEW_KEY)
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
