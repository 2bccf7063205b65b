# SPDX-License-Identifier: Apache-2.0
"""A bus that treats messages badly: loses some, doubles some, lets some overtake others.

What is only rung (a cast) may be lost, come twice, or come late, and so out of
order; what is asked (a call) may come late, since whoever asks waits for the
answer and knows when there is none.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

from oslo_config import cfg

from heatconv.rpc.bus import Bus

LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class Faults:
    """How probable each fault is; ``latest`` is how many seconds a message may be late."""

    drop: float = 0.0
    double: float = 0.0
    delay: float = 0.0
    latest: float = 2.0


class FaultyBus(Bus):
    """A bus whose messages meet with the faults of the moment, chosen by ``choice``."""

    def __init__(
        self, conf: cfg.ConfigOpts, url: str | None = None, *, faults: Callable[[], Faults], choice: Random
    ) -> None:
        super().__init__(conf, url)
        self._faults = faults
        self._choice = choice

    def client(self, topic: str) -> FaultyClient:
        """Return a client of the servers of a topic, through which messages meet with faults."""
        return FaultyClient(super().client(topic), self._faults, self._choice)


class FaultyClient:
    """A client of the bus, as far as heatconv uses one."""

    def __init__(self, client: Any, faults: Callable[[], Faults], choice: Random) -> None:
        self._client = client
        self._faults = faults
        self._choice = choice

    def prepare(self, **options: Any) -> FaultyClient:
        """Return a client that sends in another way."""
        return FaultyClient(self._client.prepare(**options), self._faults, self._choice)

    def cast(self, context: dict[str, Any], method: str, **arguments: Any) -> None:
        """Send a message, or not, or twice, now or later."""
        faults = self._faults()
        if self._befalls(faults.drop):
            LOG.info("lost on purpose: %s", method)
            return
        for _ in range(1 + self._befalls(faults.double)):
            if self._befalls(faults.delay):
                self._later(faults.latest, lambda: self._client.cast(context, method, **arguments))
            else:
                self._client.cast(context, method, **arguments)

    def call(self, context: dict[str, Any], method: str, **arguments: Any) -> Any:
        """Send a message, now or later, and return the answer."""
        faults = self._faults()
        if self._befalls(faults.delay):
            threading.Event().wait(self._choice.uniform(0, faults.latest))
        return self._client.call(context, method, **arguments)

    def _befalls(self, probability: float) -> bool:
        return self._choice.random() < probability

    def _later(self, latest: float, send: Callable[[], object]) -> None:
        timer = threading.Timer(self._choice.uniform(0, latest), _quietly, [send])
        timer.daemon = True
        timer.start()


def _quietly(send: Callable[[], object]) -> None:
    try:
        send()
    except Exception:
        LOG.exception("a late message was not sent")
