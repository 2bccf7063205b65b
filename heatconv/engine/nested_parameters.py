# SPDX-License-Identifier: Apache-2.0
"""What the templates inside a template take, as /validate tells it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from heatconv import errors, template
from heatconv.engine.nesting import loaded
from heatconv.engine.source import Source
from heatconv.model.definition import is_template

MOST = 1000  #: nested templates in one answer


def parameters(
    source: Source, taken: Mapping[str, Any], operator: Mapping[str, Any], budget: int = MOST
) -> dict[str, Any]:
    """Return what the templates inside a source take, by resource, as /validate tells it.

    ``taken``: what the source itself takes, as ``template.describe`` tells it.

    Raises:
        Invalid: one of them is no template.
        RequestLimitExceeded: there are more than ``budget``.
    """
    described, _ = _parameters(source, taken, operator, (), budget)
    return described


def _parameters(
    source: Source,
    taken: Mapping[str, Any],
    operator: Mapping[str, Any],
    around: tuple[str, ...],
    budget: int,
) -> tuple[dict[str, Any], int]:
    """Return the descriptions, and how many more there may be; no file is looked for inside itself."""
    by_resource: dict[str, Any] = {}
    given = template.plain_properties(source.template, _values(taken))
    for name, type_ in template.types_in(source.template, source.environment, operator):
        if not is_template(type_) or type_ not in source.files or type_ in around:
            continue
        if budget == 0:
            raise errors.RequestLimitExceeded(f"There are more than {MOST} nested templates.")
        inner = replace(
            source,
            template=loaded(source.files[type_]),
            environment=template.inherited(source.environment, name, type_),
        )
        described = _described(inner.template, inner.environment, given.get(name, {}))
        del described["Environment"]
        below, budget = _parameters(inner, described["Parameters"], operator, (*around, type_), budget - 1)
        by_resource[name] = {"Type": type_, **described} | ({"NestedParameters": below} if below else {})
    return by_resource, budget


def _described(
    inner: Mapping[str, Any], inherited: Mapping[str, Any], given: Mapping[str, Any]
) -> dict[str, Any]:
    """Return what a nested template takes, with the values that its owner gives it if it takes those."""
    described = template.describe(inner, {**inherited, "parameters": {}})
    values = {name: value for name, value in given.items() if name in described["Parameters"]}
    if not values:
        return described
    try:
        return template.describe(inner, {**inherited, "parameters": values})
    except errors.Invalid:
        return described  # whether they fit is for those who know all of them


def _values(taken: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of parameters that are known, and may be shown."""
    return {
        name: each.get("Value", each.get("Default"))
        for name, each in taken.items()
        if each["NoEcho"] == "false"
    }
