# SPDX-License-Identifier: Apache-2.0
"""Make what comes after a resource along with it, where that touches nothing outside and waits for nobody.

Nobody holds the rows meanwhile: nothing of it is to be seen before it is written, in the transaction
that ends the check before, and it counts if the rows are as they were read.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence

from heatconv.db.convergence import stretches
from heatconv.db.plumbing.session import Database
from heatconv.model.definition import Definition
from heatconv.model.endings import Made
from heatconv.model.foreseen import Deed
from heatconv.model.nodes import Direction
from heatconv.model.records import Attempt, Job, ResourceRow
from heatconv.model.states import Action
from heatconv.model.steps import Start
from heatconv.resources.registry import Registry
from heatconv.worker import outputs
from heatconv.worker.decide import decide
from heatconv.worker.endings import Ending
from heatconv.worker.plugin_factory import PluginFactory

LOG = logging.getLogger(__name__)

MOST = 32  #: nodes that are made along with one that they wait for
#: Seconds after which no more is begun: that the one before them is made, nobody knows meanwhile.
LONGEST = 0.1
ENOUGH = 2  #: nodes in a row, each the only successor of the one before, after which more are looked for
#: Checks that go on at once in a worker, beyond which nothing is made ahead: so many share transactions.
FEW = 8


class Stretches:
    """Makes what comes after resources."""

    def __init__(
        self,
        database: Database,
        registry: Registry,
        plugin_factory: PluginFactory,
        checks_at_once: Callable[[], int],
    ) -> None:
        """Keep what is handed in; ``checks_at_once``: how many checks go on in this worker."""
        self._database = database
        self._registry = registry
        self._plugins = plugin_factory
        self._checks_at_once = checks_at_once

    def after(self, ending: Ending) -> Sequence[Made]:
        """Return what was made after a resource and is to be recorded with its end; maybe nothing."""
        if not isinstance(ending, Made) or not self._is_alike(ending) or self._checks_at_once() > FEW:
            return ()
        came = [ending]
        until = time.monotonic() + LONGEST
        for row in stretches.following(self._database, ending.job, MOST):
            made = self._made(came[-1], row)
            if made is None:
                break
            came.append(made)
            if time.monotonic() > until:
                break
        return came[1:]

    def _is_alike(self, made: Made) -> bool:
        """Tell whether a resource is such that more of its kind may come after it."""
        creates = made.action is Action.CREATE and made.job.direction is Direction.UPDATE
        return creates and made.applies_current_definition and self._is_at_once(made.attempt.definition)

    def _is_at_once(self, definition: Definition) -> bool:
        """Tell whether a resource can be made while nobody holds its row: nothing is to be seen of that."""
        type_ = self._registry.get(definition.implemented_by)
        return type_.only_here and type_.notes_may_wait and not definition.hooks

    def _made(self, before: Made, row: ResourceRow) -> Made | None:
        """Make the resource of a row; None: it takes more than can be done at once.

        Nothing that is wrong with it may keep the one before from its end.
        """
        try:
            job = stretches.job_after(before.job, before.output, row)
            if job is None or row.desired is None or not self._is_at_once(row.desired):
                return None
            match decide(job):
                case Start(attempt) if attempt.action is Action.CREATE and row.may(Deed.CREATE):
                    return self._create(job, attempt)
        except Exception as error:  # noqa: BLE001 - whoever claims the row meets it again, and says so
            LOG.debug("stack %s: %s is not made at once: %s", row.stack_id, row.id, error)
        return None

    def _create(self, job: Job, attempt: Attempt) -> Made | None:
        driver = self._plugins.make(job, attempt.definition)
        token = driver.start(Action.CREATE)
        if token is not None or not driver.is_complete(Action.CREATE, None):
            return None
        return outputs.made(job, attempt, driver, Action.CREATE)
