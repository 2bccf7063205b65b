# SPDX-License-Identifier: Apache-2.0
"""What a resource costs does not grow with its stack; what an update costs follows the change."""

from __future__ import annotations

import subprocess
import sys

import pytest

SMALL, LARGE = 100, 300
COUNTED = ("statements", "commits", "messages")
LIMITS = (11.0, 3.1, 1.1)  #: of what it takes to create one resource of a wide stack
BEGIN = 1  #: statement more that a transaction is on SQLite, whose driver has to be told to begin

#: How far apart counts may be that should be the same: daemons heartbeat in between.
EACH, IN_ALL = 0.05, 0.2


@pytest.fixture
def counts(database_url, rabbit_url):
    """Return, by operation and size, how many of each kind it took.

    The program runs as anybody runs it: what is counted has a process of its own.
    Each worker has one thread, with which it shares no transaction: so the counts
    are the same each time, and the most that they can be.
    """
    command = [sys.executable, "-m", "tests.perf.count", "--sizes", f"{SMALL},{LARGE}", "--threads", "1"]
    servers = ["--database", database_url, "--transport", rabbit_url]
    done = subprocess.run([*command, *servers], capture_output=True, text=True, timeout=300, check=False)
    print(done.stdout)
    assert done.returncode == 0, done.stderr
    lines = [(line[:10].strip(), line[10:].split()) for line in done.stdout.splitlines()[1:]]
    return {
        (operation, int(figures[0])): dict(zip(COUNTED, map(float, figures[2:5]), strict=True))
        for operation, figures in lines
    }


@pytest.mark.timeout(400)
def test_what_it_takes_does_not_grow_with_the_stack(counts, database_kind):
    limits = dict(zip(COUNTED, LIMITS, strict=True))
    if database_kind == "sqlite":
        limits["statements"] += BEGIN * limits["commits"]

    created = counts["create", LARGE]
    assert {what: created[what] for what in COUNTED if created[what] > limits[what]} == {}
    for operation, apart in (("create", EACH), ("delete", EACH), ("change 1", IN_ALL), ("no-op", IN_ALL)):
        small, large = counts[operation, SMALL], counts[operation, LARGE]
        grown = {what: large[what] for what in COUNTED if large[what] > small[what] * (1 + apart)}
        assert grown == {}, operation
