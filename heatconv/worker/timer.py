# SPDX-License-Identifier: Apache-2.0
"""How a worker comes back to what it waits for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

RETRY_DELAY = 1.0  #: seconds until a transaction that the database did not take is tried again


class Timer(Protocol):
    """Who calls a function on another thread of the worker's."""

    def call_later(self, seconds: float, function: Callable[[], None]) -> None:
        """Call a function on the worker's pool, not before some seconds have passed."""

    def call_engine(self, function: Callable[[], None]) -> None:
        """Call a function on one of the few threads that may wait for engines, once one is free."""
