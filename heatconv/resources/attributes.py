# SPDX-License-Identifier: Apache-2.0
"""The attributes of one resource: what it can tell once it is there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from heatconv.model.unknown import Unknown
from heatconv.resources import exception, support

SHOW_ATTR = "show"  #: every resource's attribute: all that its service tells


class Schema:
    """What a plugin declares of one attribute."""

    STRING, MAP, LIST, INTEGER, BOOLEAN = TYPES = ("String", "Map", "List", "Integer", "Boolean")
    CACHE_LOCAL, CACHE_NONE = CACHE_MODES = ("cache_local", "cache_none")

    def __init__(
        self,
        description: str | None = None,
        support_status: support.SupportStatus | None = None,
        cache_mode: str = CACHE_LOCAL,
        type: str | None = None,
    ) -> None:
        if type is not None and type not in self.TYPES:
            raise exception.InvalidSchemaError(
                message=f"{type!r} is not an attribute type; use one of {', '.join(self.TYPES)}."
            )
        self.description = description
        self.support_status = support_status or support.SupportStatus()
        self.cache_mode = cache_mode
        self.type = type

    def to_dict(self) -> dict[str, Any]:
        """Return the schema as ``/resource_types`` shows it."""
        shown: dict[str, Any] = {}
        if self.description is not None:
            shown["description"] = str(self.description)
        if self.type is not None:
            shown["type"] = self.type.lower()
        return shown


BASE_ATTRIBUTES: Mapping[str, Schema] = {
    SHOW_ATTR: Schema("Detailed information about resource.", cache_mode=Schema.CACHE_NONE, type=Schema.MAP)
}


class Attributes(Mapping[str, Any]):
    """A resource's attributes by name; a value is resolved when it is asked for.

    Values stay for as long as the object does unless their schema forbids it.
    """

    def __init__(self, res_name: str, schema: Mapping[str, Schema], resolver: Callable[[str], Any]) -> None:
        self._name = res_name
        self._schema = schema
        self._resolver = resolver
        self._resolved: dict[str, Any] = {}

    def __getitem__(self, key: str) -> Any:
        if key not in self._schema:
            raise exception.InvalidTemplateAttribute(resource=self._name, key=key)
        if key in self._resolved:
            return self._resolved[key]
        value = self._resolver(key)
        if value is not None and self._schema[key].cache_mode == Schema.CACHE_LOCAL:
            self._resolved[key] = value
        return value

    def __iter__(self) -> Iterator[str]:
        return iter(self._schema)

    def __len__(self) -> int:
        return len(self._schema)

    def __contains__(self, key: object) -> bool:
        return key in self._schema

    def reset_resolved_values(self) -> None:
        """Forget the values; the resource has changed."""
        self._resolved.clear()


def select_from_attribute(attribute_value: Any, path: Sequence[str | int]) -> Any:
    """Return the part of an attribute's value that a path leads to, or None if it leads nowhere.

    Inside of what is not known yet it leads to that.
    """
    value = attribute_value
    for element in path:
        if isinstance(value, Unknown):
            return value
        if isinstance(value, Mapping):
            value = value.get(element)
        elif isinstance(value, Sequence) and not isinstance(value, str):
            value = _item(value, element)
        else:
            return None
    return value


def plain(value: Any) -> Any:
    """Return an attribute's value as JSON can have it: what reads itself is read, the rest is text."""
    if value is None or isinstance(value, str | bool | int | float | Unknown):
        return value
    if isinstance(value, Mapping):
        return {str(key): plain(value[key]) for key in value}
    if isinstance(value, Iterable) and not isinstance(value, bytes):
        return [plain(item) for item in value]
    return str(value)


def _item(values: Sequence[Any], index: str | int) -> Any:
    try:
        return values[int(index)]
    except (ValueError, IndexError):
        return None
