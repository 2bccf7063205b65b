# SPDX-License-Identifier: Apache-2.0
"""What was heard of things in the real world, kept until they are looked at.

Who hears of something notes physical ids and goes on; a side task of the engine
looks at all that came together.  All of it is a hint: what does not fit in, or
is lost with the process, the observer finds when the stack's turn has come.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from heatconv.resources.registry import Reader, Registry

LOG = logging.getLogger(__name__)

TOGETHER = 0.5  #: seconds between two looks at what came in the meantime
MANY = 1000  #: things that are looked at in one go
MOST = 10_000  #: things that wait; what comes beyond is dropped
SOON, LATEST = 1.0, 64.0  #: seconds until something is looked at again, at first and at last
LONG = 255  #: characters of an event's type, and of a physical id, at most

Thing = tuple[str, str | None]  #: a physical id, and in whose stacks alone it is looked for


class LookAt(Protocol):
    """Looks at what stands for things; returns those to be looked at once more."""

    def __call__(self, physical_ids: Collection[str], *, project_id: str | None) -> Collection[str]:
        """Look."""


@dataclass(frozen=True)
class _Wait:
    due: float = 0.0  #: by the clock
    pause: float = SOON  #: seconds until the look after that, should it be needed


class Notifications:
    """What one engine has heard of.

    Concurrency: may be shared between threads.
    """

    def __init__(
        self,
        look_at: LookAt,
        registry: Registry,
        *,
        most: int = MOST,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Keep what is handed in; ``most`` is how many things may wait."""
        self._look_at = look_at
        self._readers = readers(registry)
        self._most = most
        self._clock = clock
        self._lock = threading.Lock()
        self._waiting: dict[Thing, _Wait] = {}
        self._dropped = 0
        self._stopped = False

    def stop(self) -> None:
        """Begin nothing new."""
        self._stopped = True

    def hear(self, event_type: str, payload: Any) -> None:
        """Note what a notification of a service tells of; one that nobody can read is dropped."""
        if not isinstance(event_type, str) or len(event_type) > LONG:
            LOG.warning("a notification without a proper event type is dropped")
            return
        for reader in self._readers_of(event_type):
            try:
                heard = _physical_ids(reader.notified(event_type, payload))
            except Exception as error:  # noqa: BLE001 - a plugin may raise anything, and a payload be anything
                LOG.warning(
                    "notification %s is dropped: %s cannot read it (%s)",
                    event_type,
                    reader.__name__,
                    type(error).__name__,
                )
            else:
                self.take_up(heard)

    def take_up(self, physical_ids: Iterable[str], *, project_id: str | None = None) -> int:
        """Have things looked at soon; return how many found a place."""
        taken = 0
        with self._lock:
            for each in set(physical_ids):
                thing = (each, project_id)
                if thing in self._waiting or len(self._waiting) < self._most:
                    self._waiting[thing] = _Wait()
                    taken += 1
                else:
                    self._dropped += 1
        return taken

    def look(self) -> None:
        """Look at what has come, many at a time."""
        if self._dropped:
            with self._lock:
                dropped, self._dropped = self._dropped, 0
            LOG.warning("%d things are not looked at before their stacks are: too many wait", dropped)
        while not self._stopped and (taken := self._take()):
            self._look(taken)

    def _take(self) -> dict[Thing, _Wait]:
        now = self._clock()
        with self._lock:
            due = [thing for thing, wait in self._waiting.items() if wait.due <= now][:MANY]
            return {thing: self._waiting.pop(thing) for thing in due}

    def _look(self, taken: dict[Thing, _Wait]) -> None:
        again = set(taken)
        try:
            again = self._to_repeat(taken)
        finally:
            self._put_off({thing: taken[thing] for thing in again})

    def _to_repeat(self, things: Iterable[Thing]) -> set[Thing]:
        """Look, and return what is to be looked at once more."""
        of_project: dict[str | None, list[str]] = defaultdict(list)
        for physical_id, project_id in things:
            of_project[project_id].append(physical_id)
        return {
            (each, project_id)
            for project_id, physical_ids in of_project.items()
            for each in self._look_at(physical_ids, project_id=project_id)
        }

    def _put_off(self, things: dict[Thing, _Wait]) -> None:
        """Have things looked at later, more and more so, and in the end not any more."""
        now = self._clock()
        later = {
            thing: _Wait(now + wait.pause, wait.pause * 2)
            for thing, wait in things.items()
            if wait.pause <= LATEST
        }
        with self._lock:
            for thing, wait in later.items():
                self._waiting.setdefault(thing, wait)

    def _readers_of(self, event_type: str) -> Iterator[type[Reader]]:
        for pattern in _patterns(event_type):
            yield from self._readers.get(pattern, ())


def readers(registry: Registry) -> dict[str, list[type[Reader]]]:
    """Return who reads notifications, by what they say that they read."""
    found: dict[str, list[type[Reader]]] = defaultdict(list)
    for reader in registry.readers():
        for pattern in reader.notifications:
            found[pattern].append(reader)
    return dict(found)


def _patterns(event_type: str) -> Iterator[str]:
    """Yield what a type may say to read an event: ``a.b.c``, ``a.b.*``, ``a.*``."""
    yield event_type
    start, dot, _ = event_type.rpartition(".")
    while dot:
        yield f"{start}.*"
        start, dot, _ = start.rpartition(".")


def _physical_ids(heard: Iterable[Any]) -> set[str]:
    """Return what can be physical ids of what a plugin has read in a payload."""
    if isinstance(heard, str):
        raise TypeError("one text instead of several")
    return {each for each in heard if isinstance(each, str) and 0 < len(each) <= LONG}
