# SPDX-License-Identifier: Apache-2.0
"""heatconv-all: everything in one process, as a newcomer starts it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.functional.servers.daemons import PLUGINS
from tests.functional.servers.processes import Process, program


@contextmanager
def heatconv_all(directory: Path) -> Iterator[str]:
    """Run heatconv-all with its state in a directory; give its endpoint."""
    process = Process(
        [
            program("heatconv-all"),
            *("--host", "127.0.0.1"),
            *("--port", "0"),
            *("--state-dir", str(directory / "state")),
            *("--plugin-dir", str(PLUGINS)),
        ],
        directory / "heatconv-all.log",
    )
    try:
        yield process.wait_for(r"heatconv is up: (\S+)")[1]
    finally:
        process.stop()
