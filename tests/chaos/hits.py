# SPDX-License-Identifier: Apache-2.0
"""Engines are killed, or stop for a while, one after the other."""

from __future__ import annotations

import random
import signal
import threading
import time

from tests.functional.servers.daemons import Daemons

EVERY = 6.0  #: seconds between two misfortunes
APART = 2.0  #: seconds between those of two engines, where the second is hit while the first is away
LONGEST, SHORTEST = 20.0, 3.0  #: seconds that an engine stops for


class Hits(threading.Thread):
    """Kills an engine with SIGKILL and starts it again at once, or stops and continues it, half of the times.

    One at a time; or, with ``together``, each of them, one shortly after the other.
    """

    def __init__(self, daemons: Daemons, seed: str, *, together: bool) -> None:
        super().__init__(name="hits")
        self.log: list[str] = []
        self.problems: list[str] = []
        self._daemons = daemons
        self._choice = random.Random(f"{seed} hits")
        self._together = together
        self._over = threading.Event()

    def stop(self) -> None:
        """Hit no more; return when all engines are back."""
        self._over.set()
        self.join()

    def run(self) -> None:
        try:
            rest = EVERY
            while not self._over.wait(rest):
                begun = time.monotonic()
                names = sorted(self._daemons.names("engine"))
                self._choice.shuffle(names)
                away = [self._hit(names[0], 0.0)]
                if self._together:
                    away += [self._hit(name, APART * place) for place, name in enumerate(names[1:], 1)]
                for each in away:
                    each.join()
                rest = max(0.0, begun + EVERY - time.monotonic())
        except Exception as error:  # noqa: BLE001 - told in the end
            self.problems.append(f"engines are hit no more: {error!r}")

    def _hit(self, name: str, later: float) -> threading.Thread:
        kill = self._choice.random() < 0.5
        seconds = self._choice.uniform(SHORTEST, LONGEST)
        thread = threading.Thread(target=self._kill if kill else self._pause, args=(name, later, seconds))
        thread.start()
        return thread

    def _kill(self, name: str, later: float, _seconds: float) -> None:
        time.sleep(later)
        self.log.append(f"{time.time():.1f} {name} is killed")
        self._daemons.kill(name)
        self._daemons.start(name)
        self._daemons.await_up(name)

    def _pause(self, name: str, later: float, seconds: float) -> None:
        time.sleep(later)
        self.log.append(f"{time.time():.1f} {name} stops for {seconds:.1f} s")
        self._daemons.processes[name].send(signal.SIGSTOP)
        time.sleep(seconds)
        self._daemons.processes[name].send(signal.SIGCONT)
