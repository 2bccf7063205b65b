# SPDX-License-Identifier: Apache-2.0
"""The properties of one resource: given values seen through their schemas.

A mapping over *all* properties of the schema: converted values, defaults for
those not given, None for those without.  ``data`` keeps what was given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from heatconv.resources import exception
from heatconv.resources.schema import Problem, Schema, map_problems

__all__ = ["Properties", "Schema"]


class Properties(Mapping[str, Any]):
    """A resource's properties by name.

    ``parent_name`` and ``section`` are where mistakes are said to be.
    """

    def __init__(
        self,
        schema: Mapping[str, Schema],
        data: Mapping[str, Any] | None,
        resolver: Callable[[Any], Any] | None = None,
        parent_name: str | None = None,
        context: Any = None,
        section: str | None = None,
    ) -> None:
        self.props = schema
        self.data: Mapping[str, Any] = data or {}
        self.context = context
        self._resolve = resolver
        self._path = ".".join(part for part in (parent_name, section) if part)

    def __getitem__(self, key: str) -> Any:
        value = self.get_user_value(key)
        if value is not None:
            return value
        schema = self.props[key]
        if schema.required and key not in self.data:
            raise ValueError(f"Property {key} not assigned")
        return schema.value(None)

    def get_user_value(self, key: str) -> Any:
        """Return a property's value as the user gave it, converted; None if the user did not.

        Raises:
            KeyError: there is no such property.
            ValueError, TypeError: the value is not of the property's type.
        """
        if key not in self.props:
            raise KeyError(f"{self._path}: Invalid Property {key}")
        given = self._given(key)
        if given is None:
            return None
        try:
            return self.props[key].value(given)
        except (ValueError, TypeError) as error:
            raise type(error)(f"{self._path}.{key}: {error}") from error

    def _given(self, key: str) -> Any:
        given = self.data.get(key)
        return given if self._resolve is None or given is None else self._resolve(given)

    def __iter__(self) -> Iterator[str]:
        return iter(self.props)

    def __len__(self) -> int:
        return len(self.props)

    def __contains__(self, key: object) -> bool:
        return key in self.props

    def problems(self) -> Iterator[Problem]:
        """Yield every mistake as its path and a sentence."""
        given = {key: self._given(key) for key in self.data} if self._resolve else self.data
        return map_problems(self.props, given, self._path, self.context)

    def validate(self, with_value: bool = True) -> None:
        """Accept the properties.

        Raises:
            StackValidationFailed: the first mistake; ``problems`` has them all.
            NotJudged: a service that knows does not answer.
        """
        problems = list(self.problems())
        if problems:
            path, sentence = problems[0]
            failure = exception.StackValidationFailed(error="Property error", path=path, message=sentence)
            failure.problems = problems
            raise failure
