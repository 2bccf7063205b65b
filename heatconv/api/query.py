# SPDX-License-Identifier: Apache-2.0
"""Query strings: typed reading, with a sentence for what cannot be read."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from heatconv import errors

_BOOLEANS = {"true": True, "false": False}


class Query:
    """The parameters of a query string; each may be given more than once."""

    def __init__(self, params: Mapping[str, str | list[str]]) -> None:
        self._params = {key: value if isinstance(value, list) else [value] for key, value in params.items()}

    def text(self, key: str) -> str | None:
        """Return the last value given, or None."""
        return self._params[key][-1] if self._params.get(key) else None

    def texts(self, key: str) -> list[str]:
        """Return every value given."""
        return list(self._params.get(key, ()))

    def names(self, key: str) -> list[str]:
        """Return every value given, those separated by commas apart."""
        return [name for value in self.texts(key) for name in value.split(",") if name]

    def boolean(self, key: str, *, default: bool = False) -> bool:
        """Return a truth value: ``true`` or ``false``, in any case."""
        value = self.text(key)
        if value is None:
            return default
        if value.lower() not in _BOOLEANS:
            raise errors.BadRequest(f"'{key}' in the query has to be 'true' or 'false', not '{value}'.")
        return _BOOLEANS[value.lower()]

    def number(self, key: str) -> int | None:
        """Return a whole number of zero or more, or None."""
        value = self.text(key)
        if value is None or value == "":
            return None
        # Ten digits and more do not fit a database's integer.
        if not (value.isascii() and value.isdigit() and len(value) < 10):
            raise errors.BadRequest(f"'{key}' in the query has to be a whole number, not '{value}'.")
        return int(value)

    def choice(self, key: str, choices: Collection[str]) -> str | None:
        """Return one of ``choices``, or None."""
        value = self.text(key)
        if value is not None and value not in choices:
            raise errors.BadRequest(
                f"'{key}' in the query has to be one of {', '.join(choices)}, not '{value}'."
            )
        return value

    def filters(self, names: Mapping[str, str]) -> dict[str, list[str]]:
        """Return the filters given: ``names`` maps a query key to the key asked for.

        A status may carry its action, as in ``CREATE_FAILED``.
        """
        found: dict[str, list[str]] = {}
        for key, name in names.items():
            for value in self.texts(key):
                action, joined, status = value.partition("_")
                if name == "status" and joined and value != "IN_PROGRESS":
                    found.setdefault("action", []).append(action)
                    found.setdefault("status", []).append(status)
                else:
                    found.setdefault(name, []).append(value)
        return found

    def refuse_others(self, known: Collection[str]) -> None:
        """Refuse a query with any other key than those known."""
        for key in self._params:
            if key not in known:
                raise errors.BadRequest(
                    f"'{key}' is not understood in the query; known are {', '.join(sorted(known))}."
                )
