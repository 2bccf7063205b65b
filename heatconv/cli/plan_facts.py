# SPDX-License-Identifier: Apache-2.0
"""What a plan says of one resource, in lines: each change, and each reason.

A line is cut where it is too long to be read, and so is a list: the plan's JSON has all of it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from itertools import takewhile
from typing import Any

from heatconv.client.http import Json

_CHANGES, _REASONS, _STEPS = 20, 4, 6  #: how many are shown
_VALUE, _SENTENCE, _NAME = 72, 240, 80  #: characters that are
_NOTHING = "nothing"
_EQUAL = {True: "the same", False: "another", None: "another or the same"}
_LATER, _PARTLY_LATER = "(known later)", "(what is null is known later)"
_MAKING = {"create", "adopt"}  #: actions that have nothing before


class Kind(Enum):
    """What a line is about."""

    CHANGE = "change"
    PROBLEM = "problem"
    REASON = "reason"


@dataclass(frozen=True)
class Fact:
    """One line about a resource."""

    kind: Kind
    text: str


def facts(resource: Json, now: datetime) -> Iterator[Fact]:
    """Yield the lines about a resource, its changes first; the age of what was observed is as of ``now``."""
    changes, action = resource["changes"], resource["action"]
    for change in changes[:_CHANGES]:
        replaces = " (replaces)" if change["replaces"] else ""
        difference = _difference(change, now, new=action in _MAKING)
        yield Fact(Kind.CHANGE, f"{_property(change)}: {difference}{replaces}")
    if len(changes) > _CHANGES:
        yield Fact(Kind.CHANGE, f"and {len(changes) - _CHANGES:,} properties more")
    if resource["problem"]:
        yield Fact(Kind.PROBLEM, f"will fail: {plain(resource['problem'])}")
    # Those in the same stack are called by their names, as its template calls them.
    here = "".join(f"{name}/" for name in resource["path"][:-1])
    for start, sentences in (
        ("replaced since", resource["replaced_because"]),
        ("because", [f"{each['sentence']}{_way(each['via'], resource)}" for each in resource["because"]]),
        ("hangs on", [unknown["sentence"] for unknown in resource["hangs_on"]]),
        ("left behind:", [resource["left_behind"]] if resource["left_behind"] else []),
    ):
        for sentence in sentences[:_REASONS]:
            yield Fact(Kind.REASON, f"{start} {plain(sentence.replace(here, '') if here else sentence)}")


def property_names(resource: Json) -> tuple[str, ...]:
    """Return which properties of a resource change, as far as they are shown."""
    return tuple(_property(change) for change in resource["changes"][:_CHANGES])


def _way(via: list[list[str]], resource: Json) -> str:
    """Return by which way a change comes, from where it begins, if that is a long one.

    That it comes from what a resource is in need not be said: it is above it.
    """
    own = resource["path"]
    steps = ["/".join(path) for path in reversed(via) if path != own[: len(path)]]
    if len(steps) < 2:
        return ""
    if len(steps) > _STEPS:
        steps[_STEPS - 1 : -1] = ["..."]
    return f" (by way of {' > '.join(steps)})"


def place(path: Sequence[str]) -> str:
    """Return where a resource is, as one word."""
    return plain("/".join(path))


def plain(text: str, longest: int = _SENTENCE) -> str:
    """Return a text that does nothing to a terminal but be seen there, cut where it is too long."""
    cut = text if len(text) <= longest else f"{text[: longest - 1]}…"
    if cut.isprintable():
        return cut
    return "".join(each if each.isprintable() else json.dumps(each)[1:-1] for each in cut)


def lasting(seconds: float) -> str:
    """Return a time as one says it."""
    for unit, name in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= 2 * unit:
            return f"{round(seconds / unit)} {name}"
    return f"{max(round(seconds), 1)} s"


def _property(change: Json) -> str:
    return plain(str(change["path"]).removeprefix("properties."), _NAME)


def _difference(change: Json, now: datetime, *, new: bool) -> str:
    if change["hidden"]:
        return "(hidden)" if new else f"(hidden), {_EQUAL[change['equal']]}"
    after = _after(change)
    if new:
        return _shortened(after)
    befores = _befores(change["before"], now)
    if len(befores) > 1:
        return f"{', '.join(f'{_shortened(text)} {what}' for text, what in befores)} -> {_shortened(after)}"
    ((before, _),) = befores
    if change["equal"]:
        return f"{_shortened(before)}, the same"
    start = _start(before, after)
    return f"{_shortened(before, start)} -> {_shortened(after, start)}"


def _befores(before: Json, now: datetime) -> list[tuple[str, str]]:
    """Return what a property was made as; with what was wanted, and what was observed, where that differs."""
    made = _text(before["made"])
    found = [(made, "made")]
    if before["desired"] is not None and _text(before["desired"]) != made:
        found.insert(0, (_text(before["desired"]), "wanted"))
    if before["observed_at"] and _text(before["observed"]) != made:
        age = (now - datetime.fromisoformat(before["observed_at"])).total_seconds()
        found.append((_text(before["observed"]), f"observed {lasting(age)} ago"))
    return found


def _after(change: Json) -> str:
    if not change["unknown"]:
        return _text(change["after"])
    return _LATER if change["after"] is None else f"{_text(change['after'])} {_PARTLY_LATER}"


def _text(value: Any) -> str:
    return _NOTHING if value is None else json.dumps(value, ensure_ascii=False)


def _start(one: str, other: str) -> int:
    """Return where to begin to show two long texts, so that what differs is in sight."""
    if max(len(one), len(other)) <= _VALUE:
        return 0
    alike = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
    return max(alike - _VALUE // 3, 0)


def _shortened(text: str, start: int = 0) -> str:
    shown = text[start : start + _VALUE]
    return plain(f"{'…' if start else ''}{shown}{'…' if start + _VALUE < len(text) else ''}")
