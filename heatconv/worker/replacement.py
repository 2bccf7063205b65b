# SPDX-License-Identifier: Apache-2.0
"""How a row gives its node to another one, which takes its place, and how it takes back what it gave."""

from __future__ import annotations

import logging

from heatconv.db.convergence import actions
from heatconv.db.plumbing.session import Database
from heatconv.model.ids import new_id
from heatconv.model.records import Attempt, Job, changed
from heatconv.model.secrets import sentence
from heatconv.model.states import Action
from heatconv.model.steps import Replace
from heatconv.resources.exception import PollDelay
from heatconv.worker import handover, setbacks
from heatconv.worker.endings import Ending, Lost, Waiting
from heatconv.worker.plugin_factory import PluginFactory

LOG = logging.getLogger(__name__)


def waiting_for(job: Job, attempt: Attempt) -> Waiting:
    """Return a replacement that still has to be handed over to."""
    waiting: Waiting = changed(setbacks.waiting_for(job, attempt, None, None), replaces=True)
    return waiting


def created(attempt: Attempt) -> Attempt:
    """Return the creation of what takes the place."""
    create: Attempt = changed(attempt, action=Action.CREATE, token=None, started=False)
    return create


def take_place(database: Database, job: Job, attempt: Attempt, factory: PluginFactory) -> Job | Ending:
    """Hand over, and let a new row take the node; return its job, or why that is not to be, or not yet."""
    try:
        handover.hand_over(database, job, factory.make)
    except PollDelay as delayed:
        return setbacks.later(waiting_for(job, attempt), delayed.period)
    except handover.Refused as refused:
        said = f"It cannot hand over to a replacement: {sentence(str(refused), job.secrets)}"
        return setbacks.not_begun(job, attempt, f"resources.{job.row.name}: {said}", said)
    new_job = actions.try_replace(database, job, new_id(), Replace(created(attempt)))
    if new_job is None:
        return Lost(job=job)
    LOG.info("stack %s: %s: replaced by %s", job.stack.id, job.node, new_job.row.id)
    return new_job


def take_back(database: Database, job: Job, attempt: Attempt, factory: PluginFactory) -> Job | Ending:
    """Take back what was handed over to a replacement; return the job as it is then, or why not yet."""
    try:
        return handover.take_back(database, job, factory.make)
    except PollDelay as delayed:
        return setbacks.later(setbacks.waiting_for(job, attempt, None, None), delayed.period)
    except handover.Busy:
        return setbacks.later(setbacks.waiting_for(job, attempt, None, None), handover.BUSY)
