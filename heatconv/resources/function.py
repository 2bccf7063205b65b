# SPDX-License-Identifier: Apache-2.0
"""What plugins use of template functions.

A plugin sees values only after every function in them was called, so there is
nothing left to resolve; ported plugins call these all the same.
"""

from __future__ import annotations

from typing import Any


def resolve(snippet: Any) -> Any:
    """Return a value with its functions called, which it is already."""
    return snippet


def validate(snippet: Any, path: list[str] | None = None) -> None:
    """Accept the functions inside a value; there are none."""
