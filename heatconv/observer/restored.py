# SPDX-License-Identifier: Apache-2.0
"""Look at each stack once after the database was restored from a dump, and put right what is otherwise.

Whatever its policy is: what went away after the dump is made again, what was changed is changed back.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from heatconv import errors
from heatconv.db import restoring
from heatconv.db.convergence import stacks
from heatconv.db.observation import schedule
from heatconv.db.plumbing.session import Database
from heatconv.model.drift import DriftStatus
from heatconv.model.records import Stack
from heatconv.model.states import Action, Status
from heatconv.rpc.context import RequestContext

LOG = logging.getLogger(__name__)

BUSY = 5.0  #: seconds until a stack that is being changed is looked at again
LATER = 300.0  #: seconds until one that could not be put right is tried again

Look = Callable[[RequestContext, str], object]  #: at a stack, by its id


class Restored:
    """The looks of one engine."""

    def __init__(self, database: Database, *, observe: Look, converge: Look) -> None:
        """Keep what is handed in: what looks at a stack, and what puts it right as well."""
        self._database = database
        self._observe = observe
        self._converge = converge
        self._stopped = False

    def stop(self) -> None:
        """Begin nothing new: the stacks that are left are another engine's to look at."""
        self._stopped = True

    def tick(self) -> None:
        """Look at the stacks whose turn it is, one by one; who dies over one leaves it to another engine."""
        while not self._stopped and (stack_id := restoring.try_take(self._database)) is not None:
            found = stacks.get(self._database, stack_id)
            if found is None or found.deleted_at is not None or found.action is Action.DELETE:
                restoring.finish(self._database, stack_id)
            elif found.status is Status.IN_PROGRESS:
                restoring.put_off(self._database, stack_id, seconds=BUSY)
            else:
                self._look(found)

    def _look(self, stack: Stack) -> None:
        asker = RequestContext(project_id=stack.project_id, user_id=stack.user_id, user_name=stack.user_name)
        look = self._observe if stack.action is Action.SUSPEND else self._converge
        try:
            look(asker, stack.id)
        except errors.GuardBroken as broken:
            LOG.warning("stack %s: it is not as it was, and is left so: %s", stack.id, broken)
        except errors.HeatconvError as error:
            LOG.warning("stack %s: it cannot be put right yet: %s", stack.id, error)
            restoring.put_off(self._database, stack.id, seconds=LATER)
            return
        known = schedule.get(self._database, stack.id)
        if known is not None and known.status is DriftStatus.UNKNOWN:
            restoring.put_off(self._database, stack.id, seconds=LATER)  # a service could not be asked
            return
        restoring.finish(self._database, stack.id)
