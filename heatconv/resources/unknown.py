# SPDX-License-Identifier: Apache-2.0
"""Values that only run time can know, as a schema meets them during validation.

A definition's deferred calls are turned into ``Unknown`` before a schema looks
at it.  A resolved value may be a user's own map with a ``$fn`` key, so the two
have to differ by type and not by shape.
"""

from __future__ import annotations

from collections.abc import Collection
from enum import Enum
from typing import Any

from heatconv.model.deferred import CALL
from heatconv.model.definition import canonical


class Unknown:
    """A value that is not known yet; ``stand_in`` is a text to use for it, if it is to look like one."""

    __slots__ = ("stand_in",)

    def __init__(self, stand_in: str | None = None) -> None:
        self.stand_in = stand_in


class Seen(Enum):
    """Which of the texts that are not known yet look like one; the others are as if they were not given.

    Equal calls look like the same text.
    """

    ALL = "all"
    REFERENCES = "references"  #: another resource is seen by its name
    NONE = "none"


def as_unknown(value: Any, seen: Seen = Seen.ALL, guessed: Collection[str] = ()) -> Any:
    """Return a frozen value with its deferred calls as ``Unknown`` and its literals unwrapped.

    Args:
        value: the frozen value.
        seen: which of the texts that are not known yet look like one.
        guessed: texts in place of what is not known yet; what contains one of them is ``Unknown``.
    """
    if isinstance(value, dict):
        if CALL not in value:
            return {key: as_unknown(item, seen, guessed) for key, item in value.items()}
        if value[CALL] == "literal":
            return {key: as_unknown(item, seen, guessed) for key, item in value["args"]}
        return Unknown(_stand_in(value, seen))
    if isinstance(value, list):
        return [as_unknown(item, seen, guessed) for item in value]
    if guessed and isinstance(value, str) and any(text in value for text in guessed):
        return Unknown(value)
    return value


def _stand_in(deferred: dict[str, Any], seen: Seen) -> str | None:
    if deferred[CALL] == "get_resource":
        return None if seen is Seen.NONE else str(deferred["args"])
    return canonical(deferred) if seen is Seen.ALL else None


def contains_unknown(value: Any) -> bool:
    """Tell whether a value is, or anywhere contains, an ``Unknown``."""
    if isinstance(value, Unknown):
        return True
    if isinstance(value, dict):
        return any(contains_unknown(item) for item in value.values())
    return isinstance(value, list) and any(contains_unknown(item) for item in value)


def word(value: Any) -> str | None:
    """Return a value that stands for something as a text; None if it is not known."""
    if isinstance(value, Unknown):
        return value.stand_in
    return value if isinstance(value, str) else None
