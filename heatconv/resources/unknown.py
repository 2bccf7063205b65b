# SPDX-License-Identifier: Apache-2.0
"""Values that only run time can know, as a schema meets them during validation.

A definition's deferred calls are turned into ``StandIn`` before a schema looks
at it.  A resolved value may be a user's own map with a ``$fn`` key, so the two
have to differ by type and not by shape.
"""

from __future__ import annotations

from enum import Enum
from typing import Any

from heatconv.model.deferred import CALL
from heatconv.model.definition import canonical
from heatconv.model.unknown import Unknown


class StandIn(Unknown):
    """A value that is not known yet, for a plugin that validates to see something in its place.

    ``text`` is what to use for it, if it is to look like one.
    """

    __slots__ = ("text",)

    def __init__(self, text: str | None = None) -> None:
        super().__init__()
        self.text = text


class Seen(Enum):
    """Which of the texts that are not known yet look like one; the others are as if they were not given.

    Equal calls look like the same text.
    """

    ALL = "all"
    REFERENCES = "references"  #: another resource is seen by its name
    NONE = "none"


def as_unknown(value: Any, seen: Seen = Seen.ALL) -> Any:
    """Return a frozen value with its deferred calls as ``StandIn`` and its literals unwrapped.

    Args:
        value: the frozen value.
        seen: which of the texts that are not known yet look like one.
    """
    if isinstance(value, dict):
        if CALL not in value:
            return {key: as_unknown(item, seen) for key, item in value.items()}
        if value[CALL] == "literal":
            return {key: as_unknown(item, seen) for key, item in value["args"]}
        return StandIn(_text_for(value, seen))
    if isinstance(value, list):
        return [as_unknown(item, seen) for item in value]
    return value


def _text_for(deferred: dict[str, Any], seen: Seen) -> str | None:
    if deferred[CALL] == "get_resource":
        return None if seen is Seen.NONE else str(deferred["args"])
    return canonical(deferred) if seen is Seen.ALL else None


def word(value: Any) -> str | None:
    """Return a value that stands for something as a text; None if it is not known."""
    if isinstance(value, StandIn):
        return value.text
    return value if isinstance(value, str) else None
