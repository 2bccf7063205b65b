# SPDX-License-Identifier: Apache-2.0
"""How a template's values become those of a property type.

Templates are YAML, parameters are text: ``"3"`` is as good an integer as
``3``.  ``allow_conversion`` additionally lets text stand for maps and lists
and the other way round.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any


def to_string(value: Any, convert: bool) -> str:
    """Return a text, of a number or boolean too."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool | int | float):
        return str(value)
    if convert and isinstance(value, Mapping | Sequence):
        return json.dumps(value)
    raise ValueError(f"Value must be a string; got {value!r}")


def to_integer(value: Any, _convert: bool) -> int:
    """Return an integer, of its text too; a fraction is no integer."""
    try:
        number = int(value)
    except (ValueError, TypeError, OverflowError):
        raise TypeError(f"Value '{value}' is not an integer") from None
    if isinstance(value, float) and number != value:
        raise TypeError(f"Value '{value}' is not an integer")
    return number


def to_number(value: Any, _convert: bool) -> float:
    """Return an int or a float, of its text too; what is infinite is no number."""
    if isinstance(value, int):
        return value
    try:
        return int(value) if isinstance(value, str) else _finite(value)
    except (ValueError, TypeError):
        pass
    try:
        return _finite(value)
    except (ValueError, TypeError):
        raise TypeError(f"Value '{value}' is not a number") from None


def _finite(value: Any) -> float:
    number = float(value)
    if not math.isfinite(number):
        raise ValueError(value)
    return number


def to_boolean(value: Any, _convert: bool) -> bool:
    """Return a boolean, of ``true`` and ``false`` in any case too."""
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.lower() in {"true", "false"}:
        return value.lower() == "true"
    raise TypeError(f'"{value}" is not a valid boolean')


def to_map(value: Any, convert: bool) -> Mapping[str, Any]:
    """Return a map, of its JSON text too if conversion is allowed."""
    if convert and isinstance(value, str):
        value = _parsed(value)
    if not isinstance(value, Mapping):
        raise TypeError(f'"{value}" is not a map')
    return value


def to_list(value: Any, convert: bool) -> list[Any]:
    """Return a list, of a comma separated text too if conversion is allowed."""
    if convert and isinstance(value, str):
        return [item.strip() for item in value.split(",")] if value else []
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise TypeError(f'"{value}" is not a list')
    return list(value)


def to_any(value: Any, _convert: bool) -> Any:
    """Return the value as it is."""
    return value


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


CONVERTERS: Mapping[str, Callable[[Any, bool], Any]] = {
    "String": to_string,
    "Integer": to_integer,
    "Number": to_number,
    "Boolean": to_boolean,
    "Map": to_map,
    "List": to_list,
    "Any": to_any,
}

#: What a required value that is not known yet looks like to a plugin.
EMPTY: Mapping[str, Callable[[], Any]] = {
    "String": str,
    "Integer": int,
    "Number": int,
    "Boolean": bool,
    "Map": dict,
    "List": list,
    "Any": str,
}
