# SPDX-License-Identifier: Apache-2.0
"""Deliver events to the sinks that stacks' environments name, each at least once.

Every engine runs the tick; there is no leader.  A sink gets its events one by
one, in order.  What was sent is noted after that: whoever dies in between sends
it again.  A sink that does not take an event is left alone, longer and longer,
and gets that same event next.
"""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import closing

from heatconv import errors
from heatconv.db.convergence import stacks
from heatconv.db.delivery import sinks
from heatconv.db.delivery.sinks import DueSink, Pending
from heatconv.db.plumbing.session import Database
from heatconv.metrics.declared import SINK_EVENTS
from heatconv.model.records import Stack
from heatconv.model.secrets import sentence
from heatconv.sinks.stillness import Stillness
from heatconv.sinks.types import OWN, SinkTypes, secrets_of

LOG = logging.getLogger(__name__)

BATCH = 100  #: events of one sink that are sent in one turn
WHILE = 20.0  #: seconds after which a turn ends, sent or not
GRACE = 10.0  #: seconds more, beside those that one event may take, until a turn is another engine's
FIRST_PAUSE, MAX_PAUSE = 1.0, 300.0  #: seconds until a sink that failed is tried again

NOTIFY = {"type": "notification"}


class Delivery:
    """The delivery of one engine."""

    def __init__(
        self,
        *,
        database: Database,
        types: SinkTypes,
        notify_all: bool = False,
        threads: int = 8,
        timeout: float = 10.0,
        settled_after: float = sinks.OPEN,
    ) -> None:
        """Keep what is handed in.

        Args:
            database: where everything is.
            types: what makes sinks of what environments say.
            notify_all: publish the events of all stacks.
            threads: how many sinks are delivered to at a time.
            timeout: seconds that one event may take, at most.
            settled_after: seconds that a transaction which writes events may be open.
        """
        self.types = types
        self._database = database
        self._notify_all = notify_all
        self._threads = threads
        self._lease = WHILE + timeout + GRACE
        self._settled_after = settled_after
        self._stillness = Stillness(settled_after)
        self._pool = ThreadPoolExecutor(max_workers=threads, thread_name_prefix="deliver")
        self._running: set[Future[None]] = set()
        self._begun = False
        self._stopped = False

    def stop(self) -> None:
        """Begin nothing new, and finish what is being sent."""
        self._stopped = True
        self._pool.shutdown(wait=True, cancel_futures=True)

    def tick(self) -> None:
        """Deliver, until nothing is due that nobody is at."""
        if not self._begun:
            sinks.keep_all(self._database, NOTIFY if self._notify_all else None)
            self._begun = True
        while not self._stopped:
            self._running = {each for each in self._running if not each.done()}
            free = self._threads - len(self._running)
            if free == 0:
                wait(self._running, return_when=FIRST_COMPLETED)
                continue
            taken = self._take(free)
            if not taken:
                return
            self._running |= {self._pool.submit(self._deliver, turn) for turn in taken}

    def _take(self, limit: int) -> Sequence[DueSink]:
        if self._stillness.lasts(sinks.news(self._database)):
            return ()
        due = sinks.due(
            self._database, limit=limit, everywhere=self._notify_all, settled_after=self._settled_after
        )
        return sinks.take(self._database, due, lease=self._lease) if due else ()

    def _deliver(self, turn: DueSink) -> None:
        """Send what is there for a sink, and note what of it was sent."""
        try:
            found = sinks.pending(self._database, turn, limit=BATCH)
            sent, failure = self._send(turn, found)
            kind = turn.spec["type"] if turn.spec["type"] in OWN else "other"
            SINK_EVENTS.add(len(sent), sink=kind, outcome="delivered")
            SINK_EVENTS.add(bool(failure), sink=kind, outcome="failed")
            attempts = ((0 if sent else turn.attempts) + 1) if failure else 0
            again_in = _pause(attempts)
            if failure:
                LOG.warning(
                    "%s: an event for the %s sink waits for %.1f s, after %d attempts: %s",
                    f"stack {turn.stack_id}" if turn.stack_id else "all stacks",
                    turn.spec["type"],
                    again_in,
                    attempts,
                    failure,
                )
            sinks.end(
                self._database,
                turn,
                sent,
                again_in=again_in,
                attempts=attempts,
                settled_after=self._settled_after,
            )
        except Exception:
            LOG.exception("the turn of an event sink broke off, and is taken again")

    def _send(self, turn: DueSink, found: Sequence[Pending]) -> tuple[list[Pending], str]:
        """Send events until one is not taken; return those that were, and what came in between."""
        if self._notify_all and turn.stack_id is not None and turn.spec == NOTIFY:
            return list(found), ""  # the operator's has them
        sent: list[Pending] = []
        of: dict[str, Stack | None] = {}
        until = time.monotonic() + WHILE
        try:
            with closing(self.types.make(turn.spec)) as sink:
                for each in found:
                    if self._stopped or time.monotonic() > until:
                        break
                    stack_id = each.event.stack_id
                    if stack_id not in of:
                        of[stack_id] = stacks.get(self._database, stack_id)
                    stack = of[stack_id]
                    if stack is not None:
                        sink.send(stack, each.event)
                    sent.append(each)
        except errors.Invalid as error:
            return sent, " ".join(reason for _, reason in error.problems)
        except errors.NotDelivered as error:
            return sent, str(error)
        except Exception as error:  # noqa: BLE001 - a plugin may raise anything
            return sent, sentence(f"{type(error).__name__}: {error}", secrets_of(turn.spec))
        return sent, ""


def _pause(attempts: int) -> float:
    """Return the seconds until a sink is tried again that failed so many times in a row."""
    if attempts == 0:
        return 0.0
    return min(FIRST_PAUSE * 2.0 ** min(attempts - 1, 20), MAX_PAUSE) * random.uniform(0.5, 1.0)
