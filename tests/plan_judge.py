# SPDX-License-Identifier: Apache-2.0
"""Holds plans against the schema that is published of them."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import jsonschema

from heatconv.api.openapi import published
from heatconv.api.schemas.plan_document import PLAN

FORMATS = jsonschema.FormatChecker(())


@FORMATS.checks("date-time", ValueError)
def is_time(text: object) -> bool:
    return not isinstance(text, str) or datetime.fromisoformat(text).tzinfo is not None


def _closed(schema: Any) -> Any:
    """Return a schema that knows no other keys: whoever adds one has to publish it."""
    if isinstance(schema, list):
        return [_closed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    more = {"additionalProperties": False} if isinstance(schema.get("properties"), dict) else {}
    return {key: _closed(value) for key, value in schema.items()} | more


_JUDGES = [
    jsonschema.Draft202012Validator(each, format_checker=FORMATS)
    for each in (published(PLAN), _closed(published(PLAN)))
]


def judged(plan: dict[str, Any]) -> dict[str, Any]:
    """Return a plan that is as the schema says.

    Raises:
        jsonschema.ValidationError: it is not.
    """
    for judge in _JUDGES:
        judge.validate(plan)
    return plan
