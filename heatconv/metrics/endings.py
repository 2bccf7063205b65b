# SPDX-License-Identifier: Apache-2.0
"""What the end of a claim, of an error and of a check count for."""

from __future__ import annotations

import time
from typing import TypeVar

from heatconv.metrics import types
from heatconv.metrics.declared import (
    ACTION_ERRORS,
    ACTION_SECONDS,
    ACTIONS,
    CHECKS,
    CLAIM_SECONDS,
    CLAIMS,
)
from heatconv.metrics.instruments import is_on
from heatconv.model.endings import Ended, Failed, Passed
from heatconv.model.outcomes import Busy, Claim, Claimed, Failure, Fenced, Finish, Propagated, StackFailed
from heatconv.model.records import Attempt, Job

E = TypeVar("E", Finish, Failure, Finish | Failure)


def claimed(claim: Claim) -> Claim:
    """Count a claim, and return it."""
    if not is_on():
        return claim
    match claim:
        case Claimed(job):
            CLAIMS.add(outcome="claimed")
            if job.waited is not None:
                CLAIM_SECONDS.observe(job.waited)
        case Busy():
            CLAIMS.add(outcome="busy")
        case _:
            CLAIMS.add(outcome="idle")
    return claim


def ended(ending: Ended, came_of_it: E) -> E:
    """Count the end of a check that was recorded, and return what came of it."""
    if not is_on():
        return came_of_it
    CHECKS.add(outcome=_outcome(came_of_it))
    if not isinstance(came_of_it, Fenced) and not isinstance(ending, Passed) and ending.action is not None:
        _action_ended(ending)
    if isinstance(came_of_it, Propagated):
        for _ in came_of_it.following:
            CLAIMS.add(outcome="following")
            CLAIM_SECONDS.observe(0)
    return came_of_it


def failed(job: Job, attempt: Attempt, verdict: str) -> None:
    """Count an error that a plugin raised."""
    if is_on():
        ACTION_ERRORS.add(type=types.label(job.row.type), action=attempt.action, verdict=verdict)


def _action_ended(ending: Ended) -> None:
    outcome = "failed" if isinstance(ending, Failed) else "complete"
    assert not isinstance(ending, Passed)  # noqa: S101 - a mistake of ours
    action, job = ending.action, ending.job
    ACTIONS.add(type=types.label(job.row.type), action=action, outcome=outcome)
    ACTION_SECONDS.observe(time.monotonic() - job.claimed_at, action=action)


def _outcome(came_of_it: Finish | Failure) -> str:
    match came_of_it:
        case Propagated():
            return "propagated"
        case StackFailed():
            return "failed"
        case Fenced():
            return "fenced"
    return "superseded"
