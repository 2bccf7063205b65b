# SPDX-License-Identifier: Apache-2.0
"""What ran, and on what: a figure means nothing without that."""

from __future__ import annotations

import os
import platform
import subprocess
from pathlib import Path

import psutil
import sqlalchemy as sa

ROOT = Path(__file__).parents[2]


def facts(database_url: str) -> dict[str, object]:
    """Return what a reader has to know of a run."""
    return {
        "commit": _commit(),
        "cores": os.cpu_count(),
        "memory_gib": round(psutil.virtual_memory().total / 2**30, 1),
        "processor": _processor(),
        "python": platform.python_version(),
        "database": _database(database_url),
        "load": [round(load, 2) for load in os.getloadavg()],
    }


def _commit() -> str:
    """Return the commit, with a plus if there is more than that."""
    done = subprocess.run(
        ["git", "describe", "--always", "--dirty=+"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return done.stdout.strip() or "unknown"


def _processor() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())


def _database(url: str) -> str:
    engine = sa.create_engine(url, poolclass=sa.NullPool)
    with engine.connect():
        version = ".".join(str(part) for part in engine.dialect.server_version_info or ())
    return f"{engine.dialect.name} {version}"
