# SPDX-License-Identifier: Apache-2.0
"""What is counted of a transaction, and what counts only if a transaction does.

Concurrency: a thread has one transaction at a time.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

from heatconv.metrics.declared import TRANSACTION_SECONDS, TRANSACTIONS
from heatconv.metrics.instruments import Counter, is_on

_of_thread = threading.local()

Judge = Callable[[BaseException], str]  #: says by what outcome a transaction counts that an exception ended


class Counted:
    """A transaction, which counts once it has ended; not to be used twice."""

    def __init__(self, kind: str, judge: Judge) -> None:
        self._kind = kind
        self._judge = judge
        self._began = 0.0
        self._outer: Any = None  #: what was noted by one that this one is inside of

    def __enter__(self) -> Self:
        if is_on():
            self._began = time.perf_counter()
            self._outer, _of_thread.noted = getattr(_of_thread, "noted", None), []
        return self

    def __exit__(
        self, _type: type[BaseException] | None, error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        if not self._began:
            return
        noted, _of_thread.noted = _of_thread.noted, self._outer
        if error is None:
            for counter, labels in noted:
                counter.add(**labels)
        TRANSACTIONS.add(kind=self._kind, outcome="committed" if error is None else self._judge(error))
        TRANSACTION_SECONDS.observe(time.perf_counter() - self._began, kind=self._kind)


def count_with_commit(counter: Counter, **labels: object) -> None:
    """Count something that this thread's transaction writes, if that is committed."""
    noted = getattr(_of_thread, "noted", None)
    if noted is not None:
        noted.append((counter, labels))
