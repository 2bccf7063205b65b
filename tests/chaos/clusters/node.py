# SPDX-License-Identifier: Apache-2.0
"""What the clusters have in common: nodes that die, stop and come back, and who uses which of them."""

from __future__ import annotations

import signal
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Self

from tests.functional.servers.processes import Process

PATIENCE = 90.0  #: seconds in which a cluster has to be whole again
LOOK = 0.25  #: seconds between two looks


@dataclass(frozen=True, kw_only=True)
class Trouble:
    """Something that happens to nodes, and how it is healed a while later."""

    name: str
    begin: Callable[[], Callable[[], None]]  #: lets it happen; returns what heals it
    weight: int = 1  #: how often it comes, compared with the others
    longest: float = 8.0  #: seconds until it is healed


class Node:
    """One server of a cluster: a process, while it runs."""

    _process: Process | None = None

    def kill(self) -> None:
        """End it at once."""
        if self._process is not None:
            self._process.kill()

    def send(self, number: signal.Signals) -> None:
        """Send it, and its children, a signal."""
        if self._process is not None:
            self._process.send(number)


class Cluster(ABC):
    """Servers that stand in for each other."""

    troubles: Sequence[Trouble]  #: what can happen to it; one at a time leaves a majority

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *exception: object) -> None:
        self.stop()

    @abstractmethod
    def start(self) -> None:
        """Let all nodes run, and wait until they are a cluster."""

    @abstractmethod
    def stop(self) -> None:
        """End all nodes at once."""

    @abstractmethod
    def await_whole(self) -> None:
        """Wait until every node takes part again."""


def wait_until(what: Callable[[], bool], reason: str, patience: float = PATIENCE) -> None:
    """Wait until something is so.

    Raises:
        AssertionError: it took too long.
    """
    deadline = time.monotonic() + patience
    while not what():
        assert time.monotonic() < deadline, f"{reason} took more than {patience:g} s"
        threading.Event().wait(LOOK)
