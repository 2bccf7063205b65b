# SPDX-License-Identifier: Apache-2.0
"""What is written of an attempt while it is under way: how far it is, what it waits for, what it is about.

Every write is fenced by the claim on the row; whoever cannot write holds it no more.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from heatconv.db.convergence import actions, resources
from heatconv.db.plumbing.session import Database
from heatconv.model import tokens
from heatconv.model.definition import Definition
from heatconv.model.nodes import Direction
from heatconv.model.records import Attempt, Job, changed
from heatconv.model.states import Action, Status
from heatconv.resources.driver import PluginDriver
from heatconv.worker import setbacks
from heatconv.worker.endings import Ending, Lost, Waiting
from heatconv.worker.looks import leaves_unknown

LOG = logging.getLogger(__name__)


class Attempts:
    """The attempts of one worker's, as their rows tell them."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def save(self, job: Job, attempt: Attempt, driver: PluginDriver | None = None) -> bool:
        """Write how far an action is, and by what id its plugin knows what it is about."""
        known: dict[str, Any] = {}
        if driver is not None and driver.plugin.only_here:
            known["physical_id"] = driver.plugin.resource_id
        if driver is not None and driver.plugin.notes_may_wait:
            known["data"] = dict(driver.incarnation.data)
        return actions.try_write(self._database, job.row, {"progress": attempt.to_json(), **known})

    def reread(self, job: Job) -> Job | None:
        """Return a job with its row as it is now; None if it is not held any more."""
        held, row = job.row, resources.find(self._database, job.row.id)
        if row is None or (row.engine_id, row.atomic_key) != (held.engine_id, held.atomic_key):
            return None
        now: Job = changed(job, resource=row)
        return now

    def note_instant(self, job: Job, attempt: Attempt, driver: PluginDriver) -> Attempt | None:
        """Save that something is asked for which nobody could find again, before it is asked for.

        If it was asked for before, an event tells what that may have left behind.
        Costs nothing where a type can be searched.  Returns the attempt with that, None
        if the row is not held any more.
        """
        unknown = leaves_unknown(driver, attempt)
        if unknown is None:
            return attempt
        if attempt.begun:
            LOG.warning("stack %s: %s: %s", job.stack.id, job.node, unknown)
            return attempt if actions.try_add_event(self._database, job.row, attempt, unknown) else None
        if attempt.action is Action.DELETE:
            return attempt
        noted = changed(attempt, begun=True, notes=driver.plugin.data())
        return noted if self.save(job, noted) else None

    def show_fault(self, job: Job, said: str) -> None:
        """Show why an action waits; if the row is not held any more, whoever looks next finds out."""
        now = resources.find(self._database, job.row.id)
        if now is not None and now.status is Status.IN_PROGRESS:
            actions.try_write(self._database, job.row, {"status_reason": f"{said}; trying again"})

    def wait(self, waiting: Waiting, driver: PluginDriver) -> Ending:
        """Go on waiting, with how far the action is now in its row; not beyond the stack's deadline."""
        job, attempt = waiting.job, waiting.attempt
        if setbacks.is_overdue(job):
            driver.cancel(attempt.action, waiting.token)
            return setbacks.timed_out(job, attempt)
        now = kept(job, attempt, waiting.token)
        if (now.token, now.lost) != (attempt.token, attempt.lost):
            if not self.save(job, now, driver):
                return setbacks.lost(job, now, driver)
            attempt = now
        return changed(waiting, attempt=attempt, polls=waiting.polls + 1)

    def stop_at(self, when: str, job: Job, attempt: Attempt) -> Ending | None:
        """Wait at a breakpoint before or after an action, if there is one and it was not passed yet."""
        hook = f"{when}-{attempt.action.lower()}"
        if hook not in attempt.definition.hooks or hook in attempt.passed:
            return None
        if attempt.action is Action.DELETE and job.direction is Direction.UPDATE:
            return None  # of something broken, to be made anew
        attempt = changed(attempt, passed=(*attempt.passed, hook))
        if not actions.try_pause(self._database, job.row, hook, attempt):
            return Lost(job=job)
        LOG.info("stack %s: %s waits until %s is cleared", job.stack.id, job.node, hook)
        return setbacks.paused(job, attempt)


def kept(job: Job, attempt: Attempt, token: Any) -> Attempt:
    """Return an attempt with a copy of its token as that can be saved."""
    try:
        return changed(attempt, token=tokens.copied(token), lost=False)
    except tokens.NotSaved as part:
        if not attempt.lost:
            LOG.warning(
                "%s: the plugin's token cannot be saved (%s); if this worker dies, its %s is begun again",
                job.node,
                part,
                attempt.action,
            )
        return changed(attempt, token=None, lost=True)


def reached(job: Job, wanted: Definition, requires: Mapping[str, int]) -> Attempt:
    """Return the update that would make a row as wanted, be there anything to do or not."""
    sha1 = job.row.desired_sha1 or ""
    return Attempt(action=Action.UPDATE, definition=wanted, sha1=sha1, requires=requires)


def arguments(attempt: Attempt) -> tuple[Any, ...]:
    """Return what starting an action takes beside its name."""
    return (dict(attempt.definition.adopt or {}),) if attempt.action is Action.ADOPT else ()
