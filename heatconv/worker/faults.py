# SPDX-License-Identifier: Apache-2.0
"""Which errors are the world's passing moods, and how long to wait for better ones.

A plugin may raise whatever its client library raises; what counts is what it
says: a connection that failed, or an HTTP status that asks to come back.
"""

from __future__ import annotations

import random

import requests

from heatconv.model.states import Action
from heatconv.resources.clients.status import http_status

#: HTTP answers that say "not now".
PASSING = frozenset({408, 429, 500, 502, 503, 504})
CONFLICT = 409  #: of a delete: still in use, perhaps by something that is being deleted itself

FIRST_PAUSE, MAX_PAUSE = 0.5, 10.0  #: seconds
ENOUGH = 16  #: times after which pauses grow no more


def is_passing(error: Exception, action: Action) -> bool:
    """Tell whether the same call may well succeed a little later."""
    if isinstance(error, ConnectionError | TimeoutError | requests.ConnectionError | requests.Timeout):
        return True
    status = http_status(error)
    return status in PASSING or (status == CONFLICT and action is Action.DELETE)


def pause(times: int, error: Exception | None = None) -> float:
    """Return the seconds to wait: what the service asks for, or a growing and uneven time."""
    asked = getattr(error, "retry_after", None)
    if isinstance(asked, int | float) and asked > 0:
        return float(asked)
    return min(FIRST_PAUSE * 2.0 ** min(times, ENOUGH), MAX_PAUSE) * random.uniform(0.5, 1.5)
