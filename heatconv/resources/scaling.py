# SPDX-License-Identifier: Apache-2.0
"""How many members a group that is scaled is to have, and when it may be scaled again."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from heatconv.model.definition import canonical

ADJUSTMENT_TYPES = (EXACT_CAPACITY, CHANGE_IN_CAPACITY, PERCENT_CHANGE_IN_CAPACITY) = (
    "exact_capacity",
    "change_in_capacity",
    "percent_change_in_capacity",
)

LONGEST_COOLDOWN = 10 * 365 * 86_400  #: seconds; a calendar ends

IN_PROGRESS = "scaling_in_progress"  #: among a group's metadata, for those who know Heat's
DECIDED = "decided_for"  #: among a group's metadata: which properties its size was last decided for
COOLDOWN_END = "cooldown_end"  #: among a group's metadata: the instant, and why there is a cooldown


def new_capacity(
    current: int, adjustment: float, adjustment_type: str, min_step: int | None, bounds: tuple[int, int]
) -> int:
    """Return what an adjustment makes of a capacity, within the bounds.

    A percentage changes it by a whole number: by one at least, and else by what
    is full of it, but not by less than ``min_step``.
    """
    match adjustment_type:
        case "exact_capacity":
            wanted = int(adjustment)
        case "change_in_capacity":
            wanted = current + int(adjustment)
        case _:
            wanted = current + _step(current * adjustment / 100, min_step or 1)
    lower, upper = bounds
    return max(lower, min(wanted, upper))


def _step(change: float, least: int) -> int:
    if change == 0:
        return 0
    return int(math.copysign(max(abs(math.trunc(change)), least), change))


def decision(properties: Any) -> str:
    """Return what tells the properties that a size is decided for, secrets hidden, from others."""
    return hashlib.sha1(canonical(properties).encode(), usedforsecurity=False).hexdigest()


def cools_down(metadata: Mapping[str, Any], now: datetime | None = None) -> bool:
    """Tell whether a group must not be scaled yet."""
    ends = metadata.get(COOLDOWN_END) or {}
    return any((now or datetime.now(UTC)) < _instant(end) for end in ends)


def cooldown(seconds: float | None, reason: str, now: datetime | None = None) -> dict[str, Any]:
    """Return the metadata of a group that was scaled just now."""
    end = (now or datetime.now(UTC)) + timedelta(seconds=min(max(seconds or 0, 0), LONGEST_COOLDOWN))
    return {COOLDOWN_END: {end.replace(tzinfo=None).isoformat(): reason}, IN_PROGRESS: False}


def _instant(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)
