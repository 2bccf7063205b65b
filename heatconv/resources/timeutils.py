# SPDX-License-Identifier: Apache-2.0
"""Times as templates and services write them."""

from __future__ import annotations

import re
from datetime import UTC, datetime

_DURATION = re.compile(r"PT(?=\d)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?")


def parse_isoduration(duration: str) -> int:
    """Return the seconds of an ISO 8601 duration of hours, minutes and seconds, such as ``PT1H30M``.

    Raises:
        ValueError: it is none.
    """
    found = _DURATION.fullmatch(duration)
    if found is None:
        raise ValueError(f"{duration!r} is no duration such as PT1H30M5S")
    hours, minutes, seconds = (int(part or 0) for part in found.groups())
    return (hours * 60 + minutes) * 60 + seconds


def isotime(at: datetime | None = None) -> str:
    """Return a time, by default now, in UTC to the second: ``2026-11-21T06:00:00Z``."""
    return (at or datetime.now(UTC)).strftime("%Y-%m-%dT%H:%M:%SZ")
