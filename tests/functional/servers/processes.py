# SPDX-License-Identifier: Apache-2.0
"""A program of heatconv's under test: started, awaited, killed, its output kept."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Protocol

PATIENCE = 60.0  #: seconds a program may take to say that it is up


def program(name: str) -> str:
    """Return the path of a console script that is installed beside this Python."""
    return str(Path(sys.executable).with_name(name))


class Started(Protocol):
    """What was started, as ``subprocess.Popen`` has it."""

    @property
    def pid(self) -> int: ...
    @property
    def stdout(self) -> IO[str] | None: ...
    @property
    def returncode(self) -> int | Any: ...
    def poll(self) -> int | None: ...
    def wait(self, timeout: float | None = None) -> int: ...


def run(command: Sequence[str], environment: Mapping[str, str]) -> subprocess.Popen[str]:
    """Start a command."""
    return subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        env=environment,
        start_new_session=True,
    )


class Process:
    """A program that runs until it is stopped; its output goes to a file too.

    It leads a process group, so that its children go with it.
    """

    def __init__(
        self,
        command: Sequence[str],
        log: Path,
        environment: Mapping[str, str] | None = None,
        *,
        start: Callable[[Sequence[str], Mapping[str, str]], Started] = run,
    ) -> None:
        """Start a program by its command line, or in another way."""
        self.log = log
        self._command = command
        self._lines: list[str] = []
        self._ended = False  # its output has: nothing more will be said
        self._news = threading.Condition()
        self._popen = start(command, os.environ | {"PYTHONUNBUFFERED": "1"} | dict(environment or {}))
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def pid(self) -> int:
        """The process id."""
        return self._popen.pid

    @property
    def running(self) -> bool:
        """Whether it has not ended."""
        return self._popen.poll() is None

    @property
    def output(self) -> str:
        """What it has said so far."""
        with self._news:
            return "".join(self._lines)

    def wait_for(self, pattern: str, patience: float = PATIENCE) -> re.Match[str]:
        """Return the match of the first line, past or future, in which a pattern is found.

        Raises:
            AssertionError: it ended first, or took too long.
        """
        deadline = time.monotonic() + patience
        read = 0
        with self._news:
            while True:
                for line in self._lines[read:]:
                    if found := re.search(pattern, line):
                        return found
                read = len(self._lines)
                if self._ended or not self._news.wait(deadline - time.monotonic()):
                    how = "ended" if self._ended else f"took more than {patience:g} s"
                    what = " ".join(self._command)
                    raise AssertionError(f"{what} {how} without {pattern!r}:\n{self.output}")

    def send(self, number: signal.Signals) -> None:
        """Send a signal to it and its children."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._popen.pid, number)

    def kill(self) -> None:
        """End it at once, as a power failure would."""
        self.send(signal.SIGKILL)
        self._end(PATIENCE)

    def stop(self, patience: float = 10.0, by: signal.Signals = signal.SIGTERM) -> int:
        """Ask it to end, kill it if it does not; return its exit code."""
        self.send(by)
        try:
            return self._end(patience)
        except subprocess.TimeoutExpired:
            self.kill()
            return self._popen.returncode

    def wait(self) -> int:
        """Wait until it ends by itself; return its exit code."""
        return self._end(PATIENCE)

    def _end(self, patience: float) -> int:
        code = self._popen.wait(patience)
        self._reader.join()
        if self._popen.stdout:
            self._popen.stdout.close()
        return code

    def _read(self) -> None:
        stdout = self._popen.stdout
        if stdout is None:
            raise AssertionError
        with self.log.open("a") as log:
            for line in stdout:
                log.write(line)
                log.flush()
                with self._news:
                    self._lines.append(line)
                    self._news.notify_all()
        with self._news:
            self._ended = True
            self._news.notify_all()
