# SPDX-License-Identifier: Apache-2.0
"""Short ids: twelve characters that are as good as a uuid within one stack."""

from __future__ import annotations

import base64
import uuid

BITS = 60  #: 12 characters of base32 hold 5 bits each
LENGTH = 12  #: characters
ALPHABET = frozenset("abcdefghijklmnopqrstuvwxyz234567")


def get_id(source_uuid: str | uuid.UUID) -> str:
    """Return 12 lower-case characters made of a uuid's random bits."""
    bits = uuid.UUID(str(source_uuid)).int & ((1 << BITS) - 1)
    return base64.b32encode((bits << 4).to_bytes(8, "big")).decode().lower()[:LENGTH]


def generate_id() -> str:
    """Return 12 random lower-case characters."""
    return get_id(uuid.uuid4())
