# SPDX-License-Identifier: Apache-2.0
"""An engine on the bus."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from heatconv.assembly.endpoints import endpoints
from heatconv.assembly.engine import Engine, EngineSettings
from heatconv.assembly.serving import Serving
from heatconv.db.convergence.traversals import Started
from heatconv.db.plumbing.session import Database
from heatconv.engine.delegating import Authority
from heatconv.resources.registry import Registry
from heatconv.rpc.bus import ENGINE_TOPIC, Bell, Bus
from heatconv.rpc.notifications import Listening
from heatconv.sinks.delivery import Delivery

HELD = 2  #: calls that an engine which has stopped may sit on: the others go to one that runs


class EngineService:
    """One engine: a server on the bus, and what it offers there."""

    def __init__(
        self,
        *,
        database: Database,
        registry: Registry,
        bus: Bus,
        settings: EngineSettings,
        delivery: Delivery,
        serving: Serving,
        authority: Authority | None = None,
    ) -> None:
        """Start to take messages."""
        self._bell = Bell(bus)
        # Ringing thousands of times takes seconds; who asked does not wait for it.
        self._ringers = ThreadPoolExecutor(max_workers=2, thread_name_prefix="ring")
        self.engine = Engine(
            database,
            registry,
            self._bell,
            settings,
            ring=self._ring_soon,
            sink_types=delivery.types,
            authority=authority,
        )
        self.delivery = delivery
        self.listening: Listening | None = None  #: what gives ``notifications`` something to do, if anything
        self._server = bus.serve(
            ENGINE_TOPIC,
            serving.engine_id,
            endpoints(self.engine, database),
            threads=serving.threads,
            executor=serving.executor,
            held=HELD,
        )

    def stop(self) -> None:
        """Take no more requests, and finish those that run."""
        if self.listening is not None:
            self.listening.stop()
        self.engine.notifications.stop()
        self.engine.observer.stop()
        self.engine.restored.stop()
        self.engine.purging.stop()
        self._server.stop()
        self._server.wait()
        self._ringers.shutdown(wait=True, cancel_futures=True)
        self.delivery.stop()

    def _ring_soon(self, started: Started) -> None:
        self._ringers.submit(self.engine.ring, started)
