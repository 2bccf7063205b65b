# SPDX-License-Identifier: Apache-2.0
"""What comes after a deletion: what was made late, what is to be made anew, or nothing."""

from __future__ import annotations

from heatconv.db.convergence import actions
from heatconv.db.plumbing.session import Database
from heatconv.model.definition import Definition
from heatconv.model.endings import Gone
from heatconv.model.nodes import Direction
from heatconv.model.records import Attempt, Job, ResourceRow, changed
from heatconv.model.states import Action, DeletionPolicy
from heatconv.resources.driver import PluginDriver
from heatconv.worker import faults, late
from heatconv.worker.attempts import Attempts
from heatconv.worker.endings import Ending, Lost, Waiting


def begun(attempt: Attempt, *, whatever_policy: bool = False) -> Attempt:
    """Return the deletion of what an attempt has made.

    Args:
        whatever_policy: nobody was ever given it, so it is not retained.
    """
    definition = attempt.definition
    if whatever_policy:
        definition = definition.changed(deletion_policy=DeletionPolicy.DELETE)
    deletion: Attempt = changed(
        attempt, definition=definition, action=Action.DELETE, token=None, started=False, begun=False
    )
    return deletion


class Deletions:
    """What a worker does when what was to be deleted is gone."""

    def __init__(self, database: Database, attempts: Attempts) -> None:
        self._database = database
        self._attempts = attempts

    def ended(self, job: Job, attempt: Attempt, driver: PluginDriver) -> Ending:
        """Return what is to be done now that a deletion has come to its end."""
        if attempt.unheard and late.is_possible(driver):
            more = self._delete_more(job, attempt, driver)
            if more is not None:
                return more
        if job.direction is Direction.UPDATE:
            return self._make_anew(job, attempt)
        return Gone(job=job, action=Action.DELETE)

    def _delete_more(self, job: Job, attempt: Attempt, driver: PluginDriver) -> Ending | None:
        """Go on with what was made beside what is deleted by now, or may yet be made."""
        again = changed(attempt, token=None, started=False)
        found = late.found(driver.plugin)
        if found is None:
            looked, delay = late.looked(again), late.pause(attempt.unheard)
            later = Waiting(job=job, attempt=looked, driver=None, token=None, delay=delay)
            return later if job.direction is Direction.CLEANUP else None
        if not self._attempts.save(job, again):
            return Lost(job=job)
        driver.plugin.resource_id_set(found)
        return Waiting(job=job, attempt=again, driver=None, token=None, delay=0)

    def _make_anew(self, job: Job, attempt: Attempt) -> Ending:
        """Create again what was deleted because it was broken, after a growing, uneven pause."""
        row = job.row
        definition = attempt.definition.changed(deletion_policy=_policy(row, attempt.definition))
        create = changed(
            attempt, action=Action.CREATE, definition=definition, token=None, started=False, again=False
        )
        forgotten = {"physical_id": None, "progress": create.to_json()}
        if not actions.try_write(self._database, row, forgotten):
            return Lost(job=job)
        delay = faults.pause(attempt.retries - 1) if attempt.retries else 0
        return Waiting(job=job, attempt=create, driver=None, token=None, delay=delay)


def _policy(row: ResourceRow, definition: Definition) -> DeletionPolicy:
    """Return what becomes of a thing by the definition that it is made of, not by that of an undone try."""
    return definition.deletion_policy if row.desired is None else row.desired.deletion_policy
