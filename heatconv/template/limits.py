# SPDX-License-Identifier: Apache-2.0
"""How big things may get, and the measure of it.

A small template can describe a huge value (aliases, nested loops), so whatever
is loaded or produced is weighed: each item of a list or a map weighs 1, and so
do each 40 characters of text.  It can also describe much work that produces
little (searches, patterns, queries), so that is counted too, in units of about
a microsecond.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

MAX_TEXT_BYTES = 524_288  #: of a template or an environment, unless the caller says otherwise
MAX_DEPTH = 64  #: of nesting, in what users write and in what functions produce
MAX_NODES = 200_000  #: of a document with its aliases expanded
#: Where operators allow larger texts, data that has no aliases any more may have a node for so many.
BYTES_A_NODE = 4
MAX_WEIGHT = 100_000  #: of one value that a function produces: 100,000 items or 4 MB of text
MAX_TOTAL_WEIGHT = 2_000_000  #: of all values that functions produce or look up while freezing
CHARACTERS_PER_UNIT = 40
MAX_WORK = 5_000_000  #: for all that is evaluated together
CHARACTERS_SEARCHED_PER_UNIT = 500
TOO_MUCH_WORK = "The template takes too much work to evaluate; make it simpler."


@dataclass
class YaqlLimits:
    """What a query may do; whoever composes a process sets it before the first query."""

    iterators: int = 200  #: items of any collection in it; calls of functions, 100 times as many
    memory: int = 10_000  #: bytes of any value in it


YAQL = YaqlLimits()


def weight_of(value: Any, limit: int = MAX_WEIGHT) -> int:
    """Return the weight of a value; one over ``limit``, or nested too deep, just weighs more than that."""
    weight = 0
    level = [value]
    for _depth in range(MAX_DEPTH + 1):
        inner: list[Any] = []
        for item in level:
            if isinstance(item, str):
                weight += len(item) // CHARACTERS_PER_UNIT
            elif isinstance(item, dict):
                weight += sum(map(len, item)) // CHARACTERS_PER_UNIT
                inner.extend(item.values())
            elif isinstance(item, list):
                inner.extend(item)
        weight += len(level)
        if not inner or weight + len(inner) > limit:
            return weight + len(inner)
        level = inner
    return limit + 1


class _Budget:
    def __init__(self) -> None:
        self.left = MAX_WORK


_BUDGET: ContextVar[_Budget | None] = ContextVar("work", default=None)


@contextmanager
def bounded_work() -> Iterator[None]:
    """Bound the work of what is evaluated in a ``with`` block (or a decorated function), by this thread."""
    token = _BUDGET.set(_Budget())
    try:
        yield
    finally:
        _BUDGET.reset(token)


def may_work(units: int) -> bool:
    """Take units from the bound around, and tell whether they were there; without a bound they are."""
    budget = _BUDGET.get()
    if budget is None:
        return True
    budget.left -= units
    return budget.left >= 0


def work_done() -> int:
    """Return the units that were taken from the bound around so far."""
    budget = _BUDGET.get()
    return 0 if budget is None else MAX_WORK - budget.left
