# SPDX-License-Identifier: Apache-2.0
"""Several processes of one daemon, below one that only watches them.

Not one of the libraries for this: they put a process above a single worker too,
and that one has to die with the process that was killed.
"""

from __future__ import annotations

import logging
import os
import signal
import threading
from collections.abc import Callable
from contextlib import suppress

from oslo_config import cfg

from heatconv.cmd.systemd import Watchdog

LOG = logging.getLogger(__name__)

#: Wins over the ``workers`` option of the daemon's group.
PROCESSES = cfg.IntOpt(
    "workers", dest="processes", metavar="N", min=1, help="Number of processes; default: as configured."
)

#: What the parent of a daemon's processes tells them too.
PASSED_ON = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def run_processes(count: int, run: Callable[[int], None]) -> None:
    """Run a function in so many processes, in this very one if it is one; it is given their numbers from 0.

    A child that dies is replaced, by one of its number, until SIGTERM or SIGINT; SIGHUP is passed on.
    """
    if count == 1:
        run(0)
    else:
        Family(count, run).watch()


class Family:
    """The processes that run the same function, and their parent."""

    def __init__(self, count: int, run: Callable[[int], None]) -> None:
        self._count = count
        self._run = run
        self._children: dict[int, int] = {}  # the numbers of the processes, by pid
        self._stopping = False

    def watch(self) -> None:
        """Start the children, and return when all have ended after a signal to end."""
        signal.signal(signal.SIGTERM, self._stop)
        signal.signal(signal.SIGINT, self._stop)
        signal.signal(signal.SIGHUP, lambda *_: self._signal_children(signal.SIGHUP))
        self._fill_up()
        with Watchdog().beating():
            while self._children:
                pid, status = os.wait()
                self._children.pop(pid, None)
                if not self._stopping:
                    LOG.error("process %s ended with status %s; another takes its place", pid, status)
                    self._fill_up()

    def _fill_up(self) -> None:
        for number in sorted(set(range(self._count)) - set(self._children.values())):
            # A signal waits until its handler would find the child, and until the child has no part in it.
            signal.pthread_sigmask(signal.SIG_BLOCK, PASSED_ON)
            try:
                if not self._stopping:
                    self._start(number)
            finally:
                signal.pthread_sigmask(signal.SIG_UNBLOCK, PASSED_ON)

    def _start(self, number: int) -> None:
        parent = os.getpid()
        pid = os.fork()
        if pid == 0:
            self._be_child(parent, number)
        self._children[pid] = number

    def _stop(self, *_: object) -> None:
        self._stopping = True
        self._signal_children(signal.SIGTERM)

    def _signal_children(self, signum: int) -> None:
        for pid in tuple(self._children):
            with suppress(ProcessLookupError):  # it has ended, and that is being noted
                os.kill(pid, signum)

    def _be_child(self, parent: int, number: int) -> None:
        """Run in a child, which does not outlive its parent.

        Until it says otherwise itself, SIGTERM and SIGINT end it, and SIGHUP does not: it is about to read
        the configuration.
        """
        for signum in PASSED_ON:
            signal.signal(signum, signal.SIG_IGN if signum == signal.SIGHUP else signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, PASSED_ON)
        threading.Thread(target=_follow, args=(parent,), daemon=True).start()
        try:
            self._run(number)
        except BaseException:
            LOG.exception("process %s ends", os.getpid())
            os._exit(1)
        os._exit(0)


def _follow(parent: int) -> None:
    while os.getppid() == parent:
        threading.Event().wait(1)
    os.kill(os.getpid(), signal.SIGTERM)
