# SPDX-License-Identifier: Apache-2.0
"""Identifiers made before the row they name is written."""

from __future__ import annotations

import secrets
import threading
import time
import uuid

_RANDOM_BITS = 74
_STEP_BITS = 32  #: how far apart two ids of one millisecond may be, which keeps them hard to guess


class _Clock:
    """The last id of this process: its millisecond and its random part."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._milliseconds = 0
        self._random = 0

    def next(self) -> tuple[int, int]:
        with self._lock:
            now = time.time_ns() // 1_000_000
            if now > self._milliseconds:
                # The first bit is left for those that follow within the millisecond.
                self._milliseconds, self._random = now, secrets.randbits(_RANDOM_BITS - 1)
            else:
                self._random += 1 + secrets.randbits(_STEP_BITS)
            return self._milliseconds, self._random


_CLOCK = _Clock()


def new_id() -> str:
    """Return a UUID that sorts after all that this process has made before (RFC 9562, version 7, 6.2).

    Rows that are written together lie together in every index that begins
    with their id.  Any thread may call.
    """
    milliseconds, random = _CLOCK.next()
    high, low = divmod(random, 1 << 62)
    value = (milliseconds & 0xFFFF_FFFF_FFFF) << 80 | 0x7 << 76 | high << 64 | 0x2 << 62 | low
    digits = f"{value:032x}"
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


def made_at(id_: str) -> float | None:
    """Return when ``new_id`` made an id, in seconds since the epoch; None if it did not."""
    try:
        known = uuid.UUID(id_)
    except ValueError:
        return None
    return None if known.version != 7 or str(known) != id_ else (known.int >> 80) / 1000
