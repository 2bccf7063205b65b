# SPDX-License-Identifier: Apache-2.0
"""What systemd is informed of, where it is systemd that has started a daemon: sd_notify(3)."""

from __future__ import annotations

import logging
import os
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager

LOG = logging.getLogger(__name__)

_STARTED = os.getpid()  # by systemd: the other processes of a daemon are its children


def notify(state: str) -> None:
    """Send a state, such as READY=1; where nobody listens nothing is sent."""
    address = os.environ.get("NOTIFY_SOCKET")
    if not address:
        return
    abstract = address.startswith("@")
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
            sender.sendto(state.encode(), f"\0{address[1:]}" if abstract else address)
    except OSError as error:
        LOG.warning("systemd did not take %s: %s", state, error)


def notify_stopping() -> None:
    """Send that the service stops, unless this is but one of the processes that another one watches over."""
    if os.getpid() == _STARTED:
        notify("STOPPING=1")


class Watchdog:
    """Keeps systemd from killing this process as long as it beats; for one thread."""

    def __init__(self) -> None:
        """Find out how often systemd wants a beat; of the processes of a service it wants those of one."""
        wanted = os.environ.get("WATCHDOG_PID", str(os.getpid())) == str(os.getpid())
        seconds = int(os.environ.get("WATCHDOG_USEC", "0")) / 1_000_000 if wanted else 0
        self.interval = seconds / 3  #: seconds from a beat to the next; 0: nobody waits for any
        self._next = 0.0

    def beat(self) -> None:
        """Beat, if it is time to."""
        if self.interval and time.monotonic() >= self._next:
            self._next = time.monotonic() + self.interval
            notify("WATCHDOG=1")

    @contextmanager
    def beating(self) -> Iterator[None]:
        """Beat meanwhile, by a timer: for a process that waits for others, and must not fork with threads."""
        if self.interval:
            notify("WATCHDOG=1")
            signal.signal(signal.SIGALRM, lambda *_: notify("WATCHDOG=1"))
            signal.setitimer(signal.ITIMER_REAL, self.interval, self.interval)
        yield
        signal.setitimer(signal.ITIMER_REAL, 0)
