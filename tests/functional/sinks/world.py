# SPDX-License-Identifier: Apache-2.0
"""A world driven by hand whose engines deliver events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import wait
from typing import Any

import sqlalchemy as sa

from heatconv.assembly.engine import Engine, EngineSettings
from heatconv.db.plumbing.session import Database
from heatconv.db.plumbing.types import seconds_ago
from heatconv.db.tables import event, event_sent, event_sink, stack
from heatconv.resources.registry import Registry
from heatconv.sinks.delivery import Delivery
from heatconv.sinks.notification import Notify
from heatconv.sinks.types import SinkTypes
from heatconv.sinks.webhook import Rules
from heatconv.testing.templates import Template
from tests.functional.core.world import CONTEXT, HOUR, World

Sinks = Sequence[Mapping[str, Any]]


class SinkWorld(World):
    """One stack, as ``World`` has it, whose events go somewhere; webhooks may go to loopback."""

    def __init__(self, url: str, registry: Registry) -> None:
        super().__init__(url, registry)
        self._deliveries: list[Delivery] = []
        self.allow("http://127.0.0.1")

    def close(self) -> None:
        for each in self._deliveries:
            each.stop()
        super().close()

    def allow(
        self,
        *origins: str,
        ports: Sequence[int] = (),
        secret: str | None = None,
        notify: Notify | None = None,
        timeout: float = 10.0,
    ) -> None:
        """Let the operator allow webhooks to these ports of these hosts, and no other."""
        urls = [f"{origin}:{port}" for origin in origins for port in ports]
        self.types = SinkTypes(rules=Rules.of(urls, secret, timeout), notify=notify)
        settings = EngineSettings(dead_after=HOUR)
        self.engine = Engine(
            self.database, self._registry, self.bell, settings, sink_types=self.types
        ).requests

    def new_delivery(self, **options: Any) -> Delivery:
        """Return the delivery of another engine, with connections of its own."""
        made = Delivery(database=self._open(Database), types=self.types, **options)
        self._deliveries.append(made)
        return made

    # -- what a user asks for ------------------------------------------------------------------------

    def create_with(self, template: Template, sinks: Sinks, *, rollback: bool = False) -> None:
        """Start to create a stack whose events go to sinks."""
        source = {"template": template.hot(), "environment": {"event_sinks": list(sinks)}}
        options = {"disable_rollback": not rollback}
        self.stack_id = self.engine.create_stack(CONTEXT, "web", source, options)

    def update_with(self, template: Template, sinks: Sinks, *, rollback: bool = False) -> None:
        """Start to update it."""
        source = {"template": template.hot(), "environment": {"event_sinks": list(sinks)}}
        options = {"disable_rollback": not rollback}
        self.engine.update_stack(CONTEXT, self.stack_id, source, options, existing=False)

    # -- what happens --------------------------------------------------------------------------------

    def deliver(self, **options: Any) -> None:
        """Let a new engine deliver all that is due."""
        self.finish(self.new_delivery(**options))

    @staticmethod
    def finish(delivery: Delivery) -> None:
        """Let an engine deliver all that is due."""
        delivery.tick()
        wait(delivery._running)

    def time_passes(self, seconds: float = 3600) -> None:
        """Let every sink be due, and whatever happened have happened so much earlier."""
        with self.database.engine.begin() as connection:
            past = seconds_ago(seconds)
            connection.execute(sa.update(event_sink).values(due_at=past))
            connection.execute(sa.update(event).values(created_at=past))
            connection.execute(sa.update(event_sent).values(event_at=past))
            gone, removed = stack.c.deleted_at.is_not(None), event_sink.c.removed_at.is_not(None)
            connection.execute(sa.update(stack).where(gone).values(deleted_at=past))
            connection.execute(sa.update(event_sink).where(removed).values(removed_at=past))

    # -- what is so ----------------------------------------------------------------------------------

    def sinks(self) -> Sequence[Any]:
        """Return the sinks that there are."""
        return self.select(event_sink)

    def query(self, query: sa.Executable) -> Sequence[Any]:
        """Return what the database answers."""
        with self.database.engine.connect() as connection:
            return connection.execute(query).all()

    def noted(self) -> int:
        """Return how many events are noted one by one as sent."""
        return len(self.select(event_sent))
