# SPDX-License-Identifier: Apache-2.0
"""What only run time can know, inside a frozen definition.

Freezing evaluates every template function but ``get_resource``, ``get_attr``
and whatever contains one of them.  Those stay as *deferred calls*, plain JSON:
``{"$fn": "get_attr", "args": ["server", "first_address"]}``.  A user's own map
that happens to have a ``$fn`` key is kept apart from a call by wrapping it in
a ``literal`` call whose args are its items.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

CALL = "$fn"  #: the key that marks a deferred call
FAILED = "failed"  #: the call that fails whenever it is made; its args are the sentence that says why
UNKNOWN = "unknown"  #: the call that gives what nobody knows yet; its args are an ``Unknown``'s JSON


@dataclass(frozen=True)
class Reference:
    """A definition's or an output's use of another resource.

    ``attribute`` is None for ``get_resource``.  ``path`` is the static part
    that follows an attribute's name; both are empty strings/tuples when all
    attributes are asked for (``get_attr: [name]``: attribute ``""``).
    """

    resource: str
    attribute: str | None = None
    path: tuple[str | int, ...] = ()

    @property
    def key(self) -> str:
        """The name under which the attribute's value travels."""
        return json.dumps([self.attribute, *self.path], separators=(",", ":"))


def call(function: str, args: Any) -> dict[str, Any]:
    """Return the deferred call of a function."""
    return {CALL: function, "args": args}


def is_deferred(value: Any) -> bool:
    """Tell whether a value is a deferred call (not whether it contains one)."""
    return isinstance(value, dict) and CALL in value


def contains_deferred(value: Any) -> bool:
    """Tell whether a value is, or anywhere contains, a deferred call."""
    if isinstance(value, dict):
        return CALL in value or any(contains_deferred(item) for item in value.values())
    return isinstance(value, list) and any(contains_deferred(item) for item in value)


def references(value: Any) -> Iterator[Reference]:
    """Yield every reference to a resource inside a frozen value."""
    if isinstance(value, list):
        for item in value:
            yield from references(item)
    elif isinstance(value, dict):
        if value.get(CALL) == "get_resource":
            yield Reference(value["args"])
        elif value.get(CALL) == "get_attr":
            name, *rest = value["args"]
            yield attribute_reference(name, rest)
            yield from references(rest)
        else:
            for item in value.values():
                yield from references(item)


def attribute_reference(name: str, rest: list[Any]) -> Reference:
    """Return the reference of ``get_attr: [name, *rest]``.

    A path is pushed only as far as it is static; the part from the first
    deferred element on is selected by whoever resolves the call.
    """
    attribute, *path = rest or [""]
    static: list[str | int] = []
    for element in path:
        if not isinstance(element, str | int):
            break
        static.append(element)
    return Reference(name, attribute, tuple(static))
