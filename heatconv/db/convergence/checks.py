# SPDX-License-Identifier: Apache-2.0
"""The transaction that ends a check: record what became of a row that was claimed.

Every write of a worker is fenced, WHERE engine_id = the worker AND atomic_key =
its claim's: a worker whose lock was broken changes nothing.
"""

from __future__ import annotations

import itertools
from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, assert_never

from sqlalchemy.engine import Connection

from heatconv.db.convergence import (
    ahead,
    claims,
    propagation,
    recording,
    row_locks,
    sync_points,
    traversal_ends,
)
from heatconv.db.convergence.actions import event_of
from heatconv.db.convergence.claimants import Ask, Claimant
from heatconv.db.convergence.recording import End
from heatconv.db.delivery.events import add_events
from heatconv.db.plumbing.group_commit import Grouped
from heatconv.db.plumbing.session import Database, Undo, writing
from heatconv.db.plumbing.together import Together
from heatconv.metrics import endings
from heatconv.model.endings import Ended, Failed, Gone, Made, Passed, Visited
from heatconv.model.failure import stack_reason
from heatconv.model.outcomes import Claimed, Failure, Fenced, Finish, Propagated, Superseded
from heatconv.model.records import Stack
from heatconv.model.states import Action, Status

AT_ONCE = 32  #: nodes that become ready by one transaction and are taken up by its worker; the rest is shared


def end(
    database: Database, ended: Ended, then: Claimant | None = None, after: Sequence[Made] = ()
) -> Finish | Failure:
    """Record how a check ended, unlock its row or drop it, and tell the node's successors.

    A failure ends the stack's traversal; that a check of the real thing failed does not.
    ``Superseded`` makes the caller ring for what the row is wanted to be by now.

    Args:
        then: who claims nodes that become ready, in the same transaction.
        after: what was made at once of the rows after it, in their order, while nobody held them:
            it is recorded along with that if they are as they were read, and else not at all.

    Concurrency: fenced on the row; WHERE READY on the node's own sync point.
    """
    stretch = _end_stretch(database, ended, after, then) if after and isinstance(ended, Made) else None
    if stretch is None:
        return endings.ended(ended, _recorded(database, ended, then))
    for each in (ended, *after[:-1]):
        endings.ended(each, Propagated())
    return endings.ended(after[-1], stretch)


def _recorded(database: Database, ended: Ended, then: Claimant | None) -> Finish | Failure:
    match ended:
        case Made():
            return _end(database, recording.made(ended, then))
        case Visited(job=job, action=action, reason=reason):
            return _end(database, recording.visited(job, action, Status.COMPLETE, reason, then))
        case Failed(job=job, action=Action.CHECK, reason=reason):
            # It is not well; that is what the check was to find out.
            return _end(database, recording.visited(job, Action.CHECK, Status.FAILED, reason, then))
        case Gone(job=job, action=action):
            happened = (
                () if action is None else (event_of(job.row, action, Status.COMPLETE, "state changed"),)
            )
            dropped = row_locks.Write(row=job.row, drop=True)
            return _end(database, End(job=job, write=dropped, happened=happened, then=then))
        case Passed(job=job):
            return _end(database, End(job=job, then=then))
        case Failed():
            return _fail(database, ended)
    assert_never(ended)


@writing
def _end_stretch(
    connection: Connection, made: Made, after: Sequence[Made], then: Claimant | None
) -> Propagated | None:
    """End a check, and with it what was made of rows that nobody held; None: not all of them are as read.

    Those rows are locked as the ones that are claimed are: after the sync points, waiting for nobody.
    """
    first, *others = ends = [recording.made(made, None), *map(recording.made_at_once, after)]
    writes = Together(connection)
    _write_rows(connection, [first], writes)
    found = ahead.look(writes, {end.sender.key for end in ends})
    is_as_read = writes.send() and len(found.senders) == len(ends)
    unheld = [end.job.row for end in others]
    if not is_as_read or len(row_locks.lock_all(connection, unheld)) < len(unheld):
        raise Undo(None)
    row_locks.write_unheld(writes, [end.write for end in others if end.write])
    passed_on = propagation.propagate([end.sender for end in ends], found, writes)
    (gone_on,) = _go_on(connection, [replace(ends[-1], then=then)], passed_on, _happened(ends), writes)
    propagation.send(writes, last=True)
    return gone_on


def _end_all(connection: Connection, ends: Sequence[End]) -> list[Finish | None]:
    """End some checks; of several, those are left out whose rows another transaction has locked.

    What only they have locked is written before what is ahead of them is locked: others may wait for that.
    """
    missed = Fenced() if len(ends) == 1 else None
    writes = Together(connection)
    recorded = _write_rows(connection, ends, writes)
    happened = _happened(recorded)
    finished: dict[int, Finish] = {id(end): Superseded() for end in recorded}

    propagating = [end for end in recorded if end.applies_current_definition]
    found = ahead.look(writes, {end.sender.key for end in propagating}, rows_too=_capacity(propagating))
    if not writes.send():  # where nothing was to be looked at, only now
        return [missed] * len(ends)
    ready = found.senders
    # Of two that have passed by the same node, the first propagates.
    first = {end.sender.key: end for end in reversed(propagating)}
    current = [end for end in propagating if end.sender.key in ready and first[end.sender.key] is end]
    passed_on = propagation.propagate([end.sender for end in current], found, writes)
    gone_on = _go_on(connection, current, passed_on, happened, writes)
    propagation.send(writes, last=True)
    finished |= zip(map(id, current), gone_on, strict=True)
    return [finished.get(id(end), missed) for end in ends]


_end: Grouped[End, Finish] = Grouped(_end_all, lambda end: end.job.stack.root_id)


def _write_rows(connection: Connection, ends: Sequence[End], writes: Together) -> Sequence[End]:
    """Write what ends mean to their rows; return those of which none is somebody else's by now.

    Of one row alone, sending the writes says that.
    """
    wanted = [end.write for end in ends if end.write]
    if len(wanted) == 1:
        row_locks.write_one(writes, wanted[0])
        return ends
    held = row_locks.write_all(connection, wanted, writes)
    return [end for end in ends if end.write is None or end.write.row.id in held]


def _happened(ends: Sequence[End]) -> Sequence[Mapping[str, Any]]:
    return [event for end in ends for event in end.happened]


def _capacity(ends: Sequence[End]) -> int:
    """Return how many nodes that become ready can be taken up with some ends."""
    return min(AT_ONCE, sum(end.then.spare_capacity for end in ends if end.then))


def _go_on(
    connection: Connection,
    ends: Sequence[End],
    passed_on: propagation.Propagation,
    happened: Sequence[Mapping[str, Any]],
    writes: Together,
) -> list[Propagated]:
    """Claim nodes that have become ready for the workers of the ends, as far as they go on with any.

    Each end takes one, then those with spare capacity take up to ``AT_ONCE`` in all; the first
    end of each traversal rings for what is left.  ``happened`` has the events of the ends,
    which are recorded here.
    """
    left = {traversal_id: deque(nodes) for traversal_id, nodes in passed_on.ready.items()}
    takers = [end for end in ends if end.then]
    spare = max(0, AT_ONCE - len(takers))
    more = itertools.chain.from_iterable(
        [end] * min(end.then.spare_capacity - 1, len(left.get(end.job.traversal_id, ())))
        for end in takers
        if end.then
    )
    asks: list[tuple[Ask, Stack]] = []
    for end in (*takers, *itertools.islice(more, spare)):
        of_stack, nodes = end.job.stack, left.get(end.job.traversal_id)
        if end.then and nodes and nodes[0].resource_id != of_stack.id:  # that one has no row to claim
            ask = Ask(end.job.traversal_id, nodes.popleft(), end.then, of_stack.root_id)
            asks.append((ask, of_stack))
    following: dict[Claimant, list[Claimed]] = defaultdict(list)
    if asks:
        claimed, begun = claims.claim_following(connection, asks, passed_on, writes)
        happened = [*happened, *begun]
        for (ask, _), claim in zip(asks, claimed, strict=True):
            if claim is not None:
                following[ask.claimant].append(claim)
            else:  # who is rung for sees what is the matter
                left[ask.traversal_id].append(ask.node)
    add_events(writes, happened)
    return [
        Propagated(
            tuple(left.pop(end.job.traversal_id, ())),
            tuple(following[end.then]) if end.then else (),
        )
        for end in ends
    ]


@writing
def _fail(connection: Connection, failed: Failed) -> Failure:
    """Record that a resource failed, and end its stack's traversal with it.

    Concurrency: the stack is locked first, WHERE the traversal is current; then
    the fence on the row decides whether anything is written at all.
    """
    job, row, action = failed.job, failed.job.row, failed.action
    ended = None
    if not failed.overtaken:
        ended = traversal_ends.try_fail(
            connection, job.stack.id, job.traversal_id, stack_reason(action, failed.reason)
        )
    changes: dict[str, Any] = {"progress": None}
    made_of = failed.definition
    if failed.refused is None:
        changes |= {"action": action, "status": Status.FAILED, "status_reason": failed.reason}
    elif row.progress is not None and row.status is Status.IN_PROGRESS:
        # What was under way was given up for what is refused: how far that came nobody knows.
        changes |= {"status": Status.FAILED, "status_reason": failed.reason}
        made_of = row.progress.definition
    if made_of is not None and row.applied is None:
        changes["applied"] = made_of.to_json()
    if not row_locks.try_write(connection, row, changes, let_go=True, touch=True):
        raise Undo(Fenced())
    add_events(connection, [event_of(row, action, Status.FAILED, failed.refused or failed.reason)])
    if ended is None:
        return Superseded()
    sync_points.forget(connection, job.stack.id)
    return ended
