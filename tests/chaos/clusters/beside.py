# SPDX-License-Identifier: Apache-2.0
"""What goes on beside a run of chaos, in the cluster that it runs on."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack

from tests.chaos.clusters.node import Cluster
from tests.chaos.clusters.standstill import Standstill
from tests.chaos.deployment import Deployment, Setting

PAUSE = (2.0, 6.0)  #: seconds from one trouble that is over to the next


class Troubles:
    """Lets things happen to a cluster, one after the other; implements ``tests.chaos.run.Beside``.

    Each is over, and the cluster whole again, before the next begins.
    """

    def __init__(
        self, cluster: Cluster, setting: Setting, start: str, notes: Callable[[], Sequence[str]] = tuple
    ) -> None:
        """Keep what is handed in.

        Args:
            cluster: it is running.
            setting: how daemons find it.
            start: what the choices follow from.
            notes: returns lines of the report that are this cluster's own.
        """
        self.setting = setting
        self.problems: list[str] = []
        self.lines: list[str] = []
        self._cluster = cluster
        self._choice = random.Random(f"{start} cluster")
        self._notes = notes
        self._counts: Counter[str] = Counter()
        self._back = 0.0  # seconds from a healing until all was whole, at the most
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self._standstills: list[Standstill] = []
        self._exit = ExitStack()

    def start(self, deployment: Deployment) -> None:
        """See Beside."""
        self._stopping.clear()
        self._standstills.append(self._exit.enter_context(Standstill(deployment.database)))
        self._thread = threading.Thread(target=self._happen)
        self._thread.start()

    def stop(self) -> None:
        """See Beside."""
        self._stopping.set()
        if self._thread is not None:
            self._thread.join()
        self._exit.close()
        counts = ", ".join(f"{count} {what}" for what, count in sorted(self._counts.items()))
        self.lines = [
            f"{self._counts.total()} troubles of nodes: {counts}; whole again within {self._back:.0f} s",
            max(self._standstills, key=lambda each: each.longest).line,
            *self._notes(),
        ]

    def _happen(self) -> None:
        weights = [trouble.weight for trouble in self._cluster.troubles]
        try:
            while not self._stopping.wait(self._choice.uniform(*PAUSE)):
                (trouble,) = self._choice.choices(self._cluster.troubles, weights)
                self._counts[trouble.name] += 1
                heal = trouble.begin()
                self._stopping.wait(self._choice.uniform(0.5, trouble.longest))
                healed = time.monotonic()
                heal()
                self._cluster.await_whole()
                self._back = max(self._back, time.monotonic() - healed)
        except Exception as error:  # noqa: BLE001 - reported in the end
            self.problems.append(f"the troubles of nodes got stuck: {error!r}")
