# SPDX-License-Identifier: Apache-2.0
"""What every daemon does: say that it is alive, run its side tasks, stop when told."""

from __future__ import annotations

import functools
import gc
import logging
import os
import random
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from importlib import metadata
from typing import NoReturn, Protocol

from oslo_config import cfg

from heatconv import errors
from heatconv.cmd import keys, monitoring, systemd
from heatconv.cmd.reloading import Reloading
from heatconv.db import sizing
from heatconv.db.convergence import services
from heatconv.db.plumbing import migration
from heatconv.db.plumbing.session import Database
from heatconv.model.ids import new_id
from heatconv.model.records import Edition
from heatconv.rpc import versions
from heatconv.rpc.bus import ENGINE_TOPIC, WORKER_TOPIC, Bus

LOG = logging.getLogger(__name__)

GRACE = 10.0  #: seconds that side tasks get, all together, when the daemon stops
YOUNG = 20_000  #: objects, more than were given up, until the garbage collector looks


class Service(Protocol):
    """What a daemon serves."""

    def stop(self) -> None:
        """Take nothing new, finish what runs."""


class Daemon:
    """One process's identity and its clockwork.

    Concurrency: each side task runs on a thread of its own; if one ends by an
    error it is logged and runs again at its next turn.
    """

    def __init__(
        self, conf: cfg.ConfigOpts, *, database: Database, bus: Bus, binary: str, topic: str
    ) -> None:
        self.conf = conf
        self.engine_id = new_id()
        self.database = database
        self.bus = bus
        self.dead_after = conf.heartbeat_interval * conf.heartbeat_misses
        self.backlog: Callable[[], int] = lambda: 0
        self._last_beat = time.monotonic()
        self._binary = binary
        self._topic = topic
        self._stopping = threading.Event()
        # What signals ask for is plain: a handler that took an event's lock could wait for itself.
        self._is_to_end = False
        self._tasks: list[threading.Thread] = []

    def watched(self, process: int = 0, topic: str | None = None) -> None:
        """Say how it is to whoever asks, if the operator has said where; see ``monitoring.start``.

        ``topic``: what it serves on the bus, if that is not what it signs on with.
        """
        looks = {
            "database": lambda: migration.check(self.database),
            "bus": lambda: self.bus.ping(topic or self._topic, self.engine_id),
        }
        monitoring.start(self.conf, looks, process)

    def sign_on(self) -> None:
        """Heartbeat from now on.

        Raises:
            StorageError: the database is not there, or has no tables.
            SystemExit: the database is no longer one that this release works with.
        """
        self._heartbeat()
        with keys.reporting_misconfiguration(self._binary):
            # Once more, now that whoever takes something away from the schema can see this daemon.
            migration.check(self.database)
        if problem := sizing.shortage(self.database, dead_after=self.dead_after):
            LOG.warning("%s", problem)
        self.every(self.conf.heartbeat_interval, self._heartbeat, jitter=0)

    def may_act(self) -> bool:
        """Tell whether nobody can have judged this daemon dead: its last heartbeat is fresh."""
        return bool(time.monotonic() - self._last_beat < self.dead_after)

    def every(self, seconds: float, task: Callable[[], None], *, jitter: float = 0.5) -> None:
        """Run a task every so many seconds, give or take ``jitter`` times as many."""
        thread = threading.Thread(
            target=self._repeat, args=(seconds, task, jitter), name=task.__qualname__, daemon=True
        )
        self._tasks.append(thread)
        thread.start()

    def run(self, service: Service) -> None:
        """Serve until SIGTERM or SIGINT, then stop in order."""
        for signum in (signal.SIGTERM, signal.SIGINT):
            signal.signal(signum, self._note)
        reloading = Reloading(self.conf)
        collect_less()
        LOG.info("%s %s is up", self._binary, self.engine_id)
        systemd.notify("READY=1")
        watchdog = systemd.Watchdog()
        # Waiting in slices lets the signal handler run whatever the executor.
        while not self._is_to_end:
            watchdog.beat()
            reloading.see_to_it()
            time.sleep(0.2)
        LOG.info("%s %s stops", self._binary, self.engine_id)
        systemd.notify_stopping()
        service.stop()
        self.sign_off()
        leave()

    def _note(self, *_: object) -> None:
        self._is_to_end = True

    def sign_off(self) -> None:
        """Stop the side tasks, and be known to nobody any more.

        A task that takes longer than ``GRACE`` is left in the middle: it ends with the process.
        """
        self._stopping.set()
        deadline = time.monotonic() + GRACE
        for thread in self._tasks:
            thread.join(max(0.0, deadline - time.monotonic()))
        if late := [thread.name for thread in self._tasks if thread.is_alive()]:
            LOG.warning("left in the middle, after %g s: %s", GRACE, ", ".join(late))
        try:
            services.forget(self.database, self.engine_id)
        except errors.StorageError:
            LOG.exception("%s could not sign off; it will be found dead", self.engine_id)
        self.database.close()

    def _heartbeat(self) -> None:
        begun = time.monotonic()
        services.heartbeat(
            self.database,
            engine_id=self.engine_id,
            host=socket.gethostname(),
            binary=self._binary,
            topic=self._topic,
            interval=round(self.conf.heartbeat_interval),
            backlog=self.backlog(),
            edition=_edition(),
        )
        # What counts is when it was sent: the database's clock has moved on since.
        self._last_beat = begun
        self._note_versions()

    def _note_versions(self) -> None:
        """Note for the bus which version of what is said there the daemons understand that are up."""
        found = services.rpc_versions(self.database, dead_after=self.dead_after)
        for topic in (ENGINE_TOPIC, WORKER_TOPIC):
            # Nobody else serves it, as where all is one process: then it is this daemon.
            versions_up = found.get(topic, {versions.CURRENT})
            self.bus.understood.note(topic, versions_up, seconds=2 * self.conf.heartbeat_interval)

    def _repeat(self, seconds: float, task: Callable[[], None], jitter: float) -> None:
        while not self._stopping.wait(seconds * random.uniform(1 - jitter, 1 + jitter)):
            try:
                task()
            except Exception:
                LOG.exception("%s failed and will run again", task.__name__)


@functools.cache
def _edition() -> Edition:
    return Edition(metadata.version("heatconv"), migration.newest(), versions.CURRENT)


def keep_private() -> None:
    """Let the files that this process makes be its owner's alone: the database, keys, logs."""
    os.umask(0o077)


def collect_less() -> None:
    """Have the garbage collector leave alone what is loaded by now, and look through the rest less often.

    A stack's template and its definitions are thousands of objects that live until the
    request is answered, and are no garbage each time that some hundreds more have come.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG, *gc.get_threshold()[1:])


def leave() -> NoReturn:
    """End the process now.

    A plugin that still runs on some thread does not keep it, nor do the
    connections to the bus, which take seconds to close politely.
    """
    logging.shutdown()
    sys.stdout.flush()
    os._exit(0)
