# SPDX-License-Identifier: Apache-2.0
"""The name of a physical resource: the same for one incarnation, however often it is asked for."""

from __future__ import annotations

import base64
import uuid

BITS = 60  #: 12 characters of base32 hold 5 bits each


def short_id(row_id: str) -> str:
    """Return 12 lower-case characters made of a uuid's random bits."""
    bits = uuid.UUID(row_id).int & ((1 << BITS) - 1)
    return base64.b32encode((bits << 4).to_bytes(8, "big")).decode().lower()[:12]


def physical_name(stack: str, resource: str, row_id: str, limit: int | None) -> str:
    """Return ``<stack>-<resource>-<short id>``; of a longer one than ``limit`` its start and its tail."""
    name = f"{stack}-{resource}-{short_id(row_id)}"
    if limit is None or len(name) <= limit:
        return name
    return f"{name[:2]}-{name[3 - limit :]}"
