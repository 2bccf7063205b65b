# SPDX-License-Identifier: Apache-2.0
"""The functions that select inside what was looked up, for when only run time knows the path."""

from __future__ import annotations

from typing import Any

from heatconv.template.functions.arguments import function, select


@function("get_param")
def get_param(value: Any, *path: Any) -> Any:
    """Return the value of a parameter, or what a path leads to inside it."""
    return select(value, list(path), "")


@function("get_attr", since="2013-05-23")
def get_attr_then_select(value: Any, *path: Any) -> Any:
    """Return an attribute, then select inside it what a path leads to."""
    return select(value, list(path), None)
