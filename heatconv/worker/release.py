# SPDX-License-Identifier: Apache-2.0
"""Giving back what a worker holds and does not go on with."""

from __future__ import annotations

import logging

from heatconv import errors
from heatconv.db.convergence import actions, resources, sync_points
from heatconv.db.plumbing.session import Database
from heatconv.model.records import Job, ResourceRow
from heatconv.model.states import Status
from heatconv.resources.driver import PluginDriver
from heatconv.rpc.doorbell import Doorbell
from heatconv.worker import late
from heatconv.worker.timer import RETRY_DELAY, Timer
from heatconv.worker.trees import Trees

LOG = logging.getLogger(__name__)

LONGEST_PAUSE = 60.0  #: seconds until it is tried again to remove what nobody has


class Release:
    """How a worker lets go of rows, and of what it has made for nobody."""

    def __init__(self, database: Database, doorbell: Doorbell, timer: Timer, trees: Trees) -> None:
        self._database = database
        self._doorbell = doorbell
        self._timer = timer
        self._trees = trees

    def let_go(self, row: ResourceRow | None) -> None:
        """Unlock a row whose action another worker is to take up, and ring for it."""
        if row is None:
            return  # nothing was held; recovery rings for the node again
        try:
            actions.try_release(self._database, row)
            self.ring_for(row)
        except Exception:
            LOG.exception("stack %s: %s cannot be given back yet", row.stack_id, row.name)
            self._timer.call_later(RETRY_DELAY, lambda: self.let_go(row))

    def ring_for(self, row: ResourceRow | None) -> None:
        """Ring for the nodes that are READY for a row in its stack's current traversal.

        They met the lock and went away; this is what they were promised.
        """
        if row is None:
            return
        for stack_id, traversal_id, nodes in sync_points.ready_nodes(self._database, [row.id]):
            self._doorbell.ring(stack_id, traversal_id, nodes, self._trees.root_of(stack_id))

    def disown(self, job: Job, orphan: PluginDriver, pause: float = RETRY_DELAY) -> None:
        """Remove what was made after the lock had been broken, unless the next holder found it.

        What cannot be removed yet is tried again after a pause in seconds, which grows.
        """
        try:
            row = job.resource and resources.find(self._database, job.resource.id)
            undecided = row is not None and row.physical_id is None and row.status is Status.IN_PROGRESS
            known = None if row is None else row.physical_id
            is_over = not undecided and late.remove_orphan(orphan, known)
        except errors.StorageError:
            LOG.exception("stack %s: %s: whose it is cannot be known yet", job.stack.id, orphan.plugin)
            is_over = False
        if not is_over:
            longer = min(2 * pause, LONGEST_PAUSE)
            self._timer.call_later(pause, lambda: self.disown(job, orphan, longer))
