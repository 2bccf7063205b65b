# SPDX-License-Identifier: Apache-2.0
"""Waiting for a stack to change: who has its newest answer already may ask for the one after that.

A request that waits is held by the server, without a thread: its answer, which would be 304, is not
sent, and the request is answered anew when the stack has changed or the time is over.  One look at
an interval is for all the requests that wait in this process; while nobody waits, nobody looks.
However many wait for the same change, the requests of others go on: those that waited are answered
in handfuls, who has waited longest first.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from math import ceil
from typing import Protocol

from oslo_config import cfg

from heatconv import errors
from heatconv.api import query
from heatconv.api.call import Call, Stack
from heatconv.api.contract import Contract
from heatconv.rpc.context import RequestContext
from heatconv.rpc.engine_client import EngineClient

LOG = logging.getLogger(__name__)

HOLD = "heatconv.hold"  #: where in a request's environment a server that can hold it says so

_AT_A_TIME = 1000  #: stacks that an engine is asked about
_PACE = 200  #: requests that waited are answered in a second, if there are so many
_UNDER_WAY = 4  #: of these at a time: a slow reading holds few threads
RECENT = 4  #: intervals in which the last look counts for who begins to wait
_HANDFULS = 10  #: in so many, from one look to the next
_OURS = RequestContext(project_id="")  #: who looks is not one of the callers


class Hold(Protocol):
    """What a server can do with a request; it is there as long as the request.  Safe between threads."""

    wait: Wait | None  #: what the request waits for, once it does

    @property
    def is_in_vain(self) -> bool:
        """Whether the client has gone."""

    @property
    def is_begun(self) -> bool:
        """Whether the answer that was given is kept, and not to be sent."""

    def try_begin(self) -> bool:
        """Keep the answer that is about to be given; False: it is sent, for too many wait already."""

    def end(self, then: Callable[[], None]) -> None:
        """Have the request answered anew, then call something; it may not, if the client has gone."""


#: Of stacks, with what is nested in them or without: the fingerprint of the last look, and when that was.
Looked = Mapping[tuple[str, bool], tuple[str, float]]


@dataclass(eq=False)
class Wait:
    """A request that waits."""

    stack_id: str
    of_tree: bool  #: with what is nested in the stack
    hold: Hold
    until: float  #: by ``time.monotonic``
    fingerprint: str  #: of the stack, from before its answer was read
    has_changed: bool = False  #: the stack, since then


class Watch:
    """The requests of this process that wait.

    Concurrency: safe between threads.  Requests come by many, and go by the one that looks.
    """

    def __init__(self, engine: EngineClient, conf: cfg.ConfigOpts) -> None:
        """Keep what is handed in; nothing runs before somebody waits."""
        self._engine = engine
        self._interval: float = conf.api.watch_interval
        self._most = conf.api.max_waiting
        self._longest = conf.api.max_wait
        self._waiting: dict[Wait, None] = {}  #: who has waited longest is first
        self._under_way: set[Wait] = set()  #: those ended that have no answer yet
        self._looked: Looked = {}
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None

    def prepare(self, call: Call, stack: Stack | None, contract: Contract) -> Wait | None:
        """Return what a request may wait for, which has to be prepared before the answer is read.

        None: it does not ask to wait, or cannot. What is nested is watched with a stack where the
        contract says so, and not where a query does.
        """
        request, keys = call.request, contract.query
        hold: Hold | None = request.env.get(HOLD)
        if hold is None or stack is None or query.WAIT not in keys:
            return None
        knows = request.params.get(query.SINCE) if query.SINCE in keys else request.if_none_match
        if query.WAIT not in request.params or not knows:
            return None
        asked = query.read(request.params, keys)
        seconds = min(asked[query.WAIT] or 0, self._longest)
        if not seconds or asked.get("nested_depth"):
            return None
        if hold.wait is None and len(self._waiting) < self._most:
            until = time.monotonic() + seconds
            # An engine that does not answer, or is of an earlier release, is no reason not to answer.
            with suppress(errors.TransportError):
                of_tree = contract.of_tree and asked[query.NESTED]
                now = self._fingerprint(stack.id, of_tree=of_tree)
                hold.wait = Wait(stack.id, of_tree, hold, until, now)
        return hold.wait

    def try_keep(self, wait: Wait) -> bool:
        """Let a request wait whose answer, now read, has nothing new; False: no longer, or not one more."""
        with self._changed:
            if time.monotonic() >= wait.until or len(self._waiting) >= self._most:
                return False
            if not wait.hold.try_begin():
                return False
            wait.has_changed = False
            self._waiting[wait] = None
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="watch", daemon=True)
                self._thread.start()
            self._changed.notify()
            return True

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting)
            try:
                self._look()
            except errors.HeatconvError as error:
                # Who waits goes on waiting: when the time is over, the answer says what is the matter.
                LOG.warning("It could not be found out which stacks have changed: %s", error)
            except Exception:
                LOG.exception("It could not be found out which stacks have changed")
            next_look = time.monotonic() + self._interval
            self._end(next_look)
            time.sleep(max(0.0, next_look - time.monotonic()))

    def _look(self) -> None:
        """Note of all that waits whether its stack has changed."""
        with self._changed:
            waiting = tuple(self._waiting)
        for of_tree in (False, True):
            self._look_for([each for each in waiting if each.of_tree is of_tree], of_tree=of_tree)

    def _look_for(self, waiting: Sequence[Wait], *, of_tree: bool) -> None:
        known = {each.stack_id: each.fingerprint for each in waiting}
        found: dict[str, str] = {}
        began = time.monotonic()
        ids = list(known)
        for start in range(0, len(ids), _AT_A_TIME):
            some = {each: known[each] for each in ids[start : start + _AT_A_TIME]}
            found |= self._fingerprints(some, of_tree=of_tree)
        now = known | found
        recent = {key: look for key, look in self._looked.items() if self._is_recent(look)}
        self._looked = recent | {(each, of_tree): (fingerprint, began) for each, fingerprint in now.items()}
        for each in waiting:
            fingerprint = now[each.stack_id]
            each.has_changed |= fingerprint != each.fingerprint
            each.fingerprint = fingerprint

    def _end(self, next_look: float) -> None:
        """End what waits for a stack that has changed, or no longer, as many as the pace allows by a time."""
        with self._changed:
            waiting = tuple(self._waiting)
        now = time.monotonic()
        over = [each for each in waiting if each.has_changed or each.until <= now or each.hold.is_in_vain]
        handful = ceil(_PACE * self._interval / _HANDFULS)
        with self._changed:
            self._under_way = {each for each in self._under_way if not each.hold.is_in_vain}
        for number, each in enumerate(over[: handful * _HANDFULS], 1):
            with self._changed:
                left = next_look - time.monotonic()
                if not self._changed.wait_for(lambda: len(self._under_way) < _UNDER_WAY, max(0.0, left)):
                    break
                del self._waiting[each]
                if not each.hold.is_in_vain:
                    self._under_way.add(each)
            each.hold.end(partial(self._note_answered, each))
            if number % handful == 0:
                time.sleep(self._interval / _HANDFULS)

    def _note_answered(self, wait: Wait) -> None:
        """Note that a request has its answer, so that the next of those that waited can have theirs."""
        with self._changed:
            self._under_way.discard(wait)
            self._changed.notify_all()

    def _fingerprint(self, stack_id: str, *, of_tree: bool) -> str:
        """Return the fingerprint of a stack, of the last look if that was for others who wait for it.

        What has changed since then ends the wait at the next look.
        """
        look = self._looked.get((stack_id, of_tree))
        if look is not None and self._is_recent(look):
            return look[0]
        return self._fingerprints({stack_id: ""}, of_tree=of_tree).get(stack_id, "")

    def _is_recent(self, look: tuple[str, float]) -> bool:
        return time.monotonic() - look[1] < RECENT * self._interval

    def _fingerprints(self, known: Mapping[str, str], *, of_tree: bool) -> dict[str, str]:
        ask = self._engine.changed_trees if of_tree else self._engine.changed_stacks
        return ask(_OURS, known)
