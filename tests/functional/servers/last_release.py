# SPDX-License-Identifier: Apache-2.0
"""The code of the release before, beside ours and run by the same Python."""

from __future__ import annotations

import io
import subprocess
import sys
import tarfile
from collections.abc import Sequence
from pathlib import Path

from heatconv.model.records import Edition

#: What upgrades begin from: a tag, once a release has been made.
LAST_RELEASE = "b45de672d0082e4da2183608e99a507afd16e9bf"
SCHEMA = "0018"  #: at which it leaves a database
EDITION: Edition | None = None  #: what its daemons say that they were made from

ROOT = Path(__file__).parents[3]

_MAIN = "import importlib, sys; importlib.import_module('heatconv.cmd.' + sys.argv.pop(1)).main()"


def unpack(directory: Path) -> Path:
    """Unpack the code of the release before into a directory, and return that.

    Raises:
        AssertionError: this clone has not got it.
    """
    asked = ["git", "-C", str(ROOT), "archive", "--format=tar", LAST_RELEASE, "heatconv"]
    done = subprocess.run(asked, capture_output=True, check=False)
    assert done.returncode == 0, (
        f"The code of the last release, {LAST_RELEASE}, is not in this clone, and upgrades from it cannot be"
        f" tried: have all of the history fetched (git fetch --unshallow). git says: {done.stderr.decode()}"
    )
    with tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
        archive.extractall(directory, filter="data")
    return directory


def command(program: str, arguments: Sequence[str]) -> list[str]:
    """Return what runs a program of it, where ``PYTHONPATH`` is the directory."""
    # -P: not ours, where the tests are run.
    return [sys.executable, "-P", "-c", _MAIN, program.removeprefix("heatconv-"), *arguments]
