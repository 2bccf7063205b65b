# SPDX-License-Identifier: Apache-2.0
"""A line to the first of some nodes that is ready, as HAProxy gives it: checked, and cut when it is not.

A node that stops answering the check has its connections ended, which HAProxy calls
``on-marked-down shutdown-sessions``: a client would otherwise wait for it for as long as it is stopped.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Self

import sqlalchemy as sa

from tests.chaos.proxy import Proxy

CHECK = 0.5  #: seconds from one check to the next
FALL = 2  #: checks in a row that a node has to miss: one may be late where there is much to do


class Balancer:
    """Gives lines to nodes, each preferring one of them; one thread checks every node for all lines."""

    def __init__(self, urls: Sequence[str], is_ready: Callable[[int], bool]) -> None:
        """Take the nodes' URLs, and what tells, within a second or two, whether a node is ready."""
        self._urls = urls
        self._is_ready = is_ready
        self._ready = [True] * len(urls)
        self._lines: list[tuple[Proxy, int]] = []
        self._exit = ExitStack()
        self._stopping = threading.Event()
        self._threads = [
            threading.Thread(target=self._check, args=(node,), daemon=True) for node in range(len(urls))
        ]
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._stopping.set()
        for thread in self._threads:
            thread.join()
        self._exit.close()

    def line(self, preferred: int) -> str:
        """Return a URL that leads to one node as long as it is ready, else to the next that is."""
        with self._lock:
            proxy = self._exit.enter_context(Proxy(self._urls[preferred]))
            self._lines.append((proxy, preferred))
            self._lead(proxy, preferred)
            return proxy.url

    def _check(self, node: int) -> None:
        missed = 0
        while not self._stopping.wait(CHECK):
            missed = 0 if self._is_ready(node) else missed + 1
            ready = missed < FALL
            if ready != self._ready[node]:
                with self._lock:
                    self._ready[node] = ready
                    for proxy, preferred in self._lines:
                        self._lead(proxy, preferred)

    def _lead(self, proxy: Proxy, preferred: int) -> None:
        """Lead a line to whom it should lead by now; those who stay where they are notice nothing."""
        count = len(self._urls)
        order = [(preferred + step) % count for step in range(count)]
        first = next((node for node in order if self._ready[node]), preferred)
        proxy.lead_to(self._urls[first])


def loopback(port: int) -> sa.URL:
    """Return the URL of root on a port of a database server on loopback."""
    return sa.URL.create("mysql+pymysql", "root", host="127.0.0.1", port=port)
