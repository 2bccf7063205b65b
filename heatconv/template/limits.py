# SPDX-License-Identifier: Apache-2.0
"""How big things may get, and the measure of it.

A small template can describe a huge value (aliases, nested loops), so whatever
is loaded or produced is weighed: each item of a list or a map weighs 1, and so
do each 40 characters of text.  It can also describe much work that produces
little; that is counted by ``heatconv.model.work``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

MAX_TEXT_BYTES = 524_288  #: of a template or an environment, unless the caller says otherwise
MAX_DEPTH = 64  #: of nesting, in what users write and in what functions produce
MAX_NODES = 200_000  #: of a document with its aliases expanded
#: Where operators allow larger texts, data that has no aliases any more may have a node for so many.
BYTES_A_NODE = 4
MAX_WEIGHT = 100_000  #: of one value that a function produces: 100,000 items or 4 MB of text
MAX_TOTAL_WEIGHT = 2_000_000  #: of all values that functions produce or look up while freezing
TOO_MUCH_PRODUCED = (
    f"The functions of the template produce more than {MAX_TOTAL_WEIGHT} items or the like amount of text"
    " in all; make it smaller."
)
CHARACTERS_PER_UNIT = 40
CHARACTERS_SEARCHED_PER_UNIT = 500


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
