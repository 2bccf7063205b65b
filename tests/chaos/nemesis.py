# SPDX-License-Identifier: Apache-2.0
"""Processes die and stop, the bus forgets, connections break, things drift, the cloud is moody.

One misfortune after the other, each chosen by chance and each healed by itself
some seconds later, so that several overlap; ``stop`` waits until all are healed.
"""

from __future__ import annotations

import random
import signal
import subprocess
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress

import amqp
import sqlalchemy as sa

from heatconv.testing.cloud_client import CloudControl
from heatconv.testing.failures import FailureRule, Outcome
from tests.chaos.deployment import Deployment
from tests.chaos.drift import Drifts
from tests.chaos.driver import DOOM
from tests.chaos.proxy import Proxy
from tests.functional.servers.bus import TOPICS

#: Each misfortune, and how often it comes compared with the others.
Misfortunes = Sequence[tuple[Callable[["Nemesis"], None], float]]

LONGEST = 5.0  #: seconds a misfortune lasts; more than twice what makes a daemon count as dead


class Nemesis:
    """Sends misfortunes; ``counts`` tells how many of each."""

    def __init__(
        self,
        deployment: Deployment,
        cloud: CloudControl,
        drifts: Drifts,
        start: str,
        misfortunes: Misfortunes | None = None,
    ) -> None:
        """Take whom to hit, what the choices follow from, and which misfortunes there are, if not all."""
        self.counts: Counter[str] = Counter()
        self.problems: list[str] = []
        self._misfortunes = misfortunes or _MISFORTUNES
        self._deployment = deployment
        self._cloud = cloud
        self._drifts = drifts
        self._choice = random.Random(f"{start} nemesis")
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._haunt)
        self._healing: list[threading.Thread] = []
        self._hit: set[str] = set()  # the daemons that one misfortune has hold of already
        self._down: set[Proxy] = set()

    def start(self) -> None:
        self._cloud.fail(DOOM)
        self._thread.start()

    def stop(self) -> None:
        """Send no more, and wait until everything is healed."""
        self._stopping.set()
        self._thread.join()
        for thread in self._healing:
            thread.join()
        self._deployment.set_faults()
        self._heal_cloud()

    def _haunt(self) -> None:
        names, weights = zip(*self._misfortunes, strict=True)
        try:
            while not self._stopping.wait(self._choice.uniform(0.1, 1.5)):
                (misfortune,) = self._choice.choices(names, weights)
                self.counts[misfortune.__name__.strip("_")] += 1
                misfortune(self)
        except Exception as error:  # noqa: BLE001 - told in the end
            self.problems.append(f"the nemesis got stuck: {error!r}")

    def _later(self, heal: Callable[[], object]) -> None:
        """Heal a misfortune after a while, or at once when there are to be no more."""
        seconds = self._choice.uniform(0.2, LONGEST)

        def wait() -> None:
            self._stopping.wait(seconds)
            try:
                heal()
            except Exception as error:  # noqa: BLE001 - told in the end
                self.problems.append(f"the nemesis could not heal: {error!r}")

        self._healing.append(threading.Thread(target=wait))
        self._healing[-1].start()

    # -- processes ---------------------------------------------------------------------------------

    def _victim(self) -> str | None:
        """Choose a daemon that nothing ails yet, more often than not a worker."""
        weights = {
            name: 3 if name.startswith("worker") else 1
            for name in sorted(self._deployment.processes)
            if name not in self._hit
        }
        victim = self._choice.choices([*weights], [*weights.values()])[0] if weights else None
        if victim is not None:
            self._hit.add(victim)
        return victim

    def _kill(self) -> None:
        if victim := self._victim():
            self._deployment.kill(victim)
            self._later(lambda: self._start(victim))

    def _terminate(self) -> None:
        if victim := self._victim():
            self._later(lambda: self._restart(victim))

    def _pause(self) -> None:
        if victim := self._victim():
            self._deployment.processes[victim].send(signal.SIGSTOP)
            self._later(lambda: self._go_on(victim))

    def _go_on(self, name: str) -> None:
        self._deployment.processes[name].send(signal.SIGCONT)
        self._hit.discard(name)

    def _restart(self, name: str) -> None:
        self._deployment.processes[name].stop()
        self._start(name)

    def _start(self, name: str) -> None:
        self._deployment.start(name)
        if name == "api":
            self._deployment.await_up(name)  # whoever asks it once all is healed may ask but once
        self._hit.discard(name)

    # -- the bus --------------------------------------------------------------------------------------

    def _lose_messages(self) -> None:
        """Empty the queues of both topics."""
        url = sa.make_url(self._deployment.transport_url)
        with (
            suppress(amqp.AMQPError, OSError),
            amqp.Connection(
                f"{url.host}:{url.port}",
                userid=url.username,
                password=url.password,
                virtual_host=self._deployment.vhost,
            ) as connection,
        ):
            for topic in TOPICS:
                connection.channel().queue_purge(topic)

    def _break_bus_connections(self) -> None:
        command = ["rabbitmqctl", "--quiet", "close_all_connections", "--vhost", self._deployment.vhost]
        subprocess.run([*command, "chaos"], check=False, capture_output=True)

    def _spoil_messages(self) -> None:
        self._deployment.set_faults(drop=0.2, double=0.2, delay=0.4, latest=3.0)
        self._later(self._deployment.set_faults)

    # -- the database -----------------------------------------------------------------------------------

    def _break_database_connections(self) -> None:
        with suppress(sa.exc.DBAPIError), self._deployment.database.connect() as connection:
            if connection.dialect.name == "postgresql":
                connection.execute(sa.text(_TERMINATE))
                return
            for thread in connection.scalars(sa.text(_THREADS)).all():
                with suppress(sa.exc.DBAPIError):
                    connection.execute(sa.text(f"KILL {int(thread)}"))

    def _restart_a_server(self) -> None:
        if self._deployment.proxies:
            proxy = self._choice.choice(self._deployment.proxies)
            if proxy not in self._down:
                self._down.add(proxy)
                proxy.close()
                self._later(lambda: self._is_up_again(proxy))

    def _is_up_again(self, proxy: Proxy) -> None:
        proxy.open()
        self._down.discard(proxy)

    # -- the cloud -----------------------------------------------------------------------------------------

    def _upset_the_cloud(self) -> None:
        for _ in range(self._choice.randint(1, 4)):
            self._cloud.fail(FailureRule(**self._choice.choice(_MOODS)))

    def _close_the_cloud(self) -> None:
        self._cloud.fail(FailureRule(status=503, times=None))
        self._later(self._heal_cloud)

    def _heal_cloud(self) -> None:
        self._cloud.stop_failing()
        self._cloud.fail(DOOM)

    def _nothing(self) -> None:
        """Let things be."""

    def _let_something_drift(self) -> None:
        self._drifts.happen(self._choice)


_TERMINATE = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
    " WHERE datname = current_database() AND pid <> pg_backend_pid()"
)
_THREADS = "SELECT id FROM information_schema.processlist WHERE db = DATABASE() AND id <> CONNECTION_ID()"

_MOODS = (
    {"op": "create", "status": 500, "times": 2},
    {"status": 503, "retry_after": 1.0, "times": 3},
    {"status": 429, "retry_after": 0.5, "times": 5},
    {"status": 504, "times": 2},
    {"op": "create", "outcome": Outcome.CUT, "times": 2},
    {"op": "update", "outcome": Outcome.CUT, "times": 1},
    {"op": "delete", "outcome": Outcome.CUT, "times": 1},
    {"op": "create", "outcome": Outcome.BREAK, "times": 1},
    {"op": "delete", "status": 409, "times": 2},
)

_MISFORTUNES: Misfortunes = (
    (Nemesis._kill, 6),
    (Nemesis._pause, 4),
    (Nemesis._terminate, 2),
    (Nemesis._lose_messages, 3),
    (Nemesis._break_bus_connections, 1),
    (Nemesis._spoil_messages, 3),
    (Nemesis._break_database_connections, 2),
    (Nemesis._restart_a_server, 3),
    (Nemesis._upset_the_cloud, 5),
    (Nemesis._close_the_cloud, 1),
    (Nemesis._let_something_drift, 10),
)

#: What goes on beside servers that have troubles of their own: now and then something.
SOME: Misfortunes = (
    (Nemesis._kill, 3),
    (Nemesis._pause, 1),
    (Nemesis._terminate, 1),
    (Nemesis._let_something_drift, 5),
    (Nemesis._upset_the_cloud, 2),
    (Nemesis._nothing, 24),
)
