# SPDX-License-Identifier: Apache-2.0
"""How a traversal begins; ``traversal_rows`` has what it writes to rows, ``traversal_ends`` how it ends."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import sqlalchemy as sa
from oslo_db import exception as oslo_db_exception
from sqlalchemy.engine import Connection

from heatconv import errors
from heatconv.db.convergence import (
    delegations,
    project_quota,
    row_locks,
    snapshots,
    sync_points,
    traversal_ends,
    traversal_rows,
    tree_quota,
)
from heatconv.db.convergence.tree_quota import TreeQuota
from heatconv.db.delivery import sinks
from heatconv.db.delivery.events import add_stack_event, drop_old_events
from heatconv.db.observation import healing, observations, schedule
from heatconv.db.plumbing.connections import unhurried
from heatconv.db.plumbing.places import placed
from heatconv.db.plumbing.requests import deciding
from heatconv.db.plumbing.types import in_seconds, utcnow
from heatconv.db.tables import raw_template, stack, stack_tag
from heatconv.model.ids import new_id
from heatconv.model.nodes import Node
from heatconv.model.plan import Plan, Target
from heatconv.model.records import Extant, Held, RawTemplate, ResourceRow, Snapshot, Stack
from heatconv.model.states import VISITS, Action, Phase, Status

#: A stack's first traversal.
_FIRST = frozenset({Action.CREATE, Action.ADOPT})


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
    return replace(started, left=traversal_rows.leave_in_predecessors(connection, spec.owner, spec.targets))


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
        traversal_rows.lock_rows(connection, seen.id)
    extant = [] if first else traversal_rows.extant_rows(connection, seen.id)
    if spec.only_drifted is not None:
        extant = [row._replace(drifted=row.drifted and row.name in spec.only_drifted) for row in extant]
    with unhurried(connection, max(len(extant), len(spec.targets))):
        planned = plan(extant)
    if may_be_held:
        sync_points.forget(connection, seen.id)
    drifted = [row.id for row in extant if row.drifted and row.name in planned.dirty]
    if drifted:
        observations.take_up(connection, drifted)
    traversal_rows.write_rows(connection, seen.id, spec.targets, planned)
    left = traversal_rows.write_policies(connection, extant, planned.policies, abandon=spec.abandon)
    outputs = traversal_rows.outputs_of(connection, {sender.resource_id for _, sender in planned.inputs})
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
    if not planned.requires:
        traversal_ends.end_at_once(connection, seen.id, traversal_id, spec.action)
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
