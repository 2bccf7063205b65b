# SPDX-License-Identifier: Apache-2.0
"""What a YAQL query has done so far and what it has made, counted and bounded.

The limits are those that ``limits.YAQL`` has when this module is first imported.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from heatconv.model.work import may_work
from heatconv.template.limits import (
    CHARACTERS_PER_UNIT,
    MAX_DEPTH,
    MAX_WEIGHT,
    YAQL,
)

LIMIT_ITERATORS = YAQL.iterators
MEMORY_QUOTA = YAQL.memory
_MAX_CALLS = 100 * LIMIT_ITERATORS
_MAX_ITEMS = 50 * _MAX_CALLS  # in all lists and maps of a query, each counted once
_MAX_TEXT = 4000 * MEMORY_QUOTA  # characters of all its texts
_MAX_LEVELS = 2 * MAX_DEPTH  # what a function may give, around what it is given
_WORK_PER_CALL = 100
_ITEMS_PER_UNIT = 50  # of a value that is looked at as a whole
_CONTAINERS = (tuple, list, set, frozenset, Mapping)


class EndlessQueryError(Exception):
    """A query takes too much work; never leaves this package."""


class Query:
    """What a query has done so far, and what it has made."""

    def __init__(self, most: int = MAX_WEIGHT) -> None:
        self._calls = _MAX_CALLS
        self._items = _MAX_ITEMS
        self._text = _MAX_TEXT
        self._most = most
        self._known: dict[int, tuple[Any, int, int]] = {}  # with each value, so that no other gets its id

    def count(self) -> None:
        """Count a call.

        Raises:
            EndlessQueryError: it is one too many.
        """
        self._calls -= 1
        if self._calls < 0:
            raise EndlessQueryError(f"it makes more than {_MAX_CALLS} calls")
        work(_WORK_PER_CALL)

    def take(self, value: Any) -> None:
        """Count what a call gave.

        Raises:
            EndlessQueryError: it is too big, or all of them are.
        """
        if isinstance(value, str):
            self._text -= len(value)
            if self._text < 0:
                raise EndlessQueryError(f"its texts have more than {_MAX_TEXT} characters together")
        elif isinstance(value, _CONTAINERS):
            weight, _height = self.measure(value)
            work(weight // _ITEMS_PER_UNIT)

    def measure(self, value: Any) -> tuple[int, int]:
        """Return the weight of a value as it is written out, see ``limits``, and its levels of nesting.

        Raises:
            EndlessQueryError: it is too big.
        """
        if not isinstance(value, _CONTAINERS):
            return 1 + (len(value) // CHARACTERS_PER_UNIT if isinstance(value, str) else 0), 0
        if id(value) in self._known:
            return self._known[id(value)][1:]
        self._items -= len(value)
        if self._items < 0:
            raise EndlessQueryError(f"its lists and maps have more than {_MAX_ITEMS} items together")
        weight, height = 1, 0
        items: Iterable[Any] = value
        if isinstance(value, Mapping):
            items = value.values()
            weight += sum(self.measure(key)[0] - 1 for key in value)
        for item in items:
            more, levels = self.measure(item)
            weight, height = weight + more, max(height, levels + 1)
            if weight > self._most or height > _MAX_LEVELS:
                raise EndlessQueryError("one of its values gets too big, or has too many levels of nesting")
        self._known[id(value)] = (value, weight, height)
        return weight, height


def work(units: int) -> None:
    """Take units of work from the bound around.

    Raises:
        EndlessQueryError: there are no more.
    """
    if not may_work(units):
        raise EndlessQueryError("the template takes too much work to evaluate")
