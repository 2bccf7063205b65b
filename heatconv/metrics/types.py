# SPDX-License-Identifier: Apache-2.0
"""The resource types that labels may name: those that the operator has installed, and not too many."""

from __future__ import annotations

from collections.abc import Iterable

MOST = 300  #: types that have figures of their own; each has some dozens of series
OTHER = "other"  #: what all others count as: templates that are types, and types nobody has installed

_named: set[str] = set()


def name_each(types: Iterable[str]) -> None:
    """Let these types have figures of their own, as many as there may be."""
    _named.clear()
    _named.update(sorted(types)[:MOST])


def label(type_name: str) -> str:
    """Return what a type counts as."""
    return type_name if type_name in _named else OTHER
