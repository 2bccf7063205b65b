# SPDX-License-Identifier: Apache-2.0
"""Values that only run time can know, as a schema meets them during validation.

A definition's deferred calls are turned into ``Unknown`` before a schema looks
at it.  A resolved value may be a user's own map with a ``$fn`` key, so the two
have to differ by type and not by shape.
"""

from __future__ import annotations

from typing import Any

from heatconv.model.deferred import CALL


class Unknown:
    """A value that is not known yet; ``stand_in`` is a text to use for it, if there is one."""

    __slots__ = ("stand_in",)

    def __init__(self, stand_in: str | None = None) -> None:
        self.stand_in = stand_in


def veil(value: Any) -> Any:
    """Return a frozen value with its deferred calls as ``Unknown`` and its literals unwrapped."""
    if isinstance(value, dict):
        if CALL not in value:
            return {key: veil(item) for key, item in value.items()}
        if value[CALL] == "literal":
            return {key: veil(item) for key, item in value["args"]}
        # A resource that does not exist yet is known by its name.
        return Unknown(str(value["args"]) if value[CALL] == "get_resource" else None)
    return [veil(item) for item in value] if isinstance(value, list) else value


def contains_unknown(value: Any) -> bool:
    """Tell whether a value is, or anywhere contains, an ``Unknown``."""
    if isinstance(value, Unknown):
        return True
    if isinstance(value, dict):
        return any(contains_unknown(item) for item in value.values())
    return isinstance(value, list) and any(contains_unknown(item) for item in value)
