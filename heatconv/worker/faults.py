# SPDX-License-Identifier: Apache-2.0
"""Which errors are the world's passing moods, and how long to wait for better ones.

A plugin may raise whatever its client library raises; what counts is what it
says, an HTTP status that asks to come back, or what it was raised because of: a
connection that failed, whatever a library makes of that.
"""

from __future__ import annotations

import random

import requests
from urllib3.exceptions import NewConnectionError

from heatconv.model.states import Action
from heatconv.resources.clients.status import causes, http_status, is_away

CONFLICT = 409  #: of a delete: still in use, perhaps by something that is being deleted itself
TIMED_OUT, BUSY = 408, 503

FIRST_PAUSE, MAX_PAUSE = 0.5, 10.0  #: seconds
ENOUGH = 16  #: times after which pauses grow no more
MAX_ASKED = 300.0  #: seconds that a service is left alone at the most, whatever it asks for
SPREAD = 0.5  #: part of what a service asks for by which those that it asks come back apart


def is_passing(error: Exception, action: Action) -> bool:
    """Tell whether the same call may well succeed a little later."""
    return is_away(error) or (http_status(error) == CONFLICT and action is Action.DELETE)


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
    for each in (error, *causes(error)):
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
