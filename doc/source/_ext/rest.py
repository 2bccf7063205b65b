# SPDX-License-Identifier: Apache-2.0
"""What the calls of the REST API take, made from what their handlers declare."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from sphinx.application import Sphinx
from tables import Table

from heatconv.api.contract import Contract, contract_of
from heatconv.api.routes import ROUTES


class RestQueries(Table):
    """Each key of a query string, and which calls know it."""

    header = ("Call", "Key", "")
    widths = (3, 2, 5)

    def rows(self) -> Iterable[Sequence[str]]:
        """See Table."""
        declared = {call: contract.query for call, contract in _contracts() if contract.query}
        for calls, keys in _alike(declared):
            for first, (name, key) in _first(keys.items()):
                yield calls if first else "", f"``{name}``", key.description


class RestBodies(Table):
    """Each key of a request body, and which calls know it."""

    header = ("Call", "Key", "It has to be ...")
    widths = (3, 2, 5)

    def rows(self) -> Iterable[Sequence[str]]:
        """See Table."""
        declared = {call: contract.body for call, contract in _contracts() if contract.body}
        for calls, schema in _alike(declared):
            required = schema.get("required", ())
            for first, (name, inner) in _first(schema.get("properties", {"...": schema}).items()):
                text = inner.get("description", "")
                needed = f"{text} (required)" if name in required else text
                yield calls if first else "", f"``{name}``", needed


def _first(items: Iterable[Any]) -> Iterator[tuple[bool, Any]]:
    """Yield each of the items, with whether it is the first."""
    return ((index == 0, item) for index, item in enumerate(items))


def _contracts() -> Iterator[tuple[str, Contract]]:
    for path, handlers in ROUTES.items():
        for method, handler in handlers.items():
            yield f"``{method} {path}``", contract_of(handler)


def _alike(declared: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield each thing that is declared once, with all the calls that declare it."""
    calls: dict[str, list[str]] = {}
    for call, thing in declared.items():
        calls.setdefault(repr(thing), []).append(call)
    for names in calls.values():
        yield ", ".join(names), declared[names[0]]


def setup(app: Sphinx) -> dict[str, Any]:
    """Tell Sphinx of the directives."""
    app.add_directive("rest-queries", RestQueries)
    app.add_directive("rest-bodies", RestBodies)
    return {"parallel_read_safe": True}
