# SPDX-License-Identifier: Apache-2.0
"""A world driven by hand that has observers in it, and things that happen behind their back."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from heatconv.assembly.engine import Engine, EngineSettings
from heatconv.db.plumbing.session import Database
from heatconv.db.plumbing.types import seconds_ago
from heatconv.db.tables import event, resource, stack_observed
from heatconv.model.drift import Mode
from heatconv.observer.drift_requests import DriftRequests
from heatconv.observer.healing import Limits
from heatconv.observer.notifications import Notifications
from heatconv.observer.observer import Observer
from heatconv.observer.policies import Defaults
from heatconv.resources.registry import Registry
from heatconv.testing.templates import Template
from tests.functional.core.world import CONTEXT, HOUR, World


class ObservedWorld(World):
    """One stack, as ``World`` has it, whose engine observes."""

    def __init__(self, url: str, registry: Registry) -> None:
        super().__init__(url, registry)
        self.now = 0.0  #: the time that notifications go by
        self.observer = self.new_observer()

    def new_observer(
        self, *, mode: Mode = Mode.OFF, portion: int = 500, limits: Limits | None = None
    ) -> Observer:
        """Return another engine's observer, with connections of its own; it is the world's from now on."""
        settings = EngineSettings(
            dead_after=HOUR,
            max_template_size=1 << 22,
            observation=Defaults(mode=mode, interval=300, portion=portion),
            heal_limits=limits or Limits(),
        )
        engine = Engine(self._open(Database), self._registry, self.bell, settings)
        self.observer, self.engine, self.lifecycle = engine.observer, engine.requests, engine.lifecycle
        self.preparer, self.purging = engine.preparer, engine.purging
        self.notifications = Notifications(
            self.observer.look_at, self._registry, most=2000, clock=lambda: self.now
        )
        self.user = DriftRequests(
            database=self.database,
            preparer=self.preparer,
            observer=self.observer,
            notifications=self.notifications,
            defaults=settings.observation,
            ring=engine.ring,
            guard=engine.plans.guarding,
        )
        return self.observer

    def create_with(self, template: Template, policy: str, *, rollback: bool = False) -> None:
        """Create a stack that has a policy, and let it come to its end."""
        options = {"disable_rollback": not rollback, "convergence": {"policy": policy}}
        self.stack_id = self.engine.create_stack(CONTEXT, "web", {"template": template.hot()}, options)
        self.run()

    # -- what a user asks for --------------------------------------------------------------------

    def observe(self, name: str | None = None) -> Any:
        """Have the stack, or one resource, looked at; return the drift that the answer shows."""
        return self.user.observe_stack(CONTEXT, self.stack_id, name)

    def converge(self, name: str | None = None) -> None:
        """Have what drifted put right, and let that come to its end."""
        self.user.converge_stack(CONTEXT, self.stack_id, name)
        self.run()

    # -- what happens ------------------------------------------------------------------------------

    def hear(self, event_type: str, *physical_ids: str) -> None:
        """Let services publish events about some things, and let the engine look at those it heard of."""
        for physical_id in physical_ids:
            self.notifications.hear(event_type, {"object_id": physical_id})
        self.notifications.look()

    def time_passes(self) -> None:
        """Let every stack be due."""
        with self.database.engine.begin() as connection:
            connection.execute(sa.update(stack_observed).values(due_at=seconds_ago(1)))

    def tick(self) -> None:
        """Let every stack be due, the observer look, and what that brings about come to its end."""
        self.time_passes()
        self.observer.tick()
        self.run()

    # -- what is so ----------------------------------------------------------------------------------

    def object_of(self, name: str) -> str:
        """Return the physical id of a resource that is wanted."""
        rows = self.select(resource, resource.c.name == name, resource.c.desired_sha1.is_not(None))
        return str(rows[0].physical_id)

    def drift(self) -> dict[str, str]:
        """Return the kinds of drift that are known, by the resources' names."""
        shown = self.user.show_drift(CONTEXT, self.stack_id)
        return {each["name"]: str(each["kind"]) for each in shown["resources"]}

    def drift_status(self) -> str:
        """Return how the stack is as a whole."""
        return str(self.user.show_drift(CONTEXT, self.stack_id)["status"])

    def observations(self) -> list[str]:
        """Return the events about observed resources, in order."""
        of_resources = self.select(event, event.c.action == "OBSERVE", event.c.resource_id.is_not(None))
        rows = sorted(of_resources, key=lambda row: row.id)
        return [f"{row.resource_name} {row.status}: {row.status_reason}" for row in rows]
