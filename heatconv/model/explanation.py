# SPDX-License-Identifier: Apache-2.0
"""Why a stack is not done: what each of its nodes that could be done by now waits for.

Pure: what was read is the input, and what people are shown comes of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from heatconv.model.nodes import Direction, Node
from heatconv.model.records import ResourceRow
from heatconv.model.states import Action, Status

TRYING_AGAIN = "; trying again"  #: how the reason of a row ends whose action is tried again


class Cause(StrEnum):
    """What a node waits for; those that somebody can do something about come first."""

    NO_WORKER = "NO_WORKER"  #: no worker runs
    DEAD_WORKER = "DEAD_WORKER"  #: the worker that holds its row is dead
    BREAKPOINT = "BREAKPOINT"  #: somebody wants to be asked before it goes on
    RETRY = "RETRY"  #: its service refused, which may pass
    SIGNALS = "SIGNALS"  #: somebody outside has to say something
    OLDER_TEMPLATE = "OLDER_TEMPLATE"  #: an action that an older template wants has to end first
    QUEUE = "QUEUE"  #: workers do other work first
    BEGINNING = "BEGINNING"  #: a worker has taken it up, and has no answer of its service yet
    SERVICE = "SERVICE"  #: its service is at work
    ENDING = "ENDING"  #: nothing: its end is about to be noticed


@dataclass(frozen=True, kw_only=True)
class Holder:
    """The daemon that holds a row."""

    engine_id: str
    host: str | None = None  #: None: it is not signed on any more
    heard_at: datetime | None = None  #: its last heartbeat
    alive: bool = False


@dataclass(frozen=True, kw_only=True)
class ReadyNode:
    """A node whose requirements are done, and the row that it acts on."""

    stack_id: str
    node: Node
    ready_at: datetime  #: when it became READY, or was last rung for again
    row: ResourceRow | None = None  #: None for a stack's own node
    holder: Holder | None = None  #: None: nobody holds the row

    @property
    def since(self) -> datetime:
        """When what it waits for began."""
        row = self.row
        held_since = row and self.holder and (row.updated_at or row.created_at)
        return held_since or self.ready_at

    @property
    def action(self) -> Action:
        """What is done about its row, or is to be done next."""
        if self.row is not None and self.row.progress is not None:
            return self.row.progress.action
        if self.node.direction is Direction.CLEANUP:
            return Action.DELETE
        return Action.UPDATE if self.row and self.row.applied_sha1 is not None else Action.CREATE


@dataclass(frozen=True, kw_only=True)
class Workers:
    """The workers that are alive."""

    number: int
    backlog: int  #: messages that they have taken and not begun


class Words(NamedTuple):
    """A wait in words."""

    sentence: str
    following: str  #: what happens next
    advice: str | None = None  #: what the user, or an operator, can do


@dataclass(frozen=True, kw_only=True)
class Wait:
    """What a node waits for, for programs and in words."""

    names: tuple[str, ...]  #: from the outermost stack in; none for that stack's own node
    found: ReadyNode
    cause: Cause
    words: Words


def cause_of(found: ReadyNode, workers: Workers, awaited: str | None, nested: str | None) -> Cause:
    """Return what a node waits for.

    Args:
        found: the node.
        workers: those that could take it.
        awaited: what its type says that the action waits for, if that is not a service.
        nested: the state of its nested stack, which has come to its end.
    """
    row, holder = found.row, found.holder
    if holder is None or row is None:
        untaken = Cause.ENDING if row is None else Cause.QUEUE
        return untaken if workers.number else Cause.NO_WORKER
    if not holder.alive:
        return Cause.DEAD_WORKER
    return _cause_of_held(found, row, awaited, nested)


def _cause_of_held(found: ReadyNode, row: ResourceRow, awaited: str | None, nested: str | None) -> Cause:
    if row.hook is not None:
        return Cause.BREAKPOINT
    if _is_of_older_template(found, row):
        return Cause.OLDER_TEMPLATE
    if row.status is Status.IN_PROGRESS and row.reason.endswith(TRYING_AGAIN):
        return Cause.RETRY
    if nested is not None:
        return Cause.ENDING
    if awaited is not None:
        return Cause.SIGNALS
    return Cause.SERVICE if row.progress is not None and row.progress.started else Cause.BEGINNING


def _is_of_older_template(found: ReadyNode, row: ResourceRow) -> bool:
    attempt = row.progress
    if attempt is None or attempt.action is Action.DELETE or row.status is not Status.IN_PROGRESS:
        return False
    if found.node.direction is Direction.CLEANUP:
        return True
    return row.desired_sha1 not in (None, attempt.sha1)


def words_of(
    cause: Cause,
    found: ReadyNode,
    *,
    now: datetime,
    workers: Workers,
    awaited: str | None = None,
    nested: str | None = None,
) -> Words:
    """Say what a node waits for, what happens next, and what somebody can do.

    Args:
        cause: what it waits for.
        found: the node.
        now: the time by the database's clock.
        workers: those that could take it.
        awaited: what its type says that the action waits for.
        nested: the state of its nested stack.
    """
    action, waited = found.action.lower(), _ago(now, found.since)
    match cause:
        case Cause.NO_WORKER:
            what = "the end of the stack" if found.row is None else f"the {action}"
            return Words(
                f"No worker runs that could take up {what}.",
                "The first worker that runs takes it up.",
                "An operator has to start heatconv-worker.",
            )
        case Cause.DEAD_WORKER:
            heard = found.holder and found.holder.heard_at
            silent = f"was last heard of {_ago(now, heard)} ago" if heard else "is not signed on any more"
            return Words(
                f"The worker that has begun the {action} {silent}.",
                "An engine takes the resource from it within seconds, and another worker goes on.",
                None if workers.number else "No worker runs: an operator has to start heatconv-worker.",
            )
        case Cause.SIGNALS:
            return Words(
                f"The {action} waits for {awaited}, for {waited} now.",
                "It goes on as soon as that has come.",
                "Look at whoever has to send it.",
            )
        case Cause.QUEUE:
            before = f", which have {workers.backlog} other messages to begin" if workers.backlog else ""
            return Words(
                f"The {action} waits for a free thread of the workers ({workers.number}){before}.",
                "A worker takes it up in its turn; an engine rings again if the message was lost.",
                "An operator can run more workers.",
            )
        case Cause.ENDING:
            done = "all resources are done" if nested is None else f"its nested stack is {nested}"
            return Words(f"Nothing is left to wait for: {done}.", "A worker is about to take note of that.")
    return _words_of_row(cause, found.row, action, waited)


def _words_of_row(cause: Cause, row: ResourceRow | None, action: str, waited: str) -> Words:
    """Say what the action on a row waits for that a worker holds."""
    match cause:
        case Cause.BREAKPOINT:
            return Words(
                f"The {action} waits at the breakpoint {row and row.hook}, for {waited} now.",
                "It goes on as soon as the breakpoint is cleared.",
                "Clear it with heatconv stack hook clear.",
            )
        case Cause.RETRY:
            said = row.reason.removesuffix(TRYING_AGAIN).rstrip(". ") if row else ""
            return Words(
                f"The {action} did not go on: {said}.",
                "It is tried again after a pause of some seconds, or as long as the service asks for.",
                "If what is in the way does not pass by itself, remove it, or change the template.",
            )
        case Cause.OLDER_TEMPLATE:
            return Words(
                f"The {action} that an older template wants has begun {waited} ago, and ends first.",
                "What the newest template wants comes after it.",
            )
        case Cause.BEGINNING:
            return Words(
                f"A worker has taken up the {action} {waited} ago, and has no answer of its service yet.",
                "As soon as the worker has a thread for it, and the service answers, it goes on.",
            )
    known = f" of {row.physical_id}" if row and row.physical_id else ""
    return Words(
        f"The {action}{known} has begun {waited} ago, and its service is not done.",
        "The worker asks the service again and again until it is done.",
    )


def _ago(now: datetime, then: datetime) -> str:
    seconds = max(0, round((now - then).total_seconds()))
    if seconds < 120:
        return f"{seconds} s"
    return f"{seconds // 60} min" if seconds < 7200 else f"{seconds // 3600} h"
