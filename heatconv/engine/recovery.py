# SPDX-License-Identifier: Apache-2.0
"""Find the work that fell between two processes, and ring again.

Every engine runs the tick; it has no leader and no memory.  Whatever it does is
a conditional write that one of them wins, or a ring that may come twice.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from heatconv.db.convergence import (
    nested,
    pending_signals,
    recovery,
    services,
    sync_points,
    traversal_ends,
)
from heatconv.db.plumbing import requests, statistics
from heatconv.db.plumbing.session import Database
from heatconv.metrics.declared import OVERDUE, RUNG_AGAIN, TAKEOVERS
from heatconv.model.states import cancelled
from heatconv.rpc.doorbell import Doorbell

LOG = logging.getLogger(__name__)

BATCH = 500  #: how much one tick takes on of each kind
TOGETHER = 100  #: locks of the dead that are broken in one transaction
PENDING = 20  #: how many wishes: to carry one out is to prepare a traversal
PATIENCE = 10  #: how many times longer a node may be READY while messages queue, and fewer are rung for


class Recovery:
    """The recovery tick."""

    def __init__(
        self,
        *,
        database: Database,
        doorbell: Doorbell,
        roll_back: Callable[[str], None],
        dead_after: float,
        ready_grace: float,
        carry_out: Callable[[str], None] | None = None,
    ) -> None:
        """Keep what is handed in.

        Args:
            database: where everything is.
            doorbell: how nodes are rung for.
            roll_back: prepares the rollback that a stack of an id waits for.
            dead_after: seconds without a heartbeat after which a daemon is dead.
            ready_grace: seconds that a node may be READY, or a wish not carried out.
            carry_out: carries out what a signal wishes of a row of an id; None where none are taken.
        """
        self._database = database
        self._doorbell = doorbell
        self._roll_back = roll_back
        self._dead_after = dead_after
        self._ready_grace = ready_grace
        self._carry_out = carry_out

    def tick(self) -> None:
        """Look once for each kind of thing that a dying process can leave behind."""
        self.break_dead_locks()
        self.ring_again()
        self.end_overdue()
        self.end_cancelled()
        self.prepare_decided()
        self.wake_owners()
        self.carry_out_signals()
        statistics.correct(self._database)
        requests.forget_old(self._database)

    def break_dead_locks(self) -> None:
        """Unlock the rows of dead daemons, and ring for them."""
        locked = recovery.dead_locks(self._database, dead_after=self._dead_after, limit=BATCH)
        for start in range(0, len(locked), TOGETHER):
            together = locked[start : start + TOGETHER]
            broken = recovery.break_locks(self._database, together, dead_after=self._dead_after)
            TAKEOVERS.add(len(broken))
            for row in broken:
                LOG.warning("resource %s: taken over from dead %s", row.id, row.engine_id)
            for traversal in sync_points.ready_nodes(self._database, [row.id for row in broken]):
                self._doorbell.ring(*traversal)

    def ring_again(self) -> None:
        """Ring for nodes that have been READY for long while nobody claimed them.

        Where workers have more messages than hands, and none of them died, what
        is READY most likely lies in a queue; then more patience costs nothing, and
        most rings would be second ones.
        """
        queueing = services.is_queueing(self._database, dead_after=self._dead_after)
        patience = PATIENCE if queueing else 1
        for stack_id, traversal_id, nodes in recovery.take_forgotten(
            self._database, older_than=self._ready_grace * patience, limit=BATCH // patience
        ):
            RUNG_AGAIN.add(len(nodes))
            LOG.warning("stack %s: ringing again for %d nodes", stack_id, len(nodes))
            self._doorbell.ring(stack_id, traversal_id, nodes)

    def end_overdue(self) -> None:
        """Fail the traversals that are past their deadline."""
        for stack_id, traversal_id in recovery.overdue(self._database, limit=BATCH):
            LOG.warning("stack %s: timed out", stack_id)
            failed = traversal_ends.fail(self._database, stack_id, traversal_id, "Timed out")
            if failed is not None:
                OVERDUE.add()
            if failed is not None and failed.roll_back:
                _try(self._roll_back, stack_id)

    def end_cancelled(self) -> None:
        """Stop the actions of nested stacks below a stack that was stopped; level by level, one a tick."""
        for below in nested.under_cancelled(self._database, BATCH):
            LOG.warning("stack %s: stopped, as the one around it was", below.id)
            failed = traversal_ends.fail(
                self._database, below.id, below.traversal_id, cancelled(below.action), may_roll_back=False
            )
            if failed is not None and failed.owner is not None:
                self._doorbell.wake(failed.owner.resource_id, failed.owner.engine_id)

    def prepare_decided(self) -> None:
        """Prepare the rollbacks that were decided on and then lost."""
        for stack_id in recovery.unprepared(self._database, BATCH):
            _try(self._roll_back, stack_id)

    def wake_owners(self) -> None:
        """Wake the workers that wait for nested stacks which have come to their ends."""
        for resource_id, engine_id in nested.waiting_for_ended(self._database, BATCH):
            self._doorbell.wake(resource_id, engine_id)

    def carry_out_signals(self) -> None:
        """Carry out the wishes of signals that their engines have not come to."""
        if self._carry_out is None:
            return
        for resource_id in pending_signals.take_overdue(
            self._database, older_than=self._ready_grace, limit=PENDING
        ):
            LOG.warning("resource %s: what a signal wishes was not carried out yet", resource_id)
            _try(self._carry_out, resource_id)


def _try(prepare: Callable[[str], None], entity_id: str) -> None:
    """Prepare what a stack or a row waits for; if that fails, the others have their turn all the same.

    It is found again by a later tick.
    """
    try:
        prepare(entity_id)
    except Exception:
        LOG.exception("%s: what it waits for could not be prepared; it is tried again", entity_id)
