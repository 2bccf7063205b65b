# SPDX-License-Identifier: Apache-2.0
"""Calls that wait for an engine's answer: few at a time, and none while there is enough else to do."""

from __future__ import annotations

import functools
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any

from heatconv.rpc.context import RequestContext
from heatconv.rpc.endpoint import Caller

MOST = 16  #: checks at a time that call an engine; what they ask for together is one call
FEW = 2  #: the same when calls take long: each prepares a stack that keeps this worker busy
CALLS = 4  #: calls at a time; more would only wait for one another at the engine
LONG = 0.5  #: seconds that a call takes when a stack of hundreds is prepared
ENOUGH = 1000  #: checks that wait for a thread of a worker which then asks for no more of them


class EngineCalls:
    """Hands calls to threads of their own as engines and the worker can do with them.

    An engine that was asked for all the nested stacks of a tree at once would prepare them
    all before the workers come to the first, and nobody else's meanwhile.

    Concurrency: any thread may call.
    """

    def __init__(self, submit: Callable[[Callable[[], None]], object], waiting: Callable[[], int]) -> None:
        """Keep what is handed in.

        Args:
            submit: runs a function on a thread that may wait, and returns at once.
            waiting: how many checks wait for a thread of this worker.
        """
        self._submit = submit
        self._waiting = waiting
        self._lock = threading.Lock()
        self._calls: deque[Callable[[], None]] = deque()
        self._under_way = 0
        self._most = FEW

    def call(self, function: Callable[[], None]) -> None:
        """Call a function when it is its turn."""
        self._calls.append(function)
        self.go_on()

    def go_on(self) -> None:
        """Begin what may begin; whoever ends a check calls this, since fewer wait then."""
        while (function := self._next()) is not None:
            self._submit(functools.partial(self._run, function))

    def _next(self) -> Callable[[], None] | None:
        if not self._calls or self._waiting() >= ENOUGH:
            return None
        with self._lock:
            if not self._calls or self._under_way >= self._most:
                return None
            self._under_way += 1
            return self._calls.popleft()

    def _run(self, function: Callable[[], None]) -> None:
        began = time.monotonic()
        try:
            function()
        finally:
            with self._lock:
                self._under_way -= 1
                self._most = FEW if time.monotonic() - began > LONG else MOST
            self.go_on()


class FewCalls:
    """Carries few calls at a time; implements ``heatconv.rpc.endpoint.Caller``.

    Concurrency: any thread may call.
    """

    def __init__(self, caller: Caller) -> None:
        self._caller = caller
        self._places = threading.BoundedSemaphore(CALLS)

    def call(self, context: RequestContext, method: str, **arguments: Any) -> Any:
        """Call a method of some engine when it is its turn.

        Raises:
            HeatconvError: as the call does.
        """
        with self._places:
            return self._caller.call(context, method, **arguments)
