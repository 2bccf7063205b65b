# SPDX-License-Identifier: Apache-2.0
"""Claiming the row that a node acts on."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy.engine import Connection

from heatconv import errors
from heatconv.db.convergence import node_reads, row_locks
from heatconv.db.convergence.claimants import Ask
from heatconv.db.convergence.propagation import Propagation
from heatconv.db.delivery.events import add_events
from heatconv.db.plumbing.group_commit import Grouped
from heatconv.db.plumbing.session import Database, Undo
from heatconv.db.plumbing.together import Together
from heatconv.metrics import endings
from heatconv.model import deletion
from heatconv.model.nodes import Direction
from heatconv.model.outcomes import Busy, Claim, Claimed, Idle
from heatconv.model.records import Job, ResourceRow, Stack, changed
from heatconv.model.states import VISITS, Action, SyncState
from heatconv.model.steps import Compare, Skip, Start, Step

LOG = logging.getLogger(__name__)


def claim(database: Database, asks: Sequence[Ask]) -> list[Claim | Exception]:
    """Lock the rows that nodes act on and decide the first step of each, in two to four statements.

    Return what came of each; what goes wrong for one goes wrong for no other.  The claimants are the same
    whenever this is tried again.  Claims in a tree of stacks that has many under way share transactions.

    Concurrency: the lock is taken WHERE id AND atomic_key = as read, which a
    newer traversal changes as well; a live holder's lock is respected, a dead
    one's is broken by the same statement.
    """
    came = _claim.each(database, asks)
    return [each if isinstance(each, Exception) else endings.claimed(each) for each in came]


def _claim_all(connection: Connection, asks: Sequence[Ask]) -> list[Claim | None]:
    jobs = node_reads.read(connection, asks)
    missed = Idle("the resource changed while it was being claimed") if len(asks) == 1 else None
    claims, taking = _judge_all(asks, node_reads.with_inputs(connection, asks, jobs))
    rows_read = [each.row for each in taking.values()]
    taken = row_locks.lock_all(connection, rows_read) if len(rows_read) > 1 else set(taking)
    writes = Together(connection)
    add_events(writes, _lock(writes, taking, taken))
    is_as_read = writes.send()
    taken = taken if is_as_read else set()
    answers = [_claimed(ask, claim, taking, taken, missed) for ask, claim in zip(asks, claims, strict=True)]
    if not is_as_read:
        raise Undo(answers)
    return answers


_claim: Grouped[Ask, Claim] = Grouped(_claim_all, lambda ask: ask.tree)


def claim_following(
    connection: Connection,
    asks: Sequence[tuple[Ask, Stack]],
    passed_on: Propagation,
    writes: Together,
) -> tuple[list[Claimed | None], list[dict[str, Any]]]:
    """Claim nodes that this very transaction makes READY, on behalf of whose stack it is that does.

    Returns the claims and the events of the actions that begin with them.  Of each node whose row
    is held, or that another transaction has locked, None is said, and nothing is written for it; so it
    is where a seal is broken.  Waits for nobody's locks.

    Args:
        passed_on: what came of this transaction's ends: a node that is given all that it waits for is not
            asked for again, nor are rows that are locked.
        writes: takes what locks the rows.

    Concurrency: as long as their sync points are locked, nobody can end the
    traversal or start another; so the stack is as it was when the job began
    whose end this is.
    """
    free = passed_on.free
    if free is None:
        free = row_locks.lock_free(connection, {ask.node.resource_id for ask, _ in asks})
    jobs: list[Job | Idle | None] = []
    for ask, of_stack in asks:
        row = free.get(ask.node.resource_id)
        is_free = row is not None and row.engine_id is None
        jobs.append(node_reads.job_of(ask, SyncState.READY, of_stack, row) if is_free else None)
    alone = [ask for ask, _ in asks]
    try:
        jobs = node_reads.with_inputs(connection, alone, jobs, passed_on.inputs)
    except errors.BrokenSeal as broken:
        LOG.error("%s", broken)  # noqa: TRY400 - which row it is says all
        return [None] * len(asks), []
    claims, taking = _judge_all(alone, jobs)
    begun = _lock(writes, taking, taking)
    claimed = (_claimed(ask, claim, taking, taking) for ask, claim in zip(alone, claims, strict=True))
    return [claim if isinstance(claim, Claimed) else None for claim in claimed], begun


@dataclass(frozen=True)
class _Taking:
    """A row that is free to be locked, and the step that then is taken."""

    job: Job
    row: ResourceRow
    step: Step
    engine_id: str  #: of the worker that takes it

    @property
    def take(self) -> row_locks.Take:
        begins = isinstance(self.step, Start)
        return row_locks.Take(row=self.row, columns=self._columns, engine_id=self.engine_id, touch=begins)

    @property
    def _columns(self) -> dict[str, Any]:
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


def _judge_all(
    asks: Sequence[Ask], jobs: Sequence[Job | Idle | None]
) -> tuple[list[Claim | _Taking | None], dict[str, _Taking]]:
    """Decide the step of each job; return what becomes of the claims, and what is taken for them, by row.

    Of two that ask for one row the first takes it.
    """
    claims = [_judge(ask, job) if job else None for ask, job in zip(asks, jobs, strict=True)]
    taking: dict[str, _Taking] = {}
    for claim in claims:
        if isinstance(claim, _Taking):
            taking.setdefault(claim.row.id, claim)
    return claims, taking


def _lock(writes: Together, taking: Mapping[str, _Taking], taken: Collection[str]) -> list[dict[str, Any]]:
    """Have those rows locked that are taken; return the events of the actions that begin with that."""
    locked = [each for each in taking.values() if each.row.id in taken]
    row_locks.take_all(writes, [each.take for each in locked])
    return [
        row_locks.begun_event(each.row, each.step.attempt) for each in locked if isinstance(each.step, Start)
    ]


def _claimed(
    ask: Ask,
    claim: Claim | _Taking | None,
    taking: Mapping[str, _Taking],
    taken: Collection[str],
    missed: Idle | None = None,
) -> Claim | None:
    """Return what became of a claim; ``missed`` is said of a row that another has taken meanwhile."""
    if not isinstance(claim, _Taking):
        return claim
    return claim.taken(ask) if taking[claim.row.id] is claim and claim.row.id in taken else missed


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
    return _Taking(job, row, step, ask.claimant.worker.engine_id)


def _is_torn(job: Job) -> bool:
    """Tell whether inputs are missing: the traversal failed between one statement and the next.

    Nothing may be made of a definition whose references mean nothing any more.
    """
    if job.direction is not Direction.UPDATE or job.stack.action in VISITS:  # which resolve nothing
        return False
    return not node_reads.requires(job) <= {data.name for data in job.inputs}
