# SPDX-License-Identifier: Apache-2.0
"""What becomes of an action that is under way when something newer is wanted of its resource."""

from __future__ import annotations

import logging
from dataclasses import dataclass

from heatconv.db.convergence import actions, sync_points
from heatconv.db.plumbing.session import Database
from heatconv.model.definition import Definition
from heatconv.model.nodes import Direction
from heatconv.model.records import Attempt, Job, changed
from heatconv.model.secrets import sentence
from heatconv.model.states import Action
from heatconv.resources.declared import implements
from heatconv.resources.registry import Registry
from heatconv.resources.resource import UpdateReplace
from heatconv.worker.attempts import Attempts
from heatconv.worker.endings import Lost, Waiting
from heatconv.worker.plugin_factory import PluginFactory

LOG = logging.getLogger(__name__)

#: What a newer wish may give up; that of a resource that came out broken is a DELETE.
OVERTAKEN = frozenset({Action.CREATE, Action.UPDATE, Action.DELETE})


@dataclass(frozen=True)
class GivenUp:
    """The action is over: another incarnation takes the place."""


@dataclass(frozen=True)
class ToEnd:
    """The action comes to its end first, and its attempt knows by which wish it is waited for."""

    attempt: Attempt


class Overtaking:
    """Holds newer wishes against actions."""

    def __init__(self, database: Database, registry: Registry, plugin_factory: PluginFactory) -> None:
        self._database = database
        self._registry = registry
        self._plugins = plugin_factory
        self._attempts = Attempts(database)

    def gives_way(self, attempt: Attempt) -> bool:
        """Tell whether what is newly wanted need not wait for an action that is under way."""
        type_ = self._registry.get(attempt.definition.implemented_by)
        return type_.gives_way and attempt.action in (Action.CREATE, Action.UPDATE)

    def is_due(self, job: Job, waiting: Waiting) -> bool:
        """Tell whether it is time for a newer wish that nobody has held against an action yet.

        One whose token only its worker has is not held against it: nobody could take it up.
        """
        row, attempt = job.row, waiting.attempt
        if row.desired_sha1 in (None, attempt.sha1, attempt.overtaken_by):
            return False
        if attempt.action not in OVERTAKEN or (attempt.token is None and waiting.token is not None):
            return False
        ready = sync_points.ready_nodes(self._database, [row.id])
        return any(node.direction is Direction.UPDATE for _, _, nodes in ready for node in nodes)

    def hold(self, job: Job, attempt: Attempt, newer: Attempt) -> GivenUp | ToEnd | Lost:
        """Hold a newer wish against an action that need not give way."""
        if attempt.overtaken_by == newer.sha1:
            return ToEnd(attempt)
        if self._is_in_vain(job, attempt, newer.definition):
            LOG.info("stack %s: %s: its %s is given up", job.stack.id, job.node, attempt.action)
            driver = self._plugins.make(job, attempt.definition)
            if attempt.started and attempt.action is not Action.DELETE:
                driver.cancel(attempt.action, attempt.token)
            if attempt.begun and not self._attempts.note_instant(job, attempt, driver):
                return Lost(job=job)
            return GivenUp()
        waits = changed(attempt, overtaken_by=newer.sha1)
        reason = f"waiting for its {job.row.action} under way to end, to be changed then"
        shown = {"progress": waits.to_json(), "status_reason": reason}
        return ToEnd(waits) if actions.try_write(self._database, job.row, shown) else Lost(job=job)

    def _is_in_vain(self, job: Job, attempt: Attempt, wanted: Definition) -> bool:
        """Tell whether what an action makes would be replaced at once, or may be given up for a change."""
        if "replace" in wanted.restricted_actions:
            return False
        if not self._registry.may_become(attempt.definition, wanted):
            return True
        driver = self._plugins.make(job, attempt.definition)
        try:
            update = driver.plan_update(wanted)
        except UpdateReplace:
            return True
        except Exception as error:  # noqa: BLE001 - a plugin may raise anything; it will again when it is time
            said = sentence(str(error), job.secrets)
            LOG.info("%s: what a newer wish takes is not known: %s", job.node, said)
            return False
        hears_of_it = implements(type(driver.plugin), "handle_create_cancel")
        return update is not None and attempt.action is Action.CREATE and hears_of_it


def is_of_an_older_wish(job: Job, attempt: Attempt) -> bool:
    """Tell whether an action was taken up for a node that wants something else than the action makes."""
    taken_up = job.direction is Direction.UPDATE and attempt.action in OVERTAKEN
    return taken_up and job.row.desired_sha1 not in (None, attempt.sha1)
