# SPDX-License-Identifier: Apache-2.0
"""Work that a user's few words can ask for, counted and bounded.

Searches, patterns and queries can take long and produce little.  Whoever runs
some takes units of about a microsecond from a bound that is around all that is
evaluated together.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

MAX_WORK = 5_000_000  #: for all that is evaluated together
TOO_MUCH_WORK = "It takes too much work to evaluate; make it simpler."


class _Budget:
    def __init__(self) -> None:
        self.left = MAX_WORK


_BUDGET: ContextVar[_Budget | None] = ContextVar("work", default=None)


@contextmanager
def bounded_work() -> Iterator[None]:
    """Bound the work of what is evaluated in a ``with`` block (or a decorated function), by this thread."""
    token = _BUDGET.set(_Budget())
    try:
        yield
    finally:
        _BUDGET.reset(token)


def may_work(units: int) -> bool:
    """Take units from the bound around, and tell whether they were there; without a bound they are."""
    budget = _BUDGET.get()
    if budget is None:
        return True
    budget.left -= units
    return budget.left >= 0


def work_done() -> int:
    """Return the units that were taken from the bound around so far."""
    budget = _BUDGET.get()
    return 0 if budget is None else MAX_WORK - budget.left
