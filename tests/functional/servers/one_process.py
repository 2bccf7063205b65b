# SPDX-License-Identifier: Apache-2.0
"""heatconv-all, everything in one process, and the fake cloud beside it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import heatconv.testing
from tests.functional.servers import nursery
from tests.functional.servers.processes import Process, program

PLUGINS = Path(heatconv.testing.__file__).parent / "plugins"


@contextmanager
def fake_cloud(directory: Path, notify: str | None = None) -> Iterator[str]:
    """Run the fake cloud, which may publish notifications at a broker; yield its address."""
    command = [sys.executable, "-m", "heatconv.testing.cloud_server", "--port", "0"]
    command += ["--notify", notify] if notify else []
    process = Process(command, directory / "cloud.log")
    try:
        yield process.wait_for(r"fake cloud is up: (\S+)")[1]
    finally:
        process.kill()


@contextmanager
def heatconv_all(directory: Path, cloud_url: str, *options: str) -> Iterator[str]:
    """Run heatconv-all with its state in a directory, and more options; yield its endpoint."""
    process = Process(
        [
            program("heatconv-all"),
            *("--host", "127.0.0.1"),
            *("--port", "0"),
            *("--state-dir", str(directory / "state")),
            *("--plugin-dir", str(PLUGINS)),
            *options,
        ],
        directory / "heatconv-all.log",
        {"HEATCONV_FAKE_CLOUD": cloud_url},
        start=nursery.start,
    )
    try:
        yield process.wait_for(r"heatconv is up: (\S+)")[1]
    finally:
        process.stop()
