# SPDX-License-Identifier: Apache-2.0
"""Claiming the row that a node acts on."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, ClassVar, NamedTuple
from weakref import WeakValueDictionary

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from heatconv.db import rows
from heatconv.db.convergence import row_locks, sync_points
from heatconv.db.convergence.services import alive
from heatconv.db.delivery.events import add_events
from heatconv.db.plumbing.group_commit import grouped
from heatconv.db.plumbing.places import Opened
from heatconv.db.plumbing.session import Database
from heatconv.db.tables import resource, service, stack, sync_point, sync_point_input
from heatconv.model import deletion
from heatconv.model.nodes import Direction, Node, NodeData
from heatconv.model.outcomes import Busy, Claim, Claimed, Idle
from heatconv.model.records import Job, ResourceRow, Stack, changed
from heatconv.model.states import VISITS, Action, Status, SyncState
from heatconv.model.steps import Compare, Skip, Start, Step

Decide = Callable[[Job], Step]

# Built once: building a statement costs more than sending it.

_JOB = sa.select(
    sync_point.c.state,
    alive(sa.bindparam("dead_after", type_=sa.Float)),
    *stack.c,
    *resource.c,
).select_from(
    sync_point.join(stack, stack.c.id == sync_point.c.stack_id)
    .outerjoin(resource, resource.c.id == sync_point.c.acts_on)
    .outerjoin(service, service.c.engine_id == resource.c.engine_id)
)
_STACK = slice(2, 2 + len(stack.c))
_RESOURCE = slice(2 + len(stack.c), 2 + len(stack.c) + len(resource.c))
_STACK_NAMES = [column.name for column in stack.c]
_RESOURCE_NAMES = [column.name for column in resource.c]

_READ = _JOB.where(
    sync_point.c.traversal_id == sa.bindparam("traversal"),
    sync_point.c.resource_id == sa.bindparam("node"),
    sync_point.c.is_update == sa.bindparam("update"),
)
_READ_INPUTS = sa.select(sync_point_input).where(
    sync_point_input.c.traversal_id == sa.bindparam("traversal"),
    sync_point_input.c.resource_id == sa.bindparam("node"),
    sync_point_input.c.is_update == sa.true(),
)

_READ_SOME = (
    sa.select(
        *(column.label(f"key_{column.name}") for column in sync_points.KEY),
        sync_point.c.state,
        sync_point.c.acts_on,
        *stack.c,
    )
    .select_from(sync_point.join(stack, stack.c.id == sync_point.c.stack_id))
    .where(sync_points.some(sync_point))
)
_READ_INPUTS_OF_SOME = sa.select(sync_point_input).where(sync_points.some(sync_point_input))


class Claimant:
    """Who claims one node, in as many tries as it takes.

    The answer to a commit can be lost: whoever tries again finds the lock that
    it took itself; whoever gives up has to give back what it may hold.

    Concurrency: two claims of one worker can try for the same row, and a lock
    that was rolled back looks like the next one taken.  That one counts: it was
    taken of a row that was free.
    """

    #: Who took a lock last, as long as it is about.
    _last: ClassVar[WeakValueDictionary[tuple[str, str | None, int], Claimant]] = WeakValueDictionary()

    def __init__(self, engine_id: str, *, dead_after: float, decide: Decide, spare_capacity: int = 1) -> None:
        """Keep what is handed in.

        Args:
            engine_id: the worker's.
            dead_after: seconds without a heartbeat after which a lock's holder is dead.
            decide: what step is taken; a pure function that runs inside the transaction.
            spare_capacity: how many nodes may be claimed that become ready by the same end.
        """
        self.engine_id = engine_id
        self.dead_after = dead_after
        self.decide = decide
        self.spare_capacity = spare_capacity
        self._taken: list[ResourceRow] = []

    def take(self, row: ResourceRow) -> None:
        """Remember a lock, which counts if its transaction does."""
        self._taken.append(row)
        self._last[_lock(row)] = self

    def may_hold(self, row: ResourceRow) -> bool:
        """Tell whether a row that is locked is locked by this claim."""
        return self._last.get(_lock(row)) is self

    @property
    def taken(self) -> list[ResourceRow]:
        """The rows that it may hold."""
        return [row for row in self._taken if self.may_hold(row)]


def _lock(row: ResourceRow) -> tuple[str, str | None, int]:
    return row.id, row.engine_id, row.atomic_key


class Ask(NamedTuple):
    """Who claims which node."""

    traversal_id: str
    node: Node
    claimant: Claimant
    tree: str  #: the stack at the root of those that the node's is in, as far as is known

    @property
    def key(self) -> sync_points.Key:
        """The node's sync point."""
        return self.traversal_id, self.node.resource_id, sync_points.is_update(self.node)


def claim(database: Database, ask: Ask) -> Claim:
    """Lock the row that a node acts on and decide the first step, in two to four statements.

    The claimant is the same whenever this is tried again.  Claims in a tree of
    stacks that has many under way share transactions.

    Concurrency: the lock is taken WHERE id AND atomic_key = as read, which a
    newer traversal changes as well; a live holder's lock is respected, a dead
    one's is broken by the same statement.
    """
    return _claim(database, ask)


def _claim_alone(connection: Connection, ask: Ask) -> Claim:
    found = connection.execute(
        _READ,
        {
            "traversal": ask.traversal_id,
            "node": ask.node.resource_id,
            "update": sync_points.is_update(ask.node),
            "dead_after": ask.claimant.dead_after,
        },
    ).one_or_none()
    job = _found(ask, found)
    if isinstance(job, Job) and _has_inputs(job):
        key = {"traversal": ask.traversal_id, "node": ask.node.resource_id}
        job = _with_inputs(job, [_input_of(row) for row in connection.execute(_READ_INPUTS, key)])
    claimed = _judge(ask, job)
    if not isinstance(claimed, _Taking):
        return claimed
    row = claimed.row
    if not row_locks.try_lock(connection, row, ask.claimant.engine_id, claimed.columns, touch=claimed.begins):
        return Idle("the resource changed while it was being claimed")
    if isinstance(claimed.step, Start):
        add_events(connection, [row_locks.begun_event(row, claimed.step.attempt)])
    return claimed.taken(ask)


def _claim_together(connection: Connection, asks: Sequence[Ask]) -> list[Claim | None]:
    """Claim the nodes whose rows nobody holds, and no other transaction has locked."""
    free = row_locks.lock_free(connection, {ask.node.resource_id for ask in asks})
    found: dict[sync_points.Key, Any] = {}
    for some in sync_points.selections({ask.key for ask in asks}):
        found.update({tuple(row[:3]): row for row in connection.execute(_READ_SOME, some)})
    stacks: dict[str, Stack] = {}
    jobs = []
    for ask in asks:
        point = found.get(ask.key)
        if point is not None and point.id not in stacks:
            stacks[point.id] = rows.stack(point)
        row = free.get(ask.node.resource_id) if point and point.acts_on == ask.node.resource_id else None
        jobs.append(_job(ask, point and point.state, point and stacks[point.id], row))
    return _take(connection, asks, jobs, {}, ())


def claim_following(
    connection: Connection,
    asks: Sequence[tuple[Ask, Stack]],
    passed_on: Mapping[sync_points.Key, Sequence[str]],
    happened: Sequence[Mapping[str, Any]],
) -> list[Claimed | None]:
    """Claim nodes that this very transaction has made READY, on behalf of whose stack it was that did.

    Of each node whose row is held, or that another transaction has locked, None
    is said, and nothing is written for it.  Waits for nobody's locks.
    ``told`` has what this transaction has told nodes, as JSON: who was told all
    that it waits for is not asked for again.  ``happened`` has events to be
    recorded along with those that actions begin.

    Concurrency: as long as their sync points are locked, nobody can end the
    traversal or start another; so the stack is as it was when the job began
    whose end this is.
    """
    free = row_locks.lock_free(connection, {ask.node.resource_id for ask, _ in asks})
    jobs = [_job(ask, SyncState.READY, of_stack, free.get(ask.node.resource_id)) for ask, of_stack in asks]
    claims = _take(connection, [ask for ask, _ in asks], jobs, passed_on, happened)
    return [claim if isinstance(claim, Claimed) else None for claim in claims]


def _take(
    connection: Connection,
    asks: Sequence[Ask],
    jobs: Sequence[Job | Idle],
    passed_on: Mapping[sync_points.Key, Sequence[str]],
    happened: Sequence[Mapping[str, Any]],
) -> list[Claim | None]:
    """Take the rows of jobs, which ``lock_free`` has locked; None of those that it has not, or are held."""
    inputs: dict[sync_points.Key, list[Any]] = defaultdict(list)
    others = set()
    for ask, job in zip(asks, jobs, strict=True):
        if isinstance(job, Job) and _has_inputs(job):
            known = [json.loads(text) for text in passed_on.get(ask.key, ())]
            if _requires(job) <= {data["name"] for data in known}:
                inputs[ask.key] = known
            else:
                others.add(ask.key)
    for some in sync_points.selections(others):
        for row in connection.execute(_READ_INPUTS_OF_SOME, some):
            inputs[row.traversal_id, row.resource_id, True].append(_input_of(row))
    claims: list[Claim | None] = []
    taking: dict[str, _Taking] = {}
    for ask, job in zip(asks, jobs, strict=True):
        if isinstance(job, Idle):
            claims.append(job)
            continue
        if job.resource is None or job.resource.engine_id is not None or job.resource.id in taking:
            claims.append(None)
            continue
        claimed = _judge(ask, _with_inputs(job, inputs[ask.key]))
        if isinstance(claimed, _Taking):
            taking[claimed.row.id] = claimed
            claims.append(claimed.taken(ask))
        else:
            claims.append(claimed)
    taken = [(each.row, each.columns, each.begins) for each in taking.values()]
    row_locks.take_all(connection, taken, asks[0].claimant.engine_id)
    begun = [
        row_locks.begun_event(each.row, each.step.attempt)
        for each in taking.values()
        if isinstance(each.step, Start)
    ]
    add_events(connection, [*happened, *begun])
    return claims


_claim = grouped(_claim_alone, _claim_together, lambda ask: ask.tree)


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
        row: ResourceRow = changed(self.row, engine_id=claimant.engine_id, atomic_key=self.row.atomic_key + 1)
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
    step = ask.claimant.decide(job)
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


def _job(
    ask: Ask, state: str | None, of_stack: Stack | None, row: ResourceRow | None, *, lock_alive: bool = False
) -> Job | Idle:
    """Return what was read of a node, without its inputs."""
    if of_stack is None:
        return Idle("its traversal is gone")
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


def _found(ask: Ask, found: Any) -> Job | Idle:
    """Return what ``_READ`` has found of a node."""
    if found is None:
        return Idle("its traversal is gone")
    state, lock_alive = found[:2]
    of_stack = SimpleNamespace(**dict(zip(_STACK_NAMES, found[_STACK], strict=True)))
    columns: list[Any] = list(found[_RESOURCE])
    row = SimpleNamespace(**dict(zip(_RESOURCE_NAMES, columns, strict=True)))
    resource = rows.resource(row) if row.id is not None else None
    return _job(ask, state, rows.stack(of_stack), resource, lock_alive=bool(lock_alive))


def _has_inputs(job: Job) -> bool:
    """Tell whether a node was told anything: who requires nothing was not."""
    return job.direction is Direction.UPDATE and bool(_requires(job))


def _requires(job: Job) -> frozenset[str]:
    """Return the names of the resources that tell a node's resource something."""
    wanted = job.resource and job.resource.desired
    return wanted.requires if wanted else frozenset()


def _input_of(row: Any) -> Any:
    """Return what a row of ``sync_point_input`` tells."""
    return Opened(sync_point_input, row).data


def _with_inputs(job: Job, inputs: Iterable[Any]) -> Job:
    complete: Job = changed(job, inputs=tuple(NodeData(**data) for data in inputs))
    return complete
