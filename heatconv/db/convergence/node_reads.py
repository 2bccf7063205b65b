# SPDX-License-Identifier: Apache-2.0
"""What is read of a node before its row is claimed: its stack, the row, and what the node was told."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from heatconv.db import rows
from heatconv.db.convergence import sync_points
from heatconv.db.convergence.claimants import Ask
from heatconv.db.convergence.services import alive
from heatconv.db.plumbing.places import Opened
from heatconv.db.plumbing.prepared import ALONE, Prepared
from heatconv.db.tables import resource, service, stack, sync_point, sync_point_input
from heatconv.model.nodes import Direction, NodeData
from heatconv.model.outcomes import Idle
from heatconv.model.records import Job, ResourceRow, Stack, changed
from heatconv.model.states import Status, SyncState

_NOTHING: Mapping[sync_points.Key, Sequence[str]] = {}

# Built once: building a statement costs more than sending it.

_READ = Prepared(
    sa.select(
        *(column.label(f"key_{column.name}") for column in sync_points.KEY),
        sync_point.c.state,
        *sync_points.READY_SINCE,
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
_STATE, _SINCE, _NOW, _ALIVE = range(_KEY.stop, _KEY.stop + 4)
_STACK = slice(_ALIVE + 1, _ALIVE + 1 + len(stack.c))
_RESOURCE = slice(_STACK.stop, _STACK.stop + len(resource.c))
_STACK_NAMES = [column.name for column in stack.c]
_RESOURCE_NAMES = [column.name for column in resource.c]

_READ_INPUTS = Prepared(sa.select(sync_point_input).where(sync_points.some(sync_point_input)))


def read(connection: Connection, asks: Sequence[Ask]) -> list[Job | Idle]:
    """Return what there is to do for some nodes, in one statement, without their inputs."""
    found: dict[sync_points.Key, Any] = {}
    for some in sync_points.selections({ask.key for ask in asks}):
        parameters = {**some, "dead_after": asks[0].claimant.worker.dead_after}
        for row in connection.execute(_READ, parameters, execution_options=ALONE):
            traversal_id, resource_id, is_update = row[_KEY]
            found[traversal_id, resource_id, bool(is_update)] = row
    stacks: dict[str, Stack] = {}
    return [_found(ask, found.get(ask.key), stacks) for ask in asks]


def _found(ask: Ask, found: Any, stacks: dict[str, Stack]) -> Job | Idle:
    """Return what was read of a node; ``stacks`` has those that were met already."""
    if found is None:
        return Idle("its traversal is gone")
    columns = SimpleNamespace(**dict(zip(_STACK_NAMES, found[_STACK], strict=True)))
    if columns.id not in stacks:
        stacks[columns.id] = rows.stack(columns, now=found[_NOW])
    row = SimpleNamespace(**dict(zip(_RESOURCE_NAMES, found[_RESOURCE], strict=True)))
    resource = rows.resource(row) if row.id is not None else None
    lives, waited = bool(found[_ALIVE]), sync_points.seconds(found[_SINCE], found[_NOW])
    return job_of(ask, found[_STATE], stacks[columns.id], resource, lock_alive=lives, waited=waited)


def job_of(ask: Ask, state: str, of_stack: Stack, row: ResourceRow | None, **read: Any) -> Job | Idle:
    """Return what there is to do for a node, without its inputs; ``read``: what the job has besides."""
    if of_stack.current_traversal != ask.traversal_id or of_stack.status is not Status.IN_PROGRESS:
        return Idle("its traversal is not the current one")
    if state != SyncState.READY:
        return Idle(f"it is {state}")
    traversal_id, node = ask.traversal_id, ask.node
    return Job(stack=of_stack, traversal_id=traversal_id, node=node, resource=row, **read)


def with_inputs(
    connection: Connection,
    asks: Sequence[Ask],
    jobs: Sequence[Job | Idle | None],
    passed_on: Mapping[sync_points.Key, Sequence[str]] = _NOTHING,
) -> list[Job | Idle | None]:
    """Return the jobs with their nodes' inputs, which are read unless all of them are passed on just now."""
    inputs: dict[sync_points.Key, dict[str, Any]] = defaultdict(dict)  # by the name of who gives each
    others = set()
    for ask, job in zip(asks, jobs, strict=True):
        if isinstance(job, Job) and job.direction is Direction.UPDATE and requires(job):
            given = [json.loads(text) for text in passed_on.get(ask.key, ())]
            inputs[ask.key] = {data["name"]: data for data in given}
            if not requires(job) <= inputs[ask.key].keys():
                others.add(ask.key)
    for some in sync_points.selections(others):
        for row in connection.execute(_READ_INPUTS, some, execution_options=ALONE):
            key = row.traversal_id, row.resource_id, bool(row.is_update)
            data = Opened(sync_point_input, row).data
            inputs[key][data["name"]] = data
    return [
        changed(job, inputs=tuple(NodeData(**data) for data in inputs[ask.key].values()))
        if isinstance(job, Job)
        else job
        for ask, job in zip(asks, jobs, strict=True)
    ]


def requires(job: Job) -> frozenset[str]:
    """Return the names of the resources that tell a node's resource something."""
    wanted = job.resource and job.resource.desired
    return wanted.requires if wanted else frozenset()
