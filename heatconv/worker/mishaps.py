# SPDX-License-Identifier: Apache-2.0
"""What an error that a plugin raised means for its action."""

from __future__ import annotations

import logging
from dataclasses import dataclass

from heatconv import errors
from heatconv.db.convergence import resources
from heatconv.db.plumbing.session import Database
from heatconv.metrics import endings
from heatconv.model.endings import Failed
from heatconv.model.records import Attempt, Job
from heatconv.model.secrets import account, sentence
from heatconv.model.states import Action
from heatconv.resources.clients.status import http_status
from heatconv.worker import faults, setbacks
from heatconv.worker.overtaking import is_of_an_older_wish
from heatconv.worker.plugin_factory import PluginFactory

LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class Again:
    """It may pass: try again; ``said`` is to be shown meanwhile, if anything is."""

    said: str | None


@dataclass(frozen=True)
class Anew:
    """What was made came out broken: remove it, and make it anew."""


@dataclass(frozen=True)
class NothingThere:
    """There is nothing to delete."""


Verdict = Again | Anew | NothingThere | Failed

_COUNTED = {Again: "again", Anew: "anew", NothingThere: "nothing_there", Failed: "failed"}


class Mishaps:
    """Tells what may pass from what will not."""

    def __init__(
        self, database: Database, plugin_factory: PluginFactory, *, retry_limit: int, client_retry_limit: int
    ) -> None:
        """Keep what is handed in.

        Args:
            retry_limit: how often what came out broken is made anew.
            client_retry_limit: how often in a row a service may not take a call.
        """
        self._database = database
        self._plugins = plugin_factory
        self._retry_limit = retry_limit
        self._client_retry_limit = client_retry_limit

    def judge(self, job: Job, attempt: Attempt, error: Exception) -> Verdict:
        """Return what an error means; it is logged and counted."""
        verdict = self._verdict(job, attempt, error)
        endings.failed(job, attempt, _COUNTED[type(verdict)])
        return verdict

    def _verdict(self, job: Job, attempt: Attempt, error: Exception) -> Verdict:
        what = f"stack {job.stack.id}: {job.node}: {attempt.action} of {job.row.name}"
        secrets = job.secrets.union(attempt.definition.secrets)
        said = sentence(str(error), secrets)
        # That no engine answered is a fault of ours: however often, it is no failure of the resource's.
        ours = isinstance(error, errors.TransportError)
        patient = attempt.faults < self._client_retry_limit
        if ours or (patient and faults.is_passing(error, attempt.action)):
            LOG.info("%s: %s; trying again", what, said)
            return Again(None if attempt.faults else said)
        if patient and self._came_late(job, attempt):
            LOG.info("%s: %s; but what was asked for before is there by now", what, said)
            return Again(None)
        if self._worth_another(attempt, error):
            LOG.info("%s: %s; making it anew", what, said)
            return Anew()
        if attempt.action is Action.DELETE and self._never_made(job, attempt):
            LOG.info("%s: %s; but there is nothing to delete", what, said)
            return NothingThere()
        # What a service answered tells enough; where it was asked is of no use to anybody.
        expected = isinstance(error, errors.HeatconvError) or http_status(error) is not None
        LOG.warning("%s failed: %s", what, said if expected else account(error, secrets))
        return Failed(
            job=job,
            action=attempt.action,
            reason=sentence(str(setbacks.failure_of(error, job.row.name)), secrets),
            definition=attempt.definition,
            overtaken=is_of_an_older_wish(job, attempt),
        )

    def _worth_another(self, attempt: Attempt, error: Exception) -> bool:
        return (
            attempt.action is Action.CREATE
            and isinstance(error, errors.ResourceError)
            and error.retryable
            and attempt.retries < self._retry_limit
        )

    def _never_made(self, job: Job, attempt: Attempt) -> bool:
        """Tell whether nothing was made: no create was ever completed, and nobody knows or finds an id."""
        row = resources.find(self._database, job.row.id)
        if row is None or row.physical_id is not None or row.applied_sha1 is not None:
            return False
        return self._finds(job, attempt) is False

    def _came_late(self, job: Job, attempt: Attempt) -> bool:
        """Tell whether a create fails since the one before it, which nobody heard of, was carried out."""
        if attempt.action is not Action.CREATE or not attempt.unheard:
            return False
        row = resources.find(self._database, job.row.id)
        return row is not None and row.physical_id is None and self._finds(job, attempt) is True

    def _finds(self, job: Job, attempt: Attempt) -> bool | None:
        """Tell whether what a create made is found; None if nobody knows."""
        try:
            return self._plugins.make(job, attempt.definition).plugin.find_existing() is not None
        except Exception as error:  # noqa: BLE001 - a plugin may raise anything
            LOG.info("%s: %s; nobody knows whether it was made", job.node, account(error, job.secrets))
            return None
