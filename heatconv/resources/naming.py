# SPDX-License-Identifier: Apache-2.0
"""The name of a physical resource: the same for one incarnation, however often it is asked for."""

from __future__ import annotations

from heatconv.resources.short_id import ALPHABET, LENGTH, get_id


def physical_name(stack: str, resource: str, row_id: str, limit: int | None) -> str:
    """Return ``<stack>-<resource>-<short id>``; of a longer one than ``limit`` its start and its tail."""
    name = f"{stack}-{resource}-{get_id(row_id)}"
    if limit is None or len(name) <= limit:
        return name
    return f"{name[:2]}-{name[3 - limit :]}"


def short_id_in(name: str) -> str | None:
    """Return the short id at the end of a name such as ``physical_name`` makes; None if there is none."""
    head, _, tail = name.rpartition("-")
    is_ours = "-" in head and len(tail) == LENGTH and ALPHABET.issuperset(tail)
    return tail if is_ours else None
