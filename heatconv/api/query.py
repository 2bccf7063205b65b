# SPDX-License-Identifier: Apache-2.0
"""Query strings: which keys there are, how each is read, and a sentence for what cannot be read."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from heatconv import errors
from heatconv.api.schemas import Schema

#: What a filter's values are collected under, see ``read``.
FILTERS = "filters"

#: What was seen already, see ``heatconv.api.handlers.changes``.
SINCE = "since"

#: Whether what is nested in a stack counts as of it.
NESTED = "nested"

#: How long a request may wait, see ``heatconv.api.watch``.
WAIT = "wait"

_BOOLEANS = {"true": True, "false": False}


@dataclass(frozen=True, kw_only=True)
class Key:
    """One key of a query string."""

    description: str
    schema: Schema  #: of one value, for those who read about it
    convert: Callable[[str, str], Any]  #: of the key and a value as it was sent; raises BadRequest
    many: bool = False  #: every value counts, not just the last
    default: Any = None
    filters: str = ""  #: what of a row has to be one of the values, as the engine names it


Keys = Mapping[str, Key]


def read(params: Mapping[str, str | list[str]], keys: Keys) -> dict[str, Any]:
    """Return the value of each key, and under ``filters`` the values of those that filter.

    Raises:
        BadRequest: a value cannot be read.
    """
    found: dict[str, Any] = {FILTERS: {}}
    for name, key in keys.items():
        given = params.get(name, [])
        values = [key.convert(name, value) for value in (given if isinstance(given, list) else [given])]
        if key.filters:
            if values:
                found[FILTERS].setdefault(key.filters, []).extend(values)
        elif key.many:
            found[name] = [value for several in values for value in several]
        else:
            found[name] = values[-1] if values else key.default
    return found


def refuse_others(params: Mapping[str, Any], keys: Keys) -> None:
    """Refuse a query with any other key than those known."""
    for name in params:
        if name not in keys:
            raise errors.BadRequest(
                f"'{name}' is not understood in the query; known are {', '.join(sorted(keys))}."
            )


# -- kinds of keys ---------------------------------------------------------------------


def text(description: str) -> Key:
    """Return a key whose last value counts."""
    return Key(description=description, schema={"type": "string"}, convert=_as_it_is)


def texts(description: str) -> Key:
    """Return a key that may be given more than once."""
    return Key(description=description, schema={"type": "string"}, convert=_alone, many=True)


def names(description: str) -> Key:
    """Return a key that may be given more than once, or once with commas."""
    return Key(description=description, schema={"type": "string"}, convert=_between_commas, many=True)


def flag(description: str, *, default: bool = False) -> Key:
    """Return a key that is ``true`` or ``false``, in any case."""
    return Key(description=description, schema={"type": "boolean"}, convert=_truth, default=default)


def number(description: str) -> Key:
    """Return a key that is a whole number of zero or more."""
    schema = {"type": "integer", "minimum": 0, "maximum": 10**_DIGITS - 1}
    return Key(description=description, schema=schema, convert=_number)


def choice(description: str, choices: Collection[str], *, default: str | None = None) -> Key:
    """Return a key that is one of ``choices``."""

    def convert(name: str, value: str) -> str:
        if value not in choices:
            known = ", ".join(choices)
            raise errors.BadRequest(f"'{name}' in the query has to be one of {known}, not '{value}'.")
        return value

    schema = {"type": "string", "enum": list(choices)}
    return Key(description=description, schema=schema, convert=convert, default=default)


def filtering(filters: str, kind: Callable[[str], Key] = text) -> Key:
    """Return a key that may be given more than once; ``filters`` of a row shown is one of the values."""
    key = kind(f"Only those whose {filters.replace('_', ' ')} is this, or one of these.")
    return Key(**{**key.__dict__, "filters": filters})


def waiting() -> Keys:
    """Return the key of what can be waited for."""
    return {
        WAIT: number(
            "Seconds to wait, at most, for the stack to change, while the answer is that in If-None-Match."
        )
    }


_DIGITS = 9  #: more do not fit a database's integer


def _as_it_is(_name: str, value: str) -> str:
    return value


def _alone(_name: str, value: str) -> list[str]:
    return [value]


def _between_commas(_name: str, value: str) -> list[str]:
    return [name for name in value.split(",") if name]


def _truth(name: str, value: str) -> bool:
    if value.lower() not in _BOOLEANS:
        raise errors.BadRequest(f"'{name}' in the query has to be 'true' or 'false', not '{value}'.")
    return _BOOLEANS[value.lower()]


def _number(name: str, value: str) -> int:
    if not (value.isascii() and value.isdigit() and len(value) <= _DIGITS):
        raise errors.BadRequest(
            f"'{name}' in the query has to be a whole number of at most {_DIGITS} digits, not '{value}'."
        )
    return int(value)
