# SPDX-License-Identifier: Apache-2.0
"""A scheduler of one thread that can play every order of events, and play it again.

Messages and timers are *entries*; one of them is chosen at a time, by a random
number generator that the caller hands in (an instance with a fixed start, or
Hypothesis's ``randoms()``).  What an entry runs is a green task: it stops at
the fake cloud's gate, before and after each mutating operation, and is then an
entry again, so that anything may happen while a request is on its way.

Time is virtual: a timer may be chosen at any moment after it was set, and is
never waited for.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Self

import greenlet  # type: ignore[import-untyped]

from heatconv.model.nodes import Node
from heatconv.testing.gate import Gate

#: Steps after which a run counts as one that never ends.
PATIENCE = 20_000


@dataclass(frozen=True)
class Entry:
    """Something that could happen next; ``owner`` is the process that it dies with."""

    label: str
    run: Callable[[], object]
    ready: Callable[[], bool] = lambda: True
    owner: str | None = None


class Simulator:
    """The pending entries, and the choice among them."""

    def __init__(self, choice: random.Random) -> None:
        self.choice = choice
        self.pending: list[Entry] = []
        self.history: list[str] = []  #: the labels of what was run, for whoever looks for a cause
        self._main = greenlet.getcurrent()

    def add(self, label: str, function: Callable[[], object], owner: str | None = None) -> None:
        """Let a function be one of the things that may happen, once."""
        self.pending.append(Entry(label, lambda: self._switch(label, function, owner), owner=owner))

    def kill(self, owner: str) -> None:
        """Let nothing happen any more that was a process's to do."""
        self.history.append(f"kill {owner}")
        self.pending = [entry for entry in self.pending if entry.owner != owner]

    def step(self) -> bool:
        """Run one entry; tell whether there was one that could run.

        What the entry raises comes out here.
        """
        ready = [entry for entry in self.pending if entry.ready()]
        if not ready:
            return False
        entry = self.choice.choice(ready)
        self.pending.remove(entry)
        self.history.append(entry.label)
        entry.run()
        return True

    def run_until(self, reached: Callable[[], bool]) -> bool:
        """Run until something is so; tell whether it came to that."""
        for _ in range(PATIENCE):
            if reached():
                return True
            if not self.step():
                return reached()
        raise AssertionError(f"no end after {PATIENCE} steps: {self.history[-20:]}")

    def run(self) -> None:
        """Run until nothing is left.

        Raises:
            AssertionError: something is left that can never run.
        """
        self.run_until(lambda: not self.pending)
        if self.pending:
            raise AssertionError(f"stuck: {[entry.label for entry in self.pending]}")

    def pause(self, ready: Callable[[], bool] = lambda: True) -> None:
        """Stop the running task until it is chosen again, which is not before ``ready()``."""
        task = greenlet.getcurrent()
        if task is self._main:
            return
        self.pending.append(Entry(f"go on: {task.label}", task.switch, ready, task.owner))
        self._main.switch()

    def _switch(self, label: str, function: Callable[[], object], owner: str | None) -> None:
        # A task's parent is whoever made it: it must be the one greenlet that steps.
        task = greenlet.greenlet(function, self._main)
        task.label, task.owner = label, owner
        task.switch()


class SimulatedGate(Gate):
    """A gate whose tasks wait in the simulator, and stop before and after each operation."""

    def __init__(self, simulator: Simulator) -> None:
        super().__init__(_SimulatedMonitor(simulator))
        self._simulator = simulator

    @contextmanager
    def passage(self) -> Iterator[None]:
        """Wait for leave to pass; let others go first before the outcome is seen."""
        with super().passage():
            yield
        self._simulator.pause()


class _SimulatedMonitor:
    """Stands in for a ``threading.Condition`` where there is one thread."""

    def __init__(self, simulator: Simulator) -> None:
        self._simulator = simulator

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        """Release nothing: there is nobody to keep out."""

    def wait_for(self, predicate: Callable[[], bool], timeout: float | None = None) -> bool:
        """Let others run; with a timeout, only look."""
        if timeout is None:
            self._simulator.pause(predicate)
        return predicate()

    def notify_all(self) -> None:
        """Do nothing: predicates are looked at anew with every step."""


@dataclass(frozen=True)
class SimulatedTimer:
    """The timers of one process; implements the worker's ``Timer``."""

    simulator: Simulator
    owner: str

    def call_later(self, seconds: float, function: Callable[[], None]) -> None:
        """Let a function be one of the things that may happen, in no time."""
        self.simulator.add(f"timer of {seconds} s", function, self.owner)

    def call_engine(self, function: Callable[[], None]) -> None:
        """Let a function be one of the things that may happen."""
        self.simulator.add("aside", function, self.owner)


@dataclass(frozen=True)
class Mishaps:
    """How probable it is that a message is lost or comes twice, and, with each step, that a worker dies."""

    drop: float = 0.0
    double: float = 0.0
    crash: float = 0.0


class SimulatedDoorbell:
    """A bus without a bus; implements the worker's and the engine's ``Doorbell``.

    ``check`` and ``roll_back`` are how messages are delivered: they add what
    the receiver does to the simulator.  ``in_order`` sorts nodes in a way that
    is the same in every run, for the choice among them to be so.
    """

    def __init__(
        self,
        choice: random.Random,
        mishaps: Mishaps,
        in_order: Callable[[Sequence[Node]], Sequence[Node]],
        check: Callable[[str, str, Node], None],
        roll_back: Callable[[str], None],
    ) -> None:
        self._choice = choice
        self._mishaps = mishaps
        self._in_order = in_order
        self._check = check
        self._roll_back = roll_back

    def ring(self, stack_id: str, traversal_id: str, nodes: Sequence[Node], _tree: str | None = None) -> None:
        """Send a message for each node."""
        for node in self._in_order(nodes):
            self._send(partial(self._check, stack_id, traversal_id, node))

    def roll_back(self, stack_id: str) -> None:
        """Ask an engine to roll a stack back."""
        self._send(partial(self._roll_back, stack_id))

    def wake(self, resource_id: str, engine_id: str | None = None) -> None:
        """Lose the message: whoever waits for that looks again by himself."""

    def preempt(self, engine_id: str, resource_id: str, traversal_id: str | None = None) -> None:
        """Lose the message: nothing depends on it but how long a delete takes."""

    def _send(self, deliver: Callable[[], None]) -> None:
        fate = self._choice.random()
        if fate < self._mishaps.drop:
            return
        deliver()
        if fate > 1 - self._mishaps.double:
            deliver()
