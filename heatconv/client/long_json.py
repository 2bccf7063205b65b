# SPDX-License-Identifier: Apache-2.0
"""Reading JSON that has one long list in it, item by item, as it arrives.

A plan of a hundred thousand resources is a hundred megabytes: whoever reads it wants to keep
what the resources have in common, not each of them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any

_SPACE = " \t\n\r"
_ENDS = tuple(f"{_SPACE},:]}}")


def read(pieces: Iterable[str], path: Sequence[str], each: Callable[[Any], None]) -> dict[str, Any]:
    """Return a JSON object without the list that ``path`` leads to, whose items are given to ``each``.

    Args:
        pieces: the text, cut anywhere.
        path: the keys that lead from the outermost object to the list; it need not be there.
        each: called with every item, in order.

    Raises:
        json.JSONDecodeError: the text is no JSON, or no object, or there is something else at ``path``.
    """
    return _Text(pieces).read_object(path, each)


class _Text:
    """Text of which no more is held than the value that is being read needs."""

    def __init__(self, pieces: Iterable[str]) -> None:
        self._pieces = iter(pieces)
        self._held = ""
        self._at = 0
        self._decoder = json.JSONDecoder()

    def read_object(self, path: Sequence[str], each: Callable[[Any], None]) -> dict[str, Any]:
        """Return the object that comes next; see ``read``."""
        found: dict[str, Any] = {}
        self._take("{")
        if self._next() == "}":
            self._take("}")
            return found
        while True:
            key = self._value()
            self._take(":")
            if key != path[0]:
                found[key] = self._value()
            elif len(path) > 1:
                found[key] = self.read_object(path[1:], each)
            else:
                self._read_list(each)
            if self._take(",}") == "}":
                return found

    def _read_list(self, each: Callable[[Any], None]) -> None:
        self._take("[")
        if self._next() == "]":
            self._take("]")
            return
        while True:
            each(self._value())
            if self._take(",]") == "]":
                return

    def _value(self) -> Any:
        """Return the value that comes next."""
        self._next()
        while True:
            try:
                value, end = self._decoder.raw_decode(self._held, self._at)
            except json.JSONDecodeError:
                if not self._fill():
                    raise
                continue
            # What ends where nothing has to end may be the beginning of a number: 12, or 1e of 1e5.
            if self._held[end : end + 1] not in _ENDS and self._fill():
                continue
            self._at = end
            return value

    def _take(self, expected: str) -> str:
        """Return the character that comes next, which has to be one of those expected."""
        found = self._next()
        if not found or found not in expected:
            raise json.JSONDecodeError(f"Expecting one of {expected}", self._held, self._at)
        self._at += 1
        return found

    def _next(self) -> str:
        """Return the next character that is no space, without taking it; nothing, at the end."""
        while True:
            while self._at < len(self._held):
                if self._held[self._at] not in _SPACE:
                    return self._held[self._at]
                self._at += 1
            if not self._fill():
                return ""

    def _fill(self) -> bool:
        """Hold more, twice as much as is not read yet; return whether there was any."""
        rest = self._held[self._at :]
        more: list[str] = []
        size = 0
        for piece in self._pieces:
            more.append(piece)
            size += len(piece)
            if size > len(rest):
                break
        self._held, self._at = "".join([rest, *more]), 0
        return size > 0
