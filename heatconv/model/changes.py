# SPDX-License-Identifier: Apache-2.0
"""How far somebody has read what happens: a cursor that no event can slip past.

Events are numbered when they are written and seen when their transaction has ended, so that one may
come to light below another that was seen before.  The cursor therefore tells which of the youngest were
seen: it cuts their numbers into spans, and has a digest of each.  A span with another digest than it had
holds an event that was late, and is read again as a whole.  The youngest span has one event, the others
twice as many as the one after them: what is late by a few events has few others read again with it, and
all who have seen the same have the same cursor.  What is *settled*, older than any transaction that can
be open, needs no span: nothing comes below it any more.

Old events are dropped, and none but those that are settled.  Up to which of them they may be gone is known:
who has a cursor with a floor below that may have missed some.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile
from typing import Self

from heatconv import errors

SPANS = 16  #: of a cursor, each twice as many events as the younger one after it

_VERSION = "1"
_LONGEST = 15  #: hexadecimal digits of a number: those that fit any database's integer


@dataclass(frozen=True)
class Numbered:
    """An event, by its number."""

    number: int
    settled: bool  #: every transaction that may have written an event before this one has ended


@dataclass(frozen=True)
class Present:
    """The events of a stack that there are, from a floor on, in order."""

    events: Sequence[Numbered]
    dropped: int = 0  #: up to this number events may be gone, which was settled; 0: none are


@dataclass(frozen=True)
class Span:
    """The numbers after those of the span before, up to ``last``, and which of them were seen."""

    last: int
    digest: str


@dataclass(frozen=True)
class Cursor:
    """What was seen of a stack; as a text it is for a client to keep and to send back."""

    floor: int  #: the number of an event up to which all was seen, be it gone or not; 0: there was none
    spans: tuple[Span, ...]
    key: int  #: the ``atomic_key`` that the stack had

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the cursor that a text stands for.

        Raises:
            BadRequest: none does.
        """
        version, _, rest = text.partition("-")
        try:
            floor, key, *spans = (rest if version == _VERSION else "").split("-")
            return cls(_number(floor), tuple(map(_span, spans)), _number(key))
        except ValueError:
            raise errors.BadRequest(
                f"'since' in the query has to be the cursor of an answer, not '{text[:100]}'."
            ) from None

    def __str__(self) -> str:
        spans = "".join(f"-{span.last:x}.{span.digest}" for span in self.spans)
        return f"{_VERSION}-{self.floor:x}-{self.key:x}{spans}"


def _span(text: str) -> Span:
    last, digest = text.split(".")
    return Span(_number(last), digest)


def _number(text: str) -> int:
    if len(text) > _LONGEST or not text.isalnum():  # which int() would take: a sign, blanks, underscores
        raise ValueError
    return int(text, 16)


@dataclass(frozen=True, kw_only=True)
class Difference:
    """What is new to somebody."""

    numbers: Sequence[int]  #: of the events; some of them may have been seen
    cursor: Cursor
    missed: bool = False  #: events may be gone that were not seen
    more: bool = False  #: there is more that is new: beyond the cursor


def all_seen(present: Present, key: int) -> Cursor:
    """Return the cursor of somebody who has seen all these events, or reads everything anew."""
    return _cursor(present.events, key, present.dropped)


def compare(cursor: Cursor, present: Present, key: int, *, limit: int) -> Difference:
    """Return what is new to somebody, ``limit`` events at most, by the events there are from its floor on.

    ``key`` is the stack's ``atomic_key``, read before them.
    """
    events, numbers = present.events, [each.number for each in present.events]
    # Nothing is noted of what an engine of the release before drops, nor of what goes with a nested stack:
    # the floor may be of that.
    is_floor_gone = present.dropped < cursor.floor and numbers[:1] != [cursor.floor]
    missed = present.dropped > cursor.floor or is_floor_gone
    fresh = list(_fresh(cursor, numbers))
    more = len(fresh) > limit
    if more:
        fresh = fresh[:limit]
        events = events[: bisect_right(numbers, fresh[-1])]
    return Difference(numbers=fresh, cursor=_cursor(events, key, cursor.floor), missed=missed, more=more)


def _fresh(cursor: Cursor, numbers: Sequence[int]) -> Iterator[int]:
    """Yield the numbers in spans in which there are others than were seen, and beyond all spans."""
    bounds = [cursor.floor, *(span.last for span in cursor.spans)]
    for span, (low, high) in zip(cursor.spans, pairwise(bounds), strict=True):
        inside = _between(numbers, low, high)
        if _digest(inside) != span.digest:
            yield from inside
    yield from numbers[bisect_right(numbers, bounds[-1]) :]


def _cursor(events: Sequence[Numbered], key: int, floor: int) -> Cursor:
    """Return the cursor of somebody who has seen all these events, and all up to a floor."""
    numbers = [each.number for each in events]
    floor = max([floor, *(each.number for each in takewhile(lambda each: each.settled, events))])
    above = numbers[bisect_right(numbers, floor) :]
    lasts = [above[-(1 << age)] for age in range(SPANS) if 1 << age <= len(above)]
    bounds = [floor, *reversed(lasts)]
    spans = (Span(high, _digest(_between(numbers, low, high))) for low, high in pairwise(bounds))
    return Cursor(floor, tuple(spans), key)


def _between(numbers: Sequence[int], low: int, high: int) -> Sequence[int]:
    return numbers[bisect_right(numbers, low) : bisect_right(numbers, high)]


def _digest(numbers: Sequence[int]) -> str:
    # Not for security: whoever makes one up misses nothing but what it could have read.
    return hashlib.blake2b(repr(list(numbers)).encode(), digest_size=6).hexdigest()
