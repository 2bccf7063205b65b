# SPDX-License-Identifier: Apache-2.0
"""What an exception of a service's client tells, whichever library raised it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import requests

#: HTTP answers that say "not now".
PASSING = frozenset({408, 429, 500, 502, 503, 504})

_BROKEN_OFF = (ConnectionError, TimeoutError, requests.ConnectionError, requests.Timeout)


def http_status(error: Exception) -> int | None:
    """Return the HTTP status that an error carries, by the names that client libraries use."""
    for name in ("http_status", "status_code", "status", "code"):
        value = getattr(error, name, None)
        if isinstance(value, int):
            return value
    response: Any = getattr(error, "response", None)
    return getattr(response, "status_code", None)


def is_away(error: Exception) -> bool:
    """Tell whether a service did not answer, or said "not now": a little later it may answer."""
    if isinstance(error, _BROKEN_OFF):
        return True
    status = http_status(error)
    if not status:  # some libraries have a zero for an answer that never came
        return any(isinstance(each, _BROKEN_OFF) for each in causes(error))
    return status in PASSING


def causes(error: BaseException) -> Iterator[BaseException]:
    """Yield what an error was raised because of, or in the course of, and what that was."""
    met = {id(error)}
    while (cause := error.__cause__ or error.__context__) is not None and id(cause) not in met:
        met.add(id(cause))
        yield cause
        error = cause
