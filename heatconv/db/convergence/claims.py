# SPDX-License-Identifier: Apache-2.0
"""Claiming the row that a node acts on."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from heatconv.db import rows
from heatconv.db.convergence import row_locks, sync_points
from heatconv.db.convergence.claimants import Ask
from heatconv.db.convergence.services import alive
from heatconv.db.delivery.events import add_events
from heatconv.db.plumbing.group_commit import grouped
from heatconv.db.plumbing.places import Opened
from heatconv.db.plumbing.session import Database
from heatconv.db.tables import resource, service, stack, sync_point, sync_point_input
from heatconv.model import deletion
from heatconv.model.nodes import Direction, NodeData
from heatconv.model.outcomes import Busy, Claim, Claimed, Idle
from heatconv.model.records import Job, ResourceRow, Stack, changed
from heatconv.model.states import VISITS, Action, Status, SyncState
from heatconv.model.steps import Compare, Skip, Start, Step

_NOTHING: Mapping[sync_points.Key, Sequence[str]] = {}

# Built once: building a statement costs more than sending it.

_READ = (
    sa.select(
        *(column.label(f"key_{column.name}") for column in sync_points.KEY),
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
    .where(sync_points.some(sync_point))
)
_KEY = slice(0, len(sync_points.KEY))
_STATE, _ALIVE = _KEY.stop, _KEY.stop + 1
_STACK = slice(_ALIVE + 1, _ALIVE + 1 + len(stack.c))
_RESOURCE = slice(_STACK.stop, _STACK.stop + len(resource.c))
_STACK_NAMES = [column.name for column in stack.c]
_RESOURCE_NAMES = [column.name for column in resource.c]

_READ_INPUTS = sa.select(sync_point_input).where(sync_points.some(sync_point_input))


def claim(database: Database, ask: Ask) -> Claim:
    """Lock the row that a node acts on and decide the first step, in two to four statements.

    The claimant is the same whenever this is tried again.  Claims in a tree of
    stacks that has many under way share transactions.

    Concurrency: the lock is taken WHERE id AND atomic_key = as read, which a
    newer traversal changes as well; a live holder's lock is respected, a dead
    one's is broken by the same statement.
    """
    return _claim(database, ask)


def _claim_all(connection: Connection, asks: Sequence[Ask]) -> list[Claim | None]:
    found: dict[sync_points.Key, Any] = {}
    for some in sync_points.selections({ask.key for ask in asks}):
        parameters = {**some, "dead_after": asks[0].claimant.worker.dead_after}
        for row in connection.execute(_READ, parameters):
            traversal_id, resource_id, is_update = row[_KEY]
            found[traversal_id, resource_id, bool(is_update)] = row
    stacks: dict[str, Stack] = {}
    jobs = [_found(ask, found.get(ask.key), stacks) for ask in asks]
    missed = Idle("the resource changed while it was being claimed") if len(asks) == 1 else None
    return _take(connection, asks, jobs, missed=missed)


_claim: Callable[[Database, Ask], Claim] = grouped(_claim_all, lambda ask: ask.tree)


def claim_following(
    connection: Connection,
    asks: Sequence[tuple[Ask, Stack]],
    passed_on: Mapping[sync_points.Key, Sequence[str]],
    happened: Sequence[Mapping[str, Any]],
) -> list[Claimed | None]:
    """Claim nodes that this very transaction has made READY, on behalf of whose stack it was that did.

    Of each node whose row is held, or that another transaction has locked, None
    is said, and nothing is written for it.  Waits for nobody's locks.

    Args:
        passed_on: what this transaction has told nodes, as JSON: who was told all
            that it waits for is not asked for again.
        happened: events to be recorded along with those that actions begin.

    Concurrency: as long as their sync points are locked, nobody can end the
    traversal or start another; so the stack is as it was when the job began
    whose end this is.
    """
    free = row_locks.lock_free(connection, {ask.node.resource_id for ask, _ in asks})
    jobs: list[Job | Idle | None] = []
    for ask, of_stack in asks:
        row = free.get(ask.node.resource_id)
        is_free = row is not None and row.engine_id is None
        jobs.append(_job(ask, SyncState.READY, of_stack, row) if is_free else None)
    claims = _take(
        connection, [ask for ask, _ in asks], jobs, passed_on=passed_on, happened=happened, locked=True
    )
    return [claim if isinstance(claim, Claimed) else None for claim in claims]


def _take(
    connection: Connection,
    asks: Sequence[Ask],
    jobs: Sequence[Job | Idle | None],
    *,
    passed_on: Mapping[sync_points.Key, Sequence[str]] = _NOTHING,
    happened: Sequence[Mapping[str, Any]] = (),
    locked: bool = False,
    missed: Idle | None = None,
) -> list[Claim | None]:
    """Decide the step of each job and take its row; ``missed`` is said of what another has taken meanwhile.

    Of two that ask for one row the first takes it.
    """
    jobs = _with_inputs(connection, asks, jobs, passed_on)
    claims = [_judge(ask, job) if job else None for ask, job in zip(asks, jobs, strict=True)]
    taking: dict[str, _Taking] = {}
    for claim in claims:
        if isinstance(claim, _Taking):
            taking.setdefault(claim.row.id, claim)
    takes = [
        row_locks.Take(row=each.row, columns=each.columns, touch=each.begins) for each in taking.values()
    ]
    taken = row_locks.take_all(connection, takes, asks[0].claimant.worker.engine_id, locked=locked)
    begun = [
        row_locks.begun_event(each.row, each.step.attempt)
        for each in taking.values()
        if each.row.id in taken and isinstance(each.step, Start)
    ]
    add_events(connection, [*happened, *begun])
    return [
        (claim.taken(ask) if taking[claim.row.id] is claim and claim.row.id in taken else missed)
        if isinstance(claim, _Taking)
        else claim
        for ask, claim in zip(asks, claims, strict=True)
    ]


@dataclass(frozen=True)
class _Taking:
    """A row that is free to be locked, and the step that then is taken."""

    job: Job
    row: ResourceRow
    step: Step

    @property
    def begins(self) -> bool:
        return isinstance(self.step, Start)

    @property
    def columns(self) -> dict[str, Any]:
        """What taking the step writes together with the lock.

        What the step may make the row depend on is known from here on: a newer
        traversal orders its deletions by it.
        """
        match self.step:
            case Start(attempt):
                return row_locks.begun(self.row, attempt)
            case Compare(requires=requires):
                return {"requires": row_locks.required(self.row, requires)}
            case _:
                return {}

    def taken(self, ask: Ask) -> Claimed:
        """Return the claim that this becomes with the lock."""
        claimant = ask.claimant
        row: ResourceRow = changed(
            self.row, engine_id=claimant.worker.engine_id, atomic_key=self.row.atomic_key + 1
        )
        claimant.take(row)
        return Claimed(changed(self.job, resource=row), self.step)


def _judge(ask: Ask, job: Job | Idle) -> Claim | _Taking:
    """Decide what becomes of a claim on what was read for it."""
    if isinstance(job, Idle):
        return job
    row = job.resource
    held_already = row is not None and ask.claimant.may_hold(row)
    if row is not None and row.engine_id is not None and job.lock_alive and not held_already:
        deleting = ask.node.direction is Direction.CLEANUP and row.action is Action.DELETE
        if deleting and deletion.given_up(job.stack, row) is None:
            return Idle("it is being deleted")  # there is nothing that its holder could do sooner
        return Busy(row.engine_id)
    if _is_torn(job):
        return Idle("its traversal ended while it was being claimed")
    step = ask.claimant.worker.decide(job)
    if row is None or held_already or isinstance(step, Skip):
        return Claimed(job, step)
    return _Taking(job, row, step)


def _is_torn(job: Job) -> bool:
    """Tell whether inputs are missing: the traversal failed between one statement and the next.

    Nothing may be made of a definition whose references mean nothing any more.
    """
    if job.direction is not Direction.UPDATE or job.stack.action in VISITS:  # which resolve nothing
        return False
    return not _requires(job) <= {data.name for data in job.inputs}


def _found(ask: Ask, found: Any, stacks: dict[str, Stack]) -> Job | Idle:
    """Return what was read of a node; ``stacks`` has those that were met already."""
    if found is None:
        return Idle("its traversal is gone")
    columns = SimpleNamespace(**dict(zip(_STACK_NAMES, found[_STACK], strict=True)))
    if columns.id not in stacks:
        stacks[columns.id] = rows.stack(columns)
    row = SimpleNamespace(**dict(zip(_RESOURCE_NAMES, found[_RESOURCE], strict=True)))
    resource = rows.resource(row) if row.id is not None else None
    return _job(ask, found[_STATE], stacks[columns.id], resource, lock_alive=bool(found[_ALIVE]))


def _job(
    ask: Ask, state: str, of_stack: Stack, row: ResourceRow | None, *, lock_alive: bool = False
) -> Job | Idle:
    """Return what was read of a node, without its inputs."""
    if of_stack.current_traversal != ask.traversal_id or of_stack.status is not Status.IN_PROGRESS:
        return Idle("its traversal is not the current one")
    if state != SyncState.READY:
        return Idle(f"it is {state}")
    return Job(
        stack=of_stack,
        traversal_id=ask.traversal_id,
        node=ask.node,
        resource=row,
        lock_alive=lock_alive,
    )


def _with_inputs(
    connection: Connection,
    asks: Sequence[Ask],
    jobs: Sequence[Job | Idle | None],
    passed_on: Mapping[sync_points.Key, Sequence[str]],
) -> list[Job | Idle | None]:
    """Return the jobs with what their nodes were told, which is read unless all of it was passed on."""
    inputs: dict[sync_points.Key, list[Any]] = defaultdict(list)
    others = set()
    for ask, job in zip(asks, jobs, strict=True):
        if isinstance(job, Job) and job.direction is Direction.UPDATE and _requires(job):
            known = [json.loads(text) for text in passed_on.get(ask.key, ())]
            if _requires(job) <= {data["name"] for data in known}:
                inputs[ask.key] = known
            else:
                others.add(ask.key)
    for some in sync_points.selections(others):
        for row in connection.execute(_READ_INPUTS, some):
            key = row.traversal_id, row.resource_id, bool(row.is_update)
            inputs[key].append(Opened(sync_point_input, row).data)
    return [
        changed(job, inputs=tuple(NodeData(**data) for data in inputs[ask.key]))
        if isinstance(job, Job)
        else job
        for ask, job in zip(asks, jobs, strict=True)
    ]


def _requires(job: Job) -> frozenset[str]:
    """Return the names of the resources that tell a node's resource something."""
    wanted = job.resource and job.resource.desired
    return wanted.requires if wanted else frozenset()
