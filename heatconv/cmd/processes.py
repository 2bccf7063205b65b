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
import time
from collections.abc import Callable
from dataclasses import dataclass

from oslo_config import cfg

from heatconv.cmd.systemd import Watchdog, notify_stopping

LOG = logging.getLogger(__name__)

#: Wins over the ``workers`` option of the daemon's group.
PROCESSES = cfg.IntOpt(
    "workers", dest="processes", metavar="N", min=1, help="Number of processes; default: as configured."
)

#: What the parent of a daemon's processes tells them too.
PASSED_ON = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)

#: What the parent waits for, and is never interrupted by.
AWAITED = (*PASSED_ON, signal.SIGCHLD)

SOON = 10.0  #: seconds; a child that ends sooner is taken for one that could not start
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 30.0  #: seconds after which another takes the place of such a child


def run_processes(count: int, run: Callable[[int], None]) -> None:
    """Run a function in so many processes, in this very one if it is one; it is given their numbers from 0.

    A child that dies is replaced, by one of its number, until SIGTERM or SIGINT; SIGHUP is passed on.
    Where one after the other ends soon, the next begins later each time, and the other numbers go on.
    """
    if count == 1:
        run(0)
    else:
        Family(count, run).watch()


@dataclass(eq=False)
class Place:
    """A number that one child after another has."""

    number: int
    free_from: float = 0.0  #: by the monotonic clock, as the other times
    taken_at: float = 0.0
    pause: float = 0.0  #: seconds between the last child and the next

    def leave(self, now: float) -> None:
        """Let another child take the place: at once, if the one that has ended did not do so soon."""
        ended_soon = now - self.taken_at < SOON
        self.pause = min(max(FIRST_PAUSE, 2 * self.pause), LONGEST_PAUSE) if ended_soon else 0.0
        self.free_from = now + self.pause


class Family:
    """The processes that run the same function, and their parent."""

    def __init__(self, count: int, run: Callable[[int], None]) -> None:
        self._run = run
        self._places = [Place(number) for number in range(count)]
        self._children: dict[int, Place] = {}  # by pid
        self._stopping = False

    def watch(self) -> None:
        """Start the children, and return when all have ended after a signal to end."""
        # Signals are waited for, so that none comes between a child's birth and its being known.
        signal.pthread_sigmask(signal.SIG_BLOCK, AWAITED)
        with Watchdog().beating():
            while self._children or not self._stopping:
                heard = signal.sigtimedwait(AWAITED, self._fill_up())
                if heard is not None and heard.si_signo in PASSED_ON:
                    self._pass_on(heard.si_signo)
                self._note_ends()

    def _fill_up(self) -> float:
        """Start the children that may begin; return the seconds, at most, until another one may."""
        now = time.monotonic()
        pauses = [LONGEST_PAUSE]
        free = set(self._places) - set(self._children.values())
        for place in () if self._stopping else free:
            if place.free_from <= now:
                self._start(place)
            else:
                pauses.append(place.free_from - now)
        return min(pauses)

    def _start(self, place: Place) -> None:
        parent = os.getpid()
        place.taken_at = time.monotonic()
        pid = os.fork()
        if pid == 0:
            self._be_child(parent, place.number)
        self._children[pid] = place

    def _pass_on(self, signum: int) -> None:
        if signum != signal.SIGHUP:
            notify_stopping()
            self._stopping = True
            signum = signal.SIGTERM
        for pid in self._children:
            os.kill(pid, signum)

    def _note_ends(self) -> None:
        while self._children:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                return
            place = self._children.pop(pid, None)
            if place is not None and not self._stopping:
                place.leave(time.monotonic())
                LOG.error(
                    "process %s ended with status %s; another takes its place in %g s",
                    pid,
                    status,
                    place.pause,
                )

    def _be_child(self, parent: int, number: int) -> None:
        """Run in a child, which does not outlive its parent.

        Until it says otherwise itself, SIGTERM and SIGINT end it, and SIGHUP does not: it is about to read
        the configuration.
        """
        for signum in PASSED_ON:
            signal.signal(signum, signal.SIG_IGN if signum == signal.SIGHUP else signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, AWAITED)
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
