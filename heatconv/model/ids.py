# SPDX-License-Identifier: Apache-2.0
"""Identifiers made before the row they name is written."""

from __future__ import annotations

import os
import time
import uuid


def new_id() -> str:
    """Return a UUID that sorts by the time it was made (RFC 9562, version 7).

    Rows that are written together lie together in every index that begins
    with their id.
    """
    milliseconds = time.time_ns() // 1_000_000
    value = (milliseconds & 0xFFFF_FFFF_FFFF) << 80 | int.from_bytes(os.urandom(10), "big")
    value = value & ~(0xF << 76) | 0x7 << 76
    value = value & ~(0x3 << 62) | 0x2 << 62
    return str(uuid.UUID(int=value))
