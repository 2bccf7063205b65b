# SPDX-License-Identifier: Apache-2.0
"""The reference of a plan's JSON, made from its schema; and the schema itself, as a file beside the pages."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from tables import Table

from heatconv.api.openapi import published
from heatconv.api.schemas.plan_document import PLAN, VERSION

FILE = f"plan-{VERSION}.schema.json"

#: Places that have the same keys as the first of them, which is where they are listed.
_ALIKE = "summary.create"


class PlanKeys(Table):
    """Each key of a plan, at any depth."""

    header = ("Key", "Value", "")
    widths = (4, 3, 6)

    def rows(self) -> Iterable[Sequence[str]]:
        """See Table."""
        yield from _rows(PLAN, "")


def _rows(schema: Mapping[str, Any], above: str) -> Iterator[Sequence[str]]:
    for name, inner in schema["properties"].items():
        key = f"{above}{name}"
        yield f"``{key}``", _type(inner), f"{inner['description'][:1].upper()}{inner['description'][1:]}."
        item, dots = _inside(inner)
        if "properties" in item and not (above == "summary." and key != _ALIKE):
            yield from _rows(item, f"{key}{dots}.")


def _inside(schema: Mapping[str, Any]) -> tuple[Mapping[str, Any], str]:
    """Return what has the keys: the schema, the one it has for what is not null, or that of its items."""
    if "items" in schema:
        return schema["items"], "[]"
    return next((each for each in schema.get("anyOf", ()) if "properties" in each), schema), ""


def _type(schema: Mapping[str, Any]) -> str:
    if "enum" in schema:
        return ", ".join(f"``{value}``" for value in schema["enum"])
    if "anyOf" in schema:
        return " or ".join(_type(each) for each in schema["anyOf"])
    if "items" in schema:
        return f"list of {_type(schema['items'])}s" if "items" not in schema["items"] else "list of paths"
    found = schema.get("type", "any")
    names = [found] if isinstance(found, str) else found
    return " or ".join("time" if schema.get("format") else name for name in names)


def _write_schema(app: Sphinx, problem: Exception | None) -> None:
    """Put the schema beside the pages."""
    if problem is None and app.builder.format == "html":
        text = json.dumps(published(PLAN), indent=2) + "\n"
        Path(app.outdir, FILE).write_text(text)


def setup(app: Sphinx) -> dict[str, Any]:
    """Tell Sphinx of the directive, and have the schema written."""
    app.add_directive("plan-keys", PlanKeys)
    app.connect("build-finished", _write_schema)
    return {"parallel_read_safe": True}
