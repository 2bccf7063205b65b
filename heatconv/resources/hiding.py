# SPDX-License-Identifier: Apache-2.0
"""Keeps secrets out of a template that is made of values which have some: they become hidden parameters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any


class Hiding:
    """Secret texts, each with the name of the parameter that stands for it."""

    def __init__(self, secrets: Iterable[str]) -> None:
        # A secret may have another one inside.
        ordered = sorted({secret for secret in secrets if secret}, key=lambda text: (-len(text), text))
        self._names = {secret: f"secret_{number}" for number, secret in enumerate(ordered, 1)}

    def schemas(self) -> dict[str, Any]:
        """Return how the template declares the parameters."""
        return {name: {"type": "string", "hidden": True} for name in self._names.values()}

    def values(self) -> dict[str, str]:
        """Return the parameters' values."""
        return {name: secret for secret, name in self._names.items()}

    def without(self, value: Any) -> Any:
        """Return a value with a call of a function in place of each text that has a secret."""
        if isinstance(value, str):
            return self._without(value)
        if isinstance(value, Mapping):
            return {key: self.without(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.without(item) for item in value]
        return value

    def _without(self, text: str) -> Any:
        if text in self._names:
            return {"get_param": self._names[text]}
        parts: list[Any] = [text]
        for secret, name in self._names.items():
            parts = [piece for part in parts for piece in _parted(part, secret, name)]
        return {"list_join": ["", parts]} if len(parts) > 1 else text


def _parted(part: Any, secret: str, name: str) -> list[Any]:
    """Return a text in pieces, with a reference wherever it has the secret."""
    if not isinstance(part, str) or secret not in part:
        return [part]
    pieces: list[Any] = []
    for number, piece in enumerate(part.split(secret)):
        pieces += ([{"get_param": name}] if number else []) + ([piece] if piece else [])
    return pieces
