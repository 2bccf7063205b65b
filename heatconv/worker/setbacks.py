# SPDX-License-Identifier: Apache-2.0
"""How an action that cannot go on now waits, and how one fails that cannot go on at all."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from heatconv.model.endings import Failed
from heatconv.model.failure import ResourceFailure
from heatconv.model.foreseen import Deed
from heatconv.model.records import Attempt, Job, changed
from heatconv.model.secrets import sentence
from heatconv.model.states import VISITS, Action, Status
from heatconv.resources.driver import PluginDriver
from heatconv.resources.stack_resource import NestedStackFailed
from heatconv.worker import faults
from heatconv.worker.endings import Ending, Lost, Waiting

PAUSE = 60.0  #: seconds until an action at a breakpoint looks, unless it is woken


def waiting_for(job: Job, attempt: Attempt, driver: PluginDriver | None, token: Any) -> Waiting:
    """Return an action that goes on at once; who returns it from a setback says when."""
    return Waiting(job=job, attempt=attempt, driver=driver, token=token, delay=0)


def again(job: Job, attempt: Attempt, error: Exception, waiting: Waiting | None) -> Ending:
    """Wait after a fault that may pass; not beyond the stack's deadline."""
    if is_overdue(job):
        return timed_out(job, attempt)
    unknown = attempt.action is Action.CREATE and waiting is None and not faults.is_refusal(error)
    faulty = changed(attempt, faults=attempt.faults + 1, begun=attempt.begun or unknown)
    delay = faults.pause(attempt.faults, error)
    if waiting is not None:
        return changed(waiting, attempt=faulty, delay=delay)
    return Waiting(job=job, attempt=faulty, driver=None, token=None, delay=delay)


def later(waiting: Waiting, seconds: float) -> Ending:
    """Wait for some seconds; not beyond the stack's deadline."""
    if is_overdue(waiting.job):
        return timed_out(waiting.job, waiting.attempt)
    return changed(waiting, delay=seconds)


def paused(job: Job, attempt: Attempt) -> Ending:
    """Wait to be woken when the breakpoint is cleared; not beyond the stack's deadline.

    Now and then, look whether we slept through that.
    """
    if is_overdue(job):
        return timed_out(job, attempt)
    return Waiting(job=job, attempt=attempt, driver=None, token=None, delay=PAUSE)


def is_overdue(job: Job) -> bool:
    """Tell whether the stack's deadline, which a claim has by this host's clock, is past."""
    return job.stack.deadline is not None and datetime.now(UTC).replace(tzinfo=None) > job.stack.deadline


def timed_out(job: Job, attempt: Attempt) -> Ending:
    """Fail an action that has not come to its end by the stack's deadline."""
    return Failed(job=job, action=attempt.action, reason="Timed out", definition=attempt.definition)


def failure_of(error: Exception, name: str) -> ResourceFailure:
    """Return why a resource failed; one that owns a failed stack tells which resource in it did."""
    if isinstance(error, NestedStackFailed):
        return error.failure.inside(name)
    return ResourceFailure(kind=type(error).__name__, path=f"resources.{name}", words=str(error))


def restricted(job: Job, attempt: Attempt, what: str) -> Ending:
    """Refuse an action that the environment restricts for the resource (``restricted_actions``)."""
    refused = f"{what} is restricted for resource."
    reason = f"ResourceActionRestricted: resources.{job.row.name}: {refused}"
    return not_begun(job, attempt, reason, refused)


def unforeseen(job: Job, attempt: Attempt, deed: Deed) -> Ending:
    """Refuse what the plan that is applied does not say of the resource."""
    refused = f"the plan that is applied did not foresee its {deed}; make a new plan, or allow it in one."
    return not_begun(job, attempt, f"NotForeseen: resources.{job.row.name}: {refused}", refused)


def not_begun(job: Job, attempt: Attempt, reason: str, refused: str) -> Ending:
    """Fail an action of which nothing was begun: the resource keeps its state, and is shown why."""
    return Failed(
        job=job, action=attempt.action, reason=reason, definition=attempt.definition, refused=refused
    )


def impossible(job: Job, reason: str) -> Ending:
    """Fail what was to be done next to a resource, which cannot even be tried."""
    said = sentence(reason, job.secrets)
    return Failed(job=job, action=_next_action(job), reason=said, definition=None)


def lost(job: Job, attempt: Attempt, driver: PluginDriver | None) -> Ending:
    """Leave an action to whoever broke the lock; what a create made too late would be nobody's."""
    return Lost(job=job, orphan=driver if attempt.action is Action.CREATE else None)


def _next_action(job: Job) -> Action:
    row = job.row
    if job.stack.action in VISITS:
        return job.stack.action
    made = row.action is not Action.INIT and not (
        row.action is Action.CREATE and row.status is not Status.COMPLETE
    )
    return Action.UPDATE if made else Action.CREATE
