# SPDX-License-Identifier: Apache-2.0
"""Signs of life: who waits for the answer to a call hears that the process which has it still runs.

oslo.messaging can do so too, by a thread for each call, but no oftener than once
a second, and not for calls that wait for a thread.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import defaultdict
from typing import Any

from heatconv.rpc.asked import Asked

LOG = logging.getLogger(__name__)

INTERVAL = 0.25  #: seconds between two signs


class Pulse:
    """Beats for every call that a server has, by one thread; safe between threads."""

    def __init__(self) -> None:
        """Begin to beat when there is the first call."""
        self._calls: dict[int, tuple[Any, float]] = {}
        #: Of the calls that are here, by request: how many times it had been asked with each.
        self._numbers: dict[str, list[int]] = defaultdict(list)
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._stopped = threading.Event()

    def begin(self, call: Any) -> None:
        """Beat for a call; one that nobody awaits needs no signs."""
        if call.msg_id is None:
            return
        call.client_timeout = None  # or oslo.messaging would start a thread for it
        asked = Asked.among(call.ctxt)
        with self._lock:
            self._calls[id(call)] = call, time.monotonic()
            if asked is not None:
                self._numbers[asked.id].append(asked.number)
            if self._thread is None:
                self._thread = threading.Thread(target=self._beat, name="pulse", daemon=True)
                self._thread.start()

    def is_in_vain(self, call: Any) -> bool:
        """Tell whether nobody awaits the answer: the same was asked again, and that call is here too."""
        asked = Asked.among(call.ctxt)
        with self._lock:
            return asked is not None and any(
                later > asked.number for later in self._numbers.get(asked.id, ())
            )

    def end(self, call: Any) -> None:
        """Beat for a call no longer: it is about to be answered."""
        with self._lock:
            if self._calls.pop(id(call), None) is None:
                return
            asked = Asked.among(call.ctxt)
            if asked is not None:
                self._numbers[asked.id].remove(asked.number)
                if not self._numbers[asked.id]:
                    del self._numbers[asked.id]

    def stop(self) -> None:
        """Beat no more."""
        self._stopped.set()

    def _beat(self) -> None:
        while not self._stopped.wait(INTERVAL):
            now = time.monotonic()
            with self._lock:
                waited_for = [call for call, since in self._calls.values() if now - since >= INTERVAL]
            for call in waited_for:
                try:
                    call.heartbeat()
                except Exception as error:  # noqa: BLE001 - the driver's own; who waits will ask again
                    LOG.debug("a sign of life was not sent: %s", error)
