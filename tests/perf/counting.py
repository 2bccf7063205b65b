# SPDX-License-Identifier: Apache-2.0
"""A heatconv in this process whose statements, commits and messages are counted.

The database and the broker are real; what is counted is what is sent to them:
each statement of each ``executemany`` that a driver does not fold into one, and
each message.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from typing import Any

import sqlalchemy as sa
from oslo_config import cfg

from heatconv import conf as configuration
from heatconv.cmd.compose import engine, worker
from heatconv.cmd.daemon import Daemon
from heatconv.db.convergence import stacks
from heatconv.db.plumbing import migration
from heatconv.db.plumbing.session import Database
from heatconv.engine.recovery import Recovery
from heatconv.model.states import Status
from heatconv.observer.notifications import Notifications
from heatconv.observer.observer import Observer
from heatconv.resources.registry import Registry
from heatconv.rpc.asking import EngineCaller
from heatconv.rpc.bus import Bus
from heatconv.rpc.context import RequestContext
from heatconv.rpc.engine_client import EngineClient
from heatconv.sinks.delivery import Delivery
from heatconv.testing.keys import KEYRING
from tests.perf.tally import BY_CLOCK, Counts, Tally

CONTEXT = RequestContext(project_id="perf")

#: What daemons do by the clock (see ``Daemon.every``): the thread of each is called after it.
_TASKS = {
    task.__name__
    for task in (Daemon._heartbeat, Recovery.tick, Observer.tick, Delivery.tick, Notifications.look)
}


class CountingBus(Bus):
    """A bus that counts the messages it carries."""

    def __init__(self, conf: cfg.ConfigOpts, url: str | None, tally: Counts) -> None:
        super().__init__(conf, url)
        self._tally = tally

    def client(self, topic: str) -> Any:
        """Return a client whose messages are counted."""
        return _CountingClient(super().client(topic), self._tally)


class _CountingClient:
    def __init__(self, client: Any, tally: Counts) -> None:
        self._client = client
        self._tally = tally

    def prepare(self, **options: Any) -> Any:
        """Return a client with other options, counted too."""
        return _CountingClient(self._client.prepare(**options), self._tally)

    def call(self, context: dict[str, Any], method: str, **arguments: Any) -> Any:
        self._tally.add("messages", 2)  # the question and the answer
        return self._client.call(context, method, **arguments)

    def cast(self, context: dict[str, Any], method: str, **arguments: Any) -> None:
        self._tally.add("messages")
        self._client.cast(context, method, **arguments)


class Heatconv:
    """An engine and some workers, each on a pool of its own, and their tally."""

    def __init__(self, database_url: str, transport_url: str, *, workers: int, threads: int) -> None:
        self.tally = Tally()
        conf = configuration.load([], prog="perf", default_config_files=[])
        conf.set_override("threads", threads, group="worker")
        # A backlog of thousands is what is measured here, not a sign of lost messages.
        conf.set_override("ready_grace", 600.0)
        self._daemons = [self._daemon(conf, database_url, transport_url) for _ in range(workers + 1)]
        head, *others = self._daemons
        self.database = head.database
        migration.upgrade(self.database)
        types = Registry.load()
        self._services: list[Any] = [engine.start(head, types, "threading")]
        self._services += [worker.start(daemon, types, "threading") for daemon in others]
        for daemon in self._daemons:
            count_statements(daemon.database.engine, self.tally)
            daemon.sign_on()
        self.client = EngineClient(EngineCaller(Bus(conf, transport_url)))

    def _daemon(self, conf: cfg.ConfigOpts, database_url: str, transport_url: str) -> Daemon:
        return Daemon(
            conf,
            database=Database.from_url(database_url, KEYRING),
            bus=CountingBus(conf, transport_url, self.tally),
            binary="perf",
            topic="perf",
        )

    def measure(self, request: Any) -> tuple[float, Counter[str]]:
        """Carry out a request that returns a stack's id; return its seconds and its counts."""
        self.tally.take()
        begun = time.monotonic()
        stack_id = request()
        reader = Database.from_url(self.database.engine.url.render_as_string(hide_password=False), KEYRING)
        while True:  # polled on a connection of its own, which is not counted
            stack = stacks.get(reader, stack_id)
            if stack is not None and stack.status is not Status.IN_PROGRESS:
                break
            threading.Event().wait(0.02)
        seconds = time.monotonic() - begun
        reader.close()
        if stack.status is not Status.COMPLETE:
            raise RuntimeError(f"{stack.action}_{stack.status}: {stack.reason}")
        return seconds, self.tally.take()

    def close(self) -> None:
        """Stop everything."""
        for service in self._services:
            service.stop()
        for daemon in self._daemons:
            daemon.sign_off()


def count_statements(engine: sa.Engine | type[sa.Engine], tally: Counts) -> None:
    """Count what is sent to a database from now on; given the class, to all of them."""

    def executed(_c: Any, cursor: Any, statement: str, parameters: Any, _x: Any, many: bool) -> None:
        # INSERT ... VALUES of many rows is one statement on each of our drivers; others are not.
        folded = statement.lstrip().upper().startswith("INSERT")
        sent = len(parameters) if many and not folded else 1
        tally.add("statements", sent)
        if threading.current_thread().name in _TASKS:
            tally.add(BY_CLOCK, sent)

    sa.event.listen(engine, "after_cursor_execute", executed)
    sa.event.listen(engine, "commit", lambda _connection: tally.add("commits"))
