# SPDX-License-Identifier: Apache-2.0
"""Decide whether a stack that has drifted is put right now, and what of it, and start that.

Users go first: while a traversal of theirs runs, or one of theirs has failed,
or the stack is suspended, nothing is healed.  Nor is what a rule of theirs does not let happen.
"""

from __future__ import annotations

import logging
import math
from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from heatconv import errors
from heatconv.db.convergence import stacks
from heatconv.db.convergence.traversal_kinds import SelfHealing
from heatconv.db.convergence.traversals import Started
from heatconv.db.observation import healing, observable, observations, schedule
from heatconv.db.plumbing.session import Database
from heatconv.engine.applying import Guard, unguarded
from heatconv.engine.prepare import Preparer
from heatconv.metrics.declared import HEALED, HEALS
from heatconv.model.drift import Drift, Handling, Mode, mode_of
from heatconv.model.records import ResourceRow, Stack
from heatconv.model.states import Action, Status
from heatconv.rpc.context import RequestContext

LOG = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What keeps healing from doing too much."""

    per_hour: int = 12  #: how often a stack is healed within an hour
    per_resource: int = 3  #: how often a resource is, until it is left alone
    percent: int = 100  #: how much of a stack, or of a group, is healed at a time


LIMITS = Limits()


class Healing:
    """Starts traversals that put right what has drifted."""

    def __init__(
        self,
        *,
        database: Database,
        preparer: Preparer,
        ring: Callable[[Started], None],
        limits: Limits,
    ) -> None:
        """Keep what is handed in; ``ring`` is called after commit, and may be lost."""
        self._database = database
        self._preparer = preparer
        self._ring = ring
        self._limits = limits
        self.guard: Guard = unguarded  #: of whoever makes plans

    def heal(self, root_id: str, tree: Sequence[str], mode: Mode) -> bool:
        """Start to put right what has drifted in a root stack and those nested in it, if that may be now."""
        root, known = stacks.get(self._database, root_id), schedule.get(self._database, root_id)
        if root is None or known is None or not _is_at_rest(root):
            return False
        ours = root.current_traversal == known.traversal_id
        if not ours:
            if root.status is Status.FAILED:
                return False
            healing.start_afresh(self._database, tree)
        found = observations.drifts(self._database, tree)
        given_up = healing.given_up(self._database, tree)
        due = [
            drift
            for drift in found
            if drift.handling is not Handling.NEVER
            and mode_of(drift.row, mode) is Mode.HEAL
            and (drift.stack_id, drift.name) not in given_up
        ]
        if not due and root.status is not Status.FAILED:
            return False
        if not healing.may_heal(self._database, root_id, most=self._limits.per_hour):
            LOG.warning("stack %s: healed %d times within an hour; it waits", root_id, self._limits.per_hour)
            return False
        chosen = self._choose(due)
        if not chosen and root.status is not Status.FAILED:
            return False
        self._release(tree, found, chosen)
        healed = [drift.row for drift in due if drift.resource_id in chosen]
        started = self._start(root, tree, healed)
        if started is None:
            return False
        HEALS.add()
        HEALED.add(len(chosen))
        LOG.info("stack %s: %d drifted resources are being healed", root_id, len(chosen))
        self._ring(started)
        return True

    def _start(self, root: Stack, tree: Sequence[str], healed: Sequence[ResourceRow]) -> Started | None:
        """Start to heal some rows; what a rule is against is left alone until a user acts."""
        asker = RequestContext(project_id=root.project_id, user_id=root.user_id, user_name=root.user_name)
        try:
            return self._preparer.converge(
                root,
                SelfHealing(healed=healed),
                only_at=root.current_traversal,
                applying=self.guard(asker, "update", keeps=False),
            )
        except errors.GuardBroken as broken:
            LOG.warning("stack %s: it is not healed: %s", root.id, broken)
            barred = [row for row in healed if row.id in broken.row_ids] or healed
            healing.leave_alone(self._database, root, barred, rule=broken.reason)
            hold_back(self._database, tree, {row.id for row in barred})
            return None

    def _choose(self, due: Sequence[Drift]) -> set[str]:
        """Return the rows to be healed now: not those given up, and of each stack no more than its share."""
        of_stack: dict[str, list[Drift]] = defaultdict(list)
        totals = observable.count_wanted(self._database, {drift.stack_id for drift in due})
        for drift in due:
            of_stack[drift.stack_id].append(drift)
        shares = [
            drift
            for stack_id, drifts in of_stack.items()
            for drift in drifts[: max(1, math.floor(totals[stack_id] * self._limits.percent / 100))]
        ]
        drifted = [drift.row for drift in shares]
        tripped = healing.give_up(self._database, drifted, most=self._limits.per_resource)
        return {row.id for row in drifted} - tripped

    def _release(self, tree: Sequence[str], found: Sequence[Drift], chosen: set[str]) -> None:
        """Let the traversal to be started see the chosen rows as drifted, and no other."""
        if chosen:
            observations.set_handling(self._database, tree, Handling.OPEN, chosen)
        hold_back(self._database, tree, {drift.resource_id for drift in found} - chosen)


def hold_back(database: Database, tree: Collection[str], held: Collection[str]) -> None:
    """Let no traversal see some rows of a tree as drifted, until they are released again."""
    if held:
        observations.set_handling(database, tree, Handling.HELD, held)
    if len(tree) > 1:
        observations.mark_owners(database, tree)


def _is_at_rest(stack: Stack) -> bool:
    busy = stack.status is Status.IN_PROGRESS
    return not (busy or stack.action in (Action.SUSPEND, Action.DELETE) or stack.deleted_at)
