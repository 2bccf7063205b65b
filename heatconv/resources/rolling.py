# SPDX-License-Identifier: Apache-2.0
"""In which order the members of a group are made, changed and removed.

A *roll* is what is left to do, as plain JSON, for it is the token of the
action.  Whoever goes on with it needs to know nothing else: a member that is
not ``later`` is as wanted, or is to be by now.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

Roll = dict[str, Any]  #: ``later``: batches of names; ``spare``: names; ``pause``; ``until``: of a pause


@dataclass(frozen=True, kw_only=True)
class Pace:
    """How much of a group may be away at once, and how long to pause between."""

    batch: int
    pause: float = 0
    in_service: int = 0


def at_once() -> Roll:
    """Return the roll that does everything in one go."""
    return {"later": [], "spare": [], "pause": 0, "until": None}


def plan(
    wanted: Sequence[str],
    present: Sequence[str],
    outdated: Collection[str],
    pace: Pace | None,
    more: Callable[[int], Sequence[str]],
) -> Roll:
    """Return the roll that brings a group from its present members to those wanted; its first step is due.

    Args:
        outdated: those of the present ones that have to change.
        pace: None is all at once.
        more: gives so many names that nobody has.
    """
    roll = at_once()
    kept = [name for name in wanted if name in outdated and name in present]
    if pace is None or not (kept or not present):
        return roll
    due = [name for name in wanted if name not in present] + kept
    batches = [due[first : first + pace.batch] for first in range(0, len(due), pace.batch)]
    # What is to go anyway stays in service until the others are done.
    surplus = [name for name in present if name not in wanted]
    away = min(pace.batch, len(kept))
    lacking = min(pace.in_service, len(wanted), len(present)) + away - len(present)
    extra = list(more(lacking)) if kept and lacking > 0 else []
    roll |= {"later": batches, "spare": surplus + extra, "pause": pace.pause}
    if not extra:
        advance(roll)
    return roll


def is_over(roll: Roll) -> bool:
    """Tell whether nothing is left to begin."""
    return not (roll["later"] or roll["spare"])


def advance(roll: Roll) -> None:
    """Let the next batch be due; after the last one, those that stood in go."""
    if roll["later"]:
        roll["later"] = roll["later"][1:]
    else:
        roll["spare"] = []


def waiting(roll: Roll) -> set[str]:
    """Return the names whose batch is not due."""
    return {name for batch in roll["later"] for name in batch}
