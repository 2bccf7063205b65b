# SPDX-License-Identifier: Apache-2.0
"""How a traversal is started although others may start one of the same stack at the same time.

Losing the race for the stack's row means to read again and to decide again.
"""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable
from dataclasses import replace

from heatconv import errors
from heatconv.db.convergence import stacks, traversals
from heatconv.db.convergence.traversal_kinds import Kind
from heatconv.db.convergence.traversals import Planner, Started
from heatconv.db.plumbing import statistics
from heatconv.db.plumbing.session import Database
from heatconv.graph.traversal import plan
from heatconv.metrics.declared import RACES_LOST
from heatconv.model.plan import TraversalSpec
from heatconv.model.records import Stack
from heatconv.rpc.context import served

LOG = logging.getLogger(__name__)

NAMELESS = "somebody without a name"  #: who asks where nobody has to log in
ATTEMPTS = 100  #: races lost in a row before we believe that something else is wrong

Decide = Callable[[Stack], tuple[TraversalSpec, Kind]]  #: what is to become of a stack as it was found


class NotDue(Exception):
    """What was to be started was overtaken, and is not to be started any more."""


def start(database: Database, stack: Stack, decide: Decide, planner: Planner | None = None) -> Started:
    """Decide on the stack as it was found and start; if another was faster, on what it made of it.

    Without a ``planner`` the stack's rows become what the targets want that were decided on.

    Raises:
        ActionInProgress: others were faster each time.
        NotFound: the stack was deleted meanwhile.
    """
    now: Stack | None = stack
    for _ in range(ATTEMPTS):
        if now is None or now.deleted_at is not None:
            raise errors.NotFound(entity="Stack", name=stack.name)
        started = _try(database, now, decide, planner)
        if started is not None:
            correct_statistics(database, started)
            return started
        RACES_LOST.add()
        now = stacks.get(database, stack.id)
        LOG.info("stack %s: another request was faster; doing it again on top", stack.id)
    raise errors.ActionInProgress(name=stack.name, action=stack.action)


def _try(database: Database, now: Stack, decide: Decide, planner: Planner | None) -> Started | None:
    try:
        spec, kind = decide(now)
        spec = replace(spec, changed_by=asker())
    except errors.StaleWrite:  # of the template that it builds on
        return None
    planner = planner or functools.partial(plan, now.id, spec.targets)
    return traversals.try_start(database, now, spec, kind, planner)


def asker() -> str | None:
    """Return the name of the user for whom this thread starts a traversal; None if it does for no user."""
    context = served()
    return None if context is None else context.user_name or context.user_id or NAMELESS


def correct_statistics(database: Database, started: Started) -> None:
    """Let the database know how much there is to do, before it is asked about each of it."""
    if started.nodes > statistics.FEW:
        try:
            statistics.correct(database, planned=started.nodes)
        except errors.StorageError:
            LOG.exception("stack %s: PostgreSQL may plan badly for a while", started.stack_id)
