# SPDX-License-Identifier: Apache-2.0
"""How a daemon takes its messages from the bus."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Serving:
    """Who takes them, and on what."""

    engine_id: str
    threads: int  #: how many requests are carried out, or nodes checked, at a time
    executor: str  #: "threading" or "eventlet"
