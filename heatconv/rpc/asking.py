# SPDX-License-Identifier: Apache-2.0
"""How engines are asked, by whoever does not want to notice that one has died or stopped.

An engine that has a call tells the caller at short intervals that it is alive
(``heatconv.rpc.pulse``).  When nothing is heard for a moment, the same is asked
again of whichever engine takes it, under the same id, by which engines know what
was done already.  When nothing has been heard for as long as anybody should have to
wait, that is the answer.  It counts from when whoever is waiting began to: a request
to the API may have waited for a thread, or for Keystone, and asked engines for
something before.  While engines do answer, a request that comes late to them is asked
for a while all the same.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import count
from typing import Any

import oslo_messaging

from heatconv import errors
from heatconv.metrics.declared import ENGINE_CALLS
from heatconv.model.ids import new_id
from heatconv.rpc import versions
from heatconv.rpc.asked import Asked
from heatconv.rpc.bus import ENGINE_TOPIC, Bus
from heatconv.rpc.context import RequestContext
from heatconv.rpc.endpoint import endpoints_of
from heatconv.rpc.engine_client import EngineClient
from heatconv.rpc.pulse import INTERVAL
from heatconv.rpc.serving import as_known

FIRST_PAUSE = 0.75  #: seconds without a sign of life after which another engine is asked
LATER_PAUSE = 1.5  #: the same, from the second time on
PATIENCE = 10.0  #: seconds in which somebody who waits hears from an engine, or waits no longer
SECOND_PATIENCE = 3.0  #: the same, from the last sign of life of an engine that was heard of and then no more
LATEST = 11.0  #: seconds after which nobody is begun with any more, whoever answers

_SINCE: ContextVar[float | None] = ContextVar("since", default=None)


@contextmanager
def waited_for_since(moment: float) -> Iterator[None]:
    """Let what this thread asks be what somebody waits for since a moment of ``time.monotonic``."""
    token = _SINCE.set(moment)
    try:
        yield
    finally:
        _SINCE.reset(token)


_CONTRACT = {each.name: each for each in endpoints_of(EngineClient)}


#: What an engine raised that did not understand, where it cannot say so in our words.
_REFUSALS = (oslo_messaging.NoSuchMethod.__name__, oslo_messaging.UnsupportedVersion.__name__)


class EngineCaller:
    """Calls engines; implements ``heatconv.rpc.endpoint.Caller``.  Safe between threads."""

    def __init__(self, bus: Bus) -> None:
        # A call that no engine could ever hear fails at once instead of timing out.
        heard = oslo_messaging.TransportOptions(at_least_once=True)
        self._client = bus.client(ENGINE_TOPIC).prepare(transport_options=heard)
        self._bus = bus
        self._longest = bus.response_timeout
        self._answered_at = -math.inf  # when any engine last answered

    def call(self, context: RequestContext, method: str, **arguments: Any) -> Any:
        """Call some engine and return its answer, asking again where none is heard of.

        Raises:
            UserError: what the engine refused, as it raised it.
            NotUnderstood: it says what some engine does not know yet; nothing is done.
            TransportError: no engine answered.
        """
        version = self._version(method, arguments)
        request_id, wait = new_id(), _Wait(self._longest, self._answered_at)
        if wait.is_over:
            raise errors.TransportError(
                reason=f"this waited for {wait.passed:.0f} s before an engine could be asked, "
                "and was not begun: try again"
            )
        for number in count(1):
            asked = Asked(request_id, time.time(), number, wait.left)
            pause = FIRST_PAUSE if number == 1 else LATER_PAUSE
            begun = time.monotonic()
            try:
                return self._ask(
                    asked.added_to(context.to_dict()),
                    method,
                    arguments,
                    version=version,
                    timeout=wait.left,
                    pause=pause,
                )
            except oslo_messaging.MessagingTimeout:
                wait.note_silence(begun, pause)
            if wait.is_over:
                break
        raise errors.TransportError(
            reason="no engine answered in time; what was asked for may be done: look before trying again"
        )

    def _version(self, method: str, arguments: Mapping[str, Any]) -> str:
        """Return the version that a call is sent as, once all engines that are up understand it.

        Raises:
            NotUnderstood: some do not.
        """
        declared = _CONTRACT.get(method)
        needed = versions.BASE if declared is None else declared.version(arguments)
        if needed == versions.BASE:
            return needed
        understood = self._bus.understood
        common = understood.of(ENGINE_TOPIC)
        if common is None:
            common = understood.note(ENGINE_TOPIC, [self._bus.ping(ENGINE_TOPIC)], versions.FRESH)
        if not versions.has(common, needed):
            raise errors.NotUnderstood(reason=f"{method}, asked for like this, needs version {needed}")
        return needed

    def _ask(
        self,
        context: dict[str, Any],
        method: str,
        arguments: Mapping[str, Any],
        *,
        version: str,
        timeout: float,
        pause: float,
    ) -> Any:
        """Ask once.

        Raises:
            MessagingTimeout: there was no answer for so long, or no sign of life for a pause.
        """
        client = self._client.prepare(timeout=timeout, call_monitor_timeout=pause, version=version)
        outcome = "failed"
        try:
            answer = client.call(context, method, **arguments)
            outcome = "answered"
        except oslo_messaging.MessagingTimeout:
            outcome = "silent"
            raise
        except errors.HeatconvError as error:
            outcome, self._answered_at = "refused", time.monotonic()
            if isinstance(error, errors.NotUnderstood):
                self._bus.understood.forget(ENGINE_TOPIC)  # it has come up again a moment ago
            raise as_known(error) from None
        except oslo_messaging.MessageUndeliverable as error:
            raise errors.TransportError(reason="no engine is running") from error
        except oslo_messaging.RemoteError as error:
            if error.exc_type not in _REFUSALS:
                raise errors.TransportError(reason=str(error).partition("\n")[0]) from error
            self._bus.understood.forget(ENGINE_TOPIC)
            raise errors.NotUnderstood(reason=error.value) from None
        except Exception as error:
            # What engines raise has been told apart; the rest is the driver's, and some of it comes
            # from below oslo.messaging, such as kombu's OperationalError where a reply was to be awaited.
            # The first line: what an engine raised has its traceback below, which is in that engine's log.
            raise errors.TransportError(reason=str(error).partition("\n")[0]) from error
        finally:
            ENGINE_CALLS.add(method=method, outcome=outcome)
        self._answered_at = time.monotonic()
        return answer


class _Wait:
    """Until when an answer is waited for; for one thread."""

    def __init__(self, longest: float, answered_at: float) -> None:
        """Begin.

        Args:
            longest: the seconds in which an engine that is alive has to answer.
            answered_at: when some engine last answered anybody.
        """
        now, since = time.monotonic(), _SINCE.get()
        self.passed = 0.0 if since is None else now - since  #: seconds that somebody has waited already
        self._end = now + longest
        self._patience = now - self.passed + PATIENCE
        if now - answered_at <= LATER_PAUSE and self.passed < LATEST:
            self._patience = max(self._patience, now + SECOND_PATIENCE)

    @property
    def left(self) -> float:
        """The seconds in which an engine that is alive has to answer."""
        return max(self._end - time.monotonic(), 0.0)

    @property
    def is_over(self) -> bool:
        """Whether nobody should wait any longer."""
        return time.monotonic() >= min(self._patience, self._end)

    def note_silence(self, begun: float, pause: float) -> None:
        """Note that nothing was heard for a pause; before that there were signs, if it has begun long ago."""
        heard_until = time.monotonic() - pause
        if heard_until > begun + INTERVAL:
            self._patience = max(self._patience, heard_until + SECOND_PATIENCE)
