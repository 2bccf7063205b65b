# SPDX-License-Identifier: Apache-2.0
"""Wait for something that comes about by itself."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

PATIENCE = 60.0  #: seconds that anything may take on a busy machine

T = TypeVar("T")


def until(look: Callable[[], T | None], describe: Callable[[], object] = lambda: "it took too long") -> T:
    """Return the first thing that a look finds; ``describe`` says how it was when patience ended."""
    deadline = time.monotonic() + PATIENCE
    while not (found := look()):
        assert time.monotonic() < deadline, describe()
        time.sleep(0.05)
    return found
