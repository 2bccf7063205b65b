# SPDX-License-Identifier: Apache-2.0
"""Getting hold of a server: one that listens, else one we start, else none.

1. It listens on loopback and lets us in.
2. As root on Debian or Ubuntu: install it by apt-get unless it is there, start
   it, and let ourselves in through the superuser's local door.
3. As anyone else: a private one, started from the installed binaries.
4. ``Unavailable``, with a sentence that says what to install.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import textwrap
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TypeVar

Result = TypeVar("Result")

PATIENCE = 60.0  #: seconds a server may take to start


class Unavailable(Exception):
    """There is no such server, and none can be had."""


@dataclass(frozen=True, kw_only=True)
class Server:
    """A kind of server, and the ways to it."""

    name: str
    binary: str  #: a shell pattern; it is installed if that matches
    package: str  #: Debian's, which has it
    start: str  #: the shell command by which root starts it
    addresses: tuple[str, ...]  #: URLs at which it may let us in
    probe: Callable[[str], None]  #: connects to a URL, and raises if that fails
    #: makes us an account by the local door, as root, until the exit; returns its URL
    enter: Callable[[ExitStack], str]
    #: starts a private one, until the exit; returns its URL
    private: Callable[[ExitStack], str]

    def provide(self, until: ExitStack) -> str:
        """Return the URL of a server on which we may do anything, until the exit.

        Raises:
            Unavailable: there is none to be had.
        """
        return self._listening() or (self._ours(until) if os.geteuid() == 0 else self._private(until))

    def _listening(self) -> str | None:
        for url in self.addresses:
            try:
                self.probe(url)
            except Exception:  # noqa: BLE001 - each driver has its own, and all mean: not here
                continue
            return url
        return None

    def _ours(self, until: ExitStack) -> str:
        if not self._installed():
            if not shutil.which("apt-get"):
                raise Unavailable(f"{self.name} is not installed, and there is no apt-get to install it with")
            self._run("apt-get update --quiet")
            self._run(f"apt-get install --quiet --yes --no-install-recommends {self.package}")
        self._run(self.start)
        url = _patiently(lambda: self._listening() or self.enter(until))
        _patiently(lambda: self.probe(url))
        return url

    def _private(self, until: ExitStack) -> str:
        try:
            return self.private(until)
        except Exception as problem:
            raise Unavailable(
                f"{self.name} does not listen on 127.0.0.1, and a private one did not start: "
                f"install {self.package}, or start it ({textwrap.shorten(str(problem), 300)})"
            ) from problem

    def _installed(self) -> bool:
        return (
            subprocess.run(f"ls {self.binary}", shell=True, capture_output=True, check=False).returncode == 0
        )

    def _run(self, command: str) -> None:
        environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
        # A daemon that detaches keeps what it inherited: a pipe would never see its end.
        done = subprocess.run(
            command,
            shell=True,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            check=False,
        )
        if done.returncode:
            raise Unavailable(f"{self.name}: `{command}` failed with exit code {done.returncode}")


def _patiently(attempt: Callable[[], Result]) -> Result:
    """Return the result of an attempt that may fail while a server starts."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            return attempt()
        except Exception:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)
