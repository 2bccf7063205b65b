# SPDX-License-Identifier: Apache-2.0
"""The HTTP status behind an exception, whichever library raised it."""

from __future__ import annotations

from typing import Any


def http_status(error: Exception) -> int | None:
    """Return the HTTP status that an error carries, by the names that client libraries use."""
    for name in ("http_status", "status_code", "status", "code"):
        value = getattr(error, name, None)
        if isinstance(value, int):
            return value
    response: Any = getattr(error, "response", None)
    return getattr(response, "status_code", None)
