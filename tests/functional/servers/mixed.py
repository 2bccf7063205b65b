# SPDX-License-Identifier: Apache-2.0
"""heatconv in the middle of an upgrade: each daemon is of the last release, or of this one."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

from tests.functional.servers import last_release, nursery
from tests.functional.servers.daemons import Daemons
from tests.functional.servers.processes import Process, program

OLD, NEW = "old", "new"


class Mixed(Daemons):
    """Daemons that all begin, the tables too, as those of the last release, whose code is in ``old``."""

    def __init__(self, directory: Path, *, old: Path, **arguments: Any) -> None:
        super().__init__(directory, **arguments)
        self._old = old
        self.releases: dict[str, str] = {}  #: by the name of a daemon: ``OLD``, or ``NEW``

    def manage(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run heatconv-manage of this release."""
        return nursery.finish(
            [program("heatconv-manage"), "--config-file", self.config_file, *arguments],
            **self.environment("manage"),
        )

    def replace(self, name: str, release: str, *, killed: bool = False) -> None:
        """Have a daemon of a release take the place of one, which is asked to end, or killed."""
        process = self.processes[name]
        if killed:
            process.kill()
        else:
            assert process.stop() == 0, f"{name} had to be killed\n{process.output}"
        self.releases[name] = release
        self.start(name)
        self.await_up(name)

    def _run(self, name: str, command: list[str]) -> Process:
        if self.releases.setdefault(name, OLD) == NEW:
            return super()._run(name, command)
        # What the first of them compiles, the others need not.
        environment = {"PYTHONPATH": str(self._old), "PYTHONDONTWRITEBYTECODE": ""}
        of_old = last_release.command(Path(command[0]).name, command[1:])
        return Process(of_old, self.directory / f"{name}.log", self.environment(name) | environment)
