# SPDX-License-Identifier: Apache-2.0
"""How whoever purges gives way: nobody waits for a purge, and all else is waited for."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import TypeVar

T = TypeVar("T")

REST = 4.0  #: how many times as long as a transaction took it is rested after it
LONGEST = 5.0  #: seconds of rest


def unhurried(transactions: Iterator[T], rest: Callable[[float], object]) -> Iterator[T]:
    """Yield what transactions yield, and call ``rest`` with some seconds after each.

    A database that is busy takes longer for one, and so gets a longer rest.
    """
    begun = time.monotonic()
    for each in transactions:
        took = time.monotonic() - begun
        yield each
        rest(min(took * REST, LONGEST))
        begun = time.monotonic()
