# SPDX-License-Identifier: Apache-2.0
"""Programs of heatconv's that begin where their imports have ended: most of what starting one costs.

A process that has imported all of them is forked for each; the tests start hundreds.
"""

from __future__ import annotations

import importlib
import multiprocessing
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection
from pathlib import Path
from typing import IO, Any

from heatconv.cmd import green
from tests.functional.servers.processes import Started, run

MODULES = {
    "heatconv-all": "heatconv.cmd.all",
    "heatconv-api": "heatconv.cmd.api",
    "heatconv-engine": "heatconv.cmd.engine",
    "heatconv-manage": "heatconv.cmd.manage",
    "heatconv-status": "heatconv.cmd.status",
    "heatconv-worker": "heatconv.cmd.worker",
}

PATCHED = "eventlet"  #: an executor that a program has to have before it imports anything

_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload([*MODULES.values()])


def start(command: Sequence[str], environment: Mapping[str, str]) -> Started:
    """Start a program, by a fork if that is no other one than its command line starts."""
    name = Path(command[0]).name
    if name not in MODULES or green.executor(command[1:]) == PATCHED:
        return run(command, environment)
    return Forked([name, *command[1:]], environment)


def finish(command: Sequence[str | Path], **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a program of ours to its end, as ``start`` does; return what it printed, and where."""
    (answer, answers), (complaint, complaints) = _CONTEXT.Pipe(duplex=False), _CONTEXT.Pipe(duplex=False)
    name, *arguments = map(str, command)
    arguments = [Path(name).name, *arguments]
    process = _CONTEXT.Process(target=_be, args=(arguments, os.environ | environment, answers, complaints))
    process.start()
    for theirs in (answers, complaints):
        theirs.close()
    with ThreadPoolExecutor(2) as pool:
        printed = list(pool.map(_read, (answer, complaint)))
    process.join()
    assert process.exitcode is not None
    return subprocess.CompletedProcess(arguments, process.exitcode, *printed)


def _read(ours: Connection) -> str:
    """Return all that comes out of a pipe."""
    with os.fdopen(os.dup(ours.fileno()), errors="replace") as stream:
        ours.close()
        return stream.read()


class Forked:
    """A program that runs; as ``subprocess.Popen``, as far as ``Process`` needs that."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        """Start a program, called by its name."""
        self._command = list(command)
        ours, theirs = _CONTEXT.Pipe(duplex=False)
        self._process = _CONTEXT.Process(target=_be, args=(self._command, dict(environment), theirs, theirs))
        self._process.start()
        theirs.close()
        self.stdout: IO[str] = os.fdopen(os.dup(ours.fileno()), errors="replace")
        ours.close()

    @property
    def pid(self) -> int:
        """Its process id."""
        assert self._process.pid is not None
        return self._process.pid

    @property
    def returncode(self) -> int | Any:
        """Its exit code; of a signal that ended it, the negative number; None: it runs."""
        return self._process.exitcode

    def poll(self) -> int | None:
        """Return its exit code, if it has ended."""
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Return its exit code once it has ended.

        Raises:
            subprocess.TimeoutExpired: that took longer than so many seconds.
        """
        self._process.join(timeout)
        if self.returncode is None:
            raise subprocess.TimeoutExpired(self._command, timeout or 0)
        return self.returncode


def _be(
    command: Sequence[str], environment: Mapping[str, str], answers: Connection, complaints: Connection
) -> None:
    """Be a program, in a process that was forked for it."""
    os.setsid()
    for number, stream in enumerate((answers, complaints), start=1):
        os.dup2(stream.fileno(), number)
    for stream in (answers, complaints):
        stream.close()
    sys.stdout = os.fdopen(1, "w", buffering=1)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = list(command)
    importlib.import_module(MODULES[command[0]]).main()
