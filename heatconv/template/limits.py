# SPDX-License-Identifier: Apache-2.0
"""How big things may get, and the measure of it.

A small template can describe a huge value (aliases, nested loops), so whatever
is loaded or produced is weighed: each item of a list or a map weighs 1, and so
do each 40 characters of text.
"""

from __future__ import annotations

from typing import Any

MAX_TEXT_BYTES = 524_288  #: of a template or an environment, unless the caller says otherwise
MAX_DEPTH = 64  #: of nesting, in what users write and in what functions produce
MAX_NODES = 200_000  #: of a document with its aliases expanded
MAX_WEIGHT = 100_000  #: of one value that a function produces: 100,000 items or 4 MB of text
MAX_TOTAL_WEIGHT = 2_000_000  #: of all values that functions produce or look up while freezing
CHARACTERS_PER_UNIT = 40


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
