# SPDX-License-Identifier: Apache-2.0
"""Which errors are the world's passing moods, and how long to wait for better ones.

A plugin may raise whatever its client library raises; what counts is what it
says, an HTTP status that asks to come back, or what it was raised because of: a
connection that failed, whatever a library makes of that.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

import requests
from urllib3.exceptions import NewConnectionError

from heatconv.model.states import Action
from heatconv.resources.clients.status import http_status

#: HTTP answers that say "not now".
PASSING = frozenset({408, 429, 500, 502, 503, 504})
CONFLICT = 409  #: of a delete: still in use, perhaps by something that is being deleted itself
TIMED_OUT, BUSY = 408, 503

FIRST_PAUSE, MAX_PAUSE = 0.5, 10.0  #: seconds
ENOUGH = 16  #: times after which pauses grow no more
MAX_ASKED = 300.0  #: seconds that a service is left alone at the most, whatever it asks for
SPREAD = 0.5  #: part of what a service asks for by which those that it asks come back apart

_BROKEN_OFF = (ConnectionError, TimeoutError, requests.ConnectionError, requests.Timeout)


def is_passing(error: Exception, action: Action) -> bool:
    """Tell whether the same call may well succeed a little later."""
    if isinstance(error, _BROKEN_OFF):
        return True
    status = http_status(error)
    if not status:  # some libraries have a zero for an answer that never came
        return any(isinstance(each, _BROKEN_OFF) for each in _causes(error))
    return status in PASSING or (status == CONFLICT and action is Action.DELETE)


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield what an error was raised because of, or in the course of, and what that was."""
    met = {id(error)}
    while (cause := error.__cause__ or error.__context__) is not None and id(cause) not in met:
        met.add(id(cause))
        yield cause
        error = cause


def is_refusal(error: Exception) -> bool:
    """Tell whether a service did not do what it was asked: it has said so, or was never reached."""
    status = http_status(error)
    if not status:
        return _was_refused(error)
    return status == BUSY or (400 <= status < 500 and status != TIMED_OUT)


def _was_refused(error: Exception) -> bool:
    """Tell whether no connection came about: then nothing was sent.

    The error nearest to us counts.  Errors before it are those of calls that came before, or what
    it was made of.
    """
    for each in (error, *_causes(error)):
        if isinstance(each, requests.ConnectTimeout | ConnectionRefusedError):
            return True
        if isinstance(each, requests.ConnectionError):
            reason = getattr(each.args[0], "reason", None) if each.args else None
            return isinstance(reason, NewConnectionError)
    return False


def pause(times: int, error: Exception | None = None) -> float:
    """Return the seconds to wait: what the service asks for, or a growing and uneven time.

    Of all that a service asks to come back, few come at once.
    """
    asked = _asked(error)
    if asked > 0:
        return min(asked, MAX_ASKED) * random.uniform(1, 1 + SPREAD)
    return min(FIRST_PAUSE * 2.0 ** min(times, ENOUGH), MAX_PAUSE) * random.uniform(0.5, 1.5)


def _asked(error: Exception | None) -> float:
    """Return the seconds that a service asks for; 0 if it does not."""
    asked = getattr(error, "retry_after", None)
    if not asked:
        headers = getattr(getattr(error, "response", None), "headers", None) or {}
        asked = headers.get("Retry-After")
    try:
        return float(asked or 0)
    except (TypeError, ValueError):
        return 0
