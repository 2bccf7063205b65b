# SPDX-License-Identifier: Apache-2.0
"""What users ask about drift: look now, put it right now, tell what is known."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any

from heatconv import errors
from heatconv.db.convergence import resources, stacks
from heatconv.db.convergence.traversal_kinds import PLAIN, PartialConvergence
from heatconv.db.convergence.traversals import Started
from heatconv.db.observation import observable, observations, schedule
from heatconv.db.plumbing.session import Database
from heatconv.engine import views
from heatconv.engine.applying import Guard
from heatconv.engine.lookup import find_living, find_to_change
from heatconv.engine.prepare import Preparer
from heatconv.model.drift import DriftStatus
from heatconv.model.records import Stack
from heatconv.observer.healing import hold_back
from heatconv.observer.notifications import Notifications
from heatconv.observer.observer import Observer
from heatconv.observer.policies import Defaults
from heatconv.rpc.context import RequestContext

LOG = logging.getLogger(__name__)

Json = dict[str, Any]


class DriftRequests:
    """Observes and converges on behalf of users, whatever a stack's policy is."""

    def __init__(
        self,
        *,
        database: Database,
        preparer: Preparer,
        observer: Observer,
        notifications: Notifications,
        defaults: Defaults,
        ring: Callable[[Started], None],
        guard: Guard,
    ) -> None:
        """Keep what is handed in."""
        self._database = database
        self._preparer = preparer
        self._observer = observer
        self._notifications = notifications
        self._defaults = defaults
        self._ring = ring
        self._guard = guard

    def observe_stack(self, context: RequestContext, stack: str, resource: str | None = None) -> Json:
        """Look at a stack with all that is nested in it, or at one resource; return what has drifted."""
        found = find_living(self._database, context, stack)
        name = self._name(found, resource)
        self._observer.look_over(found, name)
        return self._drift(found, name)

    def converge_stack(self, context: RequestContext, stack: str, resource: str | None = None) -> None:
        """Look, and start to put right what has drifted: all of it, or one resource.

        What was left alone because it did not stay healed is tried again.

        Raises:
            GuardBroken: a rule does not let that happen.
            NotFound: there is no such stack or resource.
            NotSupported: the stack is nested, suspended, or being deleted.
        """
        found = find_to_change(self._database, context, stack)
        if found.owner_resource_id is not None:
            raise errors.NotSupported(
                feature=f"Converging stack {found.name}, which is nested: converge the stack around it;"
                " converging it alone"
            )
        name = self._name(found, resource)
        self._observer.look_over(found, name, to_converge=True)
        kind = PLAIN if name is None else PartialConvergence(names=frozenset([name]))
        counts = None if name is None else (lambda place: place[0] == name)
        guard = self._guard(context, "update", counts=counts)
        try:
            started = self._preparer.converge(found, kind, applying=guard)
        except errors.GuardBroken as broken:
            # Or each update would find it, and be refused as well, that which drops the rule included.
            hold_back(self._database, observable.trees(self._database, [found.id]), broken.row_ids)
            raise
        if started is not None:
            LOG.info("stack %s: it is converged (%s)", found.id, context.request_id)
            self._ring(started)

    def show_drift(self, context: RequestContext, stack: str, resource: str | None = None) -> Json:
        """Return what is known to have drifted in a stack and those nested in it, or of one resource."""
        found = find_living(self._database, context, stack)
        return self._drift(found, self._name(found, resource))

    def note_change(
        self, context: RequestContext, physical_ids: Sequence[str], *, all_projects: bool = False
    ) -> int:
        """Have what stands for things looked at soon that something has happened to; return how many are.

        In the caller's project, unless ``all_projects``.
        """
        project_id = None if all_projects else context.project_id
        rows, busy = observable.by_physical_id(self._database, physical_ids, project_id)
        known = {row.physical_id for row in (*rows, *busy) if row.physical_id is not None}
        return self._notifications.take_up(known, project_id=project_id)

    def _name(self, stack: Stack, resource: str | None) -> str | None:
        """Return the name of a resource told by that or by its physical id."""
        if resource is None:
            return None
        row = resources.find_wanted(self._database, stack.id, resource)
        if row is None:
            raise errors.NotFound(entity="Resource", name=resource)
        return row.name

    def _drift(self, stack: Stack, resource: str | None) -> Json:
        root_id = observable.roots_of(self._database, [stack.id])[stack.id]
        known = schedule.get(self._database, root_id)
        inside = [stack.id] if resource else list(observable.trees(self._database, [stack.id]))
        drifts = observations.drifts(self._database, inside, resource and [resource])
        root = stack if stack.id == root_id else stacks.get(self._database, root_id) or stack
        names = {stack.id: stack} | stacks.get_many(self._database, {each.stack_id for each in drifts})
        view = views.drift(known)
        if drifts:
            view["status"] = DriftStatus.DRIFTED
        elif view["status"] == DriftStatus.DRIFTED:
            view["status"] = DriftStatus.UNKNOWN  # of what drifted, something was done since
        return view | {
            "policy": self._defaults.mode_of(root),
            "interval": self._defaults.interval_of(root),
            "resources": [
                {
                    "name": each.name,
                    "stack": views.identity(names[each.stack_id]),
                    "type": each.row.type,
                    "physical_id": each.row.physical_id,
                    **views.resource_drift(each),
                }
                for each in drifts
            ],
        }
