# SPDX-License-Identifier: Apache-2.0
"""What a service lists, asked once for all who wait at the same time.

Fifty servers that build cost one listing a round, not a call each.  A listing
is only ever believed when it says that something still goes on: it may be older
than what has happened since.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from heatconv.model.secrets import sentence
from heatconv.resources.clients.status import http_status

LOG = logging.getLogger(__name__)

ROUND = 1.0  #: seconds between two listings, and for which one is believed
REMEMBERED = 30.0  #: seconds for which one who asked counts as waiting
REFUSED = 60.0  #: seconds until a service that lets nobody list is asked again
AWAY = 5.0  #: seconds until a service that could not list just now is
MOST = 1000  #: lists that are kept; those that nobody asked for the longest go first

Found = Mapping[str, Any]  #: an object, as its service lists it
Pages = Iterable[Iterable[Found]]
Lists = Callable[[list[str]], Pages]  #: of the ids of those waited for; others may be among what it lists


@dataclass
class _List:
    """One service's things of a kind, as one user sees them."""

    waiting: dict[str, float] = field(default_factory=dict)  #: by id, when somebody asked last
    asking: threading.Lock = field(default_factory=threading.Lock)
    begun: float = float("-inf")  #: when what was found was asked for
    asked: Collection[str] = ()  #: the ids of those who waited then
    found: Mapping[str, Found] = field(default_factory=dict)
    pages: int = 1  #: calls that it took
    not_before: float = float("-inf")  #: when it may be asked for again
    refused: bool = False


class Listings:
    """The listings of one process.

    Concurrency: may be shared between threads.  One of them asks at a time, and holds
    up none of the others.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._lists: dict[Hashable, _List] = {}

    def goes_on(self, key: Hashable, thing: str, lists: Lists, is_so: Callable[[Found], bool]) -> bool:
        """Tell whether a thing is seen to be still as it is waited for to be no more.

        False as well where nobody can tell, or where it costs less to look at those who
        wait one by one: then the thing itself is to be looked at.

        Args:
            key: what is listed, and who sees it.
            thing: the id of what is waited for.
            lists: asks the service; what it raises is logged.
            is_so: tells by what is listed of the thing whether it is still so.
        """
        now = self._clock()
        kept = self._waiting(key, thing, now)
        if kept.begun + ROUND <= now:
            if kept.not_before > now:
                return not kept.refused
            if len(kept.waiting) <= kept.pages:
                return False
            if not kept.asking.acquire(blocking=False):
                return True  # another thread is being told; it is asked again in a moment
            try:
                self._ask(kept, lists)
            finally:
                kept.asking.release()
            if kept.not_before > now:
                return not kept.refused
        found = kept.found.get(thing)
        if found is None:
            return thing not in kept.asked  # it came too late for this round
        return is_so(found)

    def _waiting(self, key: Hashable, thing: str, now: float) -> _List:
        with self._lock:
            kept = self._lists.pop(key, None) or _List()
            self._lists[key] = kept
            if len(self._lists) > MOST:
                del self._lists[next(iter(self._lists))]
            kept.waiting.pop(thing, None)
            kept.waiting[thing] = now
            for each, asked in list(kept.waiting.items()):
                if asked + REMEMBERED > now:
                    break
                del kept.waiting[each]
            return kept

    def _ask(self, kept: _List, lists: Lists) -> None:
        with self._lock:
            things = list(kept.waiting)
        begun = self._clock()
        try:
            pages = [list(page) for page in lists(things)]
        except Exception as error:  # noqa: BLE001 - a client library may raise anything
            kept.refused = _is_refusal(error)
            kept.not_before = self._clock() + (REFUSED if kept.refused else AWAY)
            LOG.warning(
                "what is waited for cannot be listed: %s", sentence(f"{type(error).__name__}: {error}")
            )
            return
        kept.found = {found["id"]: found for page in pages for found in page}
        kept.asked, kept.pages, kept.begun = set(things), max(1, len(pages)), begun


def _is_refusal(error: Exception) -> bool:
    """Tell whether a service will say the same to the same question a little later."""
    status = http_status(error)
    return status is not None and 400 <= status < 500 and status not in (408, 429)
