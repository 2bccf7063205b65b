# SPDX-License-Identifier: Apache-2.0
"""Measuring an operation: its time, and what the processes that did it sent, worked and took."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from tests.perf.tally import COUNTED, SharedTally

QUIET = 0.05  #: seconds without anything sent after which what was asked for is over
PATIENCE = 2.0  #: seconds after which it is taken for over all the same

Record = dict[str, Any]


@dataclass(frozen=True)
class Work:
    """What processes have done up to a moment."""

    counts: Counter[str]  #: what they sent
    cpu: Mapping[str, float]  #: seconds, by process


class Watch:
    """Looks at processes that count what they send."""

    def __init__(self) -> None:
        self._pids: dict[str, int] = {}
        self._tallies: list[SharedTally] = []

    def add(self, name: str, pid: int, tally: Path) -> None:
        """Look at one more."""
        self._pids[name] = pid
        self._tallies.append(SharedTally(tally))

    def measure(
        self, operation: str, concerned: int, request: Callable[[], None], await_end: Callable[[], None]
    ) -> Record:
        """Carry out an operation that is about so many resources; return what it took.

        ``request`` returns when it is accepted, ``await_end`` when it is done.
        """
        before = self.work()
        self._forget_peaks()
        load = os.getloadavg()[0]
        psutil.cpu_percent()
        begun = time.monotonic()
        request()
        accepted = time.monotonic() - begun
        await_end()
        seconds = time.monotonic() - begun
        busy = psutil.cpu_percent()
        return {
            "operation": operation,
            "concerned": concerned,
            "seconds": round(seconds, 3),
            "accepted_seconds": round(accepted, 3),
            "resources_per_second": round(concerned / seconds, 1),
            **_costs(before, self.work(), concerned),
            "peak_mib": {name: _peak(pid) for name, pid in self._pids.items()},
            "machine_busy_percent": busy,
            "load_before": round(load, 2),
        }

    def work(self) -> Work:
        """Return what was done up to now, once nothing more is sent."""
        deadline = time.monotonic() + PATIENCE
        counts = self.counts()
        while time.monotonic() < deadline:
            time.sleep(QUIET)
            before, counts = counts, self.counts()
            if counts == before:
                break
        return Work(counts, {name: cpu_of(pid) for name, pid in self._pids.items()})

    def counts(self) -> Counter[str]:
        """Return what all have sent up to now."""
        return sum((tally.read() for tally in self._tallies), Counter())

    def _forget_peaks(self) -> None:
        """Let the peaks of memory be those from now on."""
        for pid in self._pids.values():
            Path(f"/proc/{pid}/clear_refs").write_text("5")


def _costs(before: Work, after: Work, concerned: int) -> Record:
    """Return what was sent and worked, in all and for each resource, if there are any."""
    counts = {what: after.counts[what] - before.counts[what] for what in COUNTED}
    cpu = {name: round(spent - before.cpu[name], 2) for name, spent in after.cpu.items()}
    total = {**counts, "cpu_seconds": round(sum(cpu.values()), 2)}
    each = {f"{what}_each": round(value / max(concerned, 1), 4) for what, value in total.items()}
    return {**total, **each, "cpu_seconds_of": cpu}


def cpu_of(pid: int) -> float:
    """Return the seconds that a process has worked."""
    spent = psutil.Process(pid).cpu_times()
    return spent.user + spent.system


def _peak(pid: int) -> float:
    """Return the most memory that a process had resident, in MiB."""
    status = Path(f"/proc/{pid}/status").read_text()
    (line,) = (line for line in status.splitlines() if line.startswith("VmHWM:"))
    return round(int(line.split()[1]) / 1024, 1)
