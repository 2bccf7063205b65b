# SPDX-License-Identifier: Apache-2.0
"""Versions of what is said on the bus: while daemons of two releases run, each understands the other.

A message is sent as of the oldest version that has all it says, so that whatever says nothing new is
understood by everybody.  What is newer than ``BASE`` is sent once all that are up understand it: daemons
sign on with the version that they understand, and read every few seconds which the others do; the API asks
an engine.  In the seconds in which an older daemon comes up again and is not known yet it may get what it
does not understand: it refuses that before anything is done, by the version alone.

Of a cast that all do not understand yet, what was added is left out; a call is refused.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Collection, Mapping
from typing import Any

BASE = "1.0"  #: what daemons of the release before understand
CURRENT = "1.1"  #: what daemons of this one do: ``ping`` is answered by the version that all engines do

FRESH = 5.0  #: seconds for which the API takes for known what it has heard from an engine

#: What casts got after ``BASE``: by the name of the cast and the argument, or "" for the cast itself, the
#: version since which it is there.
ADDED: Mapping[tuple[str, str], str] = {}


def newest(versions: Collection[str]) -> str:
    """Return the newest of some versions."""
    return max(versions, key=_parsed)


def oldest(versions: Collection[str | None]) -> str:
    """Return the oldest of some versions; who does not say which it understands understands ``BASE``."""
    return min((each or BASE for each in versions), key=_parsed)


def has(version: str, needed: str) -> bool:
    """Tell whether who understands a version understands what needs another one."""
    return _parsed(needed) <= _parsed(version)


def _parsed(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


class Understood:
    """What those who serve a topic understand, all of them that are up; safe between threads."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[str, float]] = {}  # of a topic, and until when that counts
        self._lock = threading.Lock()

    def note(self, topic: str, versions: Collection[str | None], seconds: float) -> str:
        """Note what those who are up now understand, and return what all of them do; it counts so long."""
        common = oldest(versions)
        with self._lock:
            self._known[topic] = common, time.monotonic() + seconds
        return common

    def forget(self, topic: str) -> None:
        """Forget it: somebody did not understand."""
        with self._lock:
            self._known.pop(topic, None)

    def of(self, topic: str) -> str | None:
        """Return what all understand, if that was heard lately."""
        with self._lock:
            common, until = self._known.get(topic, (None, 0.0))
        return common if time.monotonic() < until else None


def fitting(cast: str, arguments: Mapping[str, Any], understood: str) -> tuple[str, dict[str, Any]] | None:
    """Return of a cast as much as is understood, and the version it needs; None: nothing of it is.

    What a cast got later is a help to who understands it, and nobody else needs it.
    """
    since = {name: ADDED.get((cast, name), BASE) for name in ("", *arguments)}
    if not has(understood, since[""]):
        return None
    sent = {name: value for name, value in arguments.items() if has(understood, since[name])}
    return newest([since[name] for name in ("", *sent)]), sent
