# SPDX-License-Identifier: Apache-2.0
"""The name of a physical resource: the same for one incarnation, however often it is asked for."""

from __future__ import annotations

from heatconv.resources.short_id import get_id


def physical_name(stack: str, resource: str, row_id: str, limit: int | None) -> str:
    """Return ``<stack>-<resource>-<short id>``; of a longer one than ``limit`` its start and its tail."""
    name = f"{stack}-{resource}-{get_id(row_id)}"
    if limit is None or len(name) <= limit:
        return name
    return f"{name[:2]}-{name[3 - limit :]}"
