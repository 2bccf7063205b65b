# SPDX-License-Identifier: Apache-2.0
"""Plugins by name, of which some are imported when they are first asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from typing import Any, Self

Load = Callable[[], Any]  #: imports a plugin


class Promises(MutableMapping[str, Any]):
    """A map of which a value may be a promise: it is there by name, and loaded when somebody takes it.

    What is put in stays; a promise never takes its place.

    Concurrency: may be shared; two threads that take a promise at once load it twice, to the same end.
    """

    def __init__(self, kept: Mapping[str, Any] | None = None) -> None:
        self._kept = dict(kept or {})
        self._promised: dict[str, Load] = {}

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Self:
        """Return a map as one that may hold promises; itself, if it may already."""
        return given if isinstance(given, cls) else cls(given)

    def promise(self, loads: Mapping[str, Load]) -> None:
        """Add what is to be loaded later, by name."""
        self._promised.update(loads)

    def kept(self) -> Iterable[Any]:
        """Return the values that are there, promises left alone."""
        return list(self._kept.values())

    def __getitem__(self, name: str) -> Any:
        if name not in self._kept:
            self._kept[name] = self._promised[name]()
        return self._kept[name]

    def __setitem__(self, name: str, value: Any) -> None:
        self._kept[name] = value

    def __delitem__(self, name: str) -> None:
        known = self._kept.pop(name, None), self._promised.pop(name, None)
        if known == (None, None):
            raise KeyError(name)

    def __contains__(self, name: object) -> bool:
        return name in self._kept or name in self._promised

    def __iter__(self) -> Iterator[str]:
        return iter({**self._promised, **self._kept})

    def __len__(self) -> int:
        return len(self._promised.keys() | self._kept.keys())
