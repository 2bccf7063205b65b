# SPDX-License-Identifier: Apache-2.0
"""What a resource costs does not grow with its stack; what an update costs follows the change."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

SMALL, LARGE = 100, 300
COUNTED = ("statements", "commits", "messages")
LIMITS = (12.0, 3.1, 1.1)  #: of what one resource of a wide stack costs to create
BEGIN = 1  #: statement more that a transaction takes on SQLite: its driver has to be told

_LINE = re.compile(r"(?P<operation>\w[\w -]*?) +(?P<size>\d+) +[\d.]+ +([\d.]+) +([\d.]+) +([\d.]+)  ")


@pytest.fixture
def counts(database_url, rabbit_url):
    """Return, by operation and size, how many of each kind it took.

    The program is run as anybody runs it: what counts has a process of its own.
    """
    command = [sys.executable, "-m", "tests.perf.count", "--sizes", f"{SMALL},{LARGE}"]
    servers = ["--database", database_url, "--transport", rabbit_url]
    done = subprocess.run([*command, *servers], capture_output=True, text=True, timeout=300, check=False)
    print(done.stdout)
    assert done.returncode == 0, done.stderr
    return {
        (found["operation"], int(found["size"])): tuple(map(float, found.groups()[2:]))
        for found in _LINE.finditer(done.stdout)
    }


def test_what_it_takes_does_not_grow_with_the_stack(counts, database_kind):
    statements, commits, messages = LIMITS
    limits = (statements + BEGIN * commits * (database_kind == "sqlite"), commits, messages)

    for operation in ("create", "delete"):
        assert counts[operation, LARGE] == pytest.approx(counts[operation, SMALL], rel=0.05), operation
    assert [
        f"{what}: {each}"
        for what, each, limit in zip(COUNTED, counts["create", LARGE], limits, strict=True)
        if each > limit
    ] == []
    assert counts["change 1", LARGE] == counts["change 1", SMALL]
    assert counts["no-op", LARGE] == counts["no-op", SMALL]
