# SPDX-License-Identifier: Apache-2.0
"""Clients that wait for changes of their stacks ask for little, and are sent each change."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

CLIENTS = ["--clients", "40", "--seconds", "10", "--every", "2", "--rounds", "1", "--how", "poll,wait"]


@pytest.fixture
def rounds(database_url, rabbit_url):
    """Return what clients took that look in one way, by that way."""
    servers = ["--database", database_url, "--transport", rabbit_url]
    command = [sys.executable, "-m", "tests.perf.watching", *servers, *CLIENTS]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    print(done.stdout)
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return {line["how"]: line for line in lines if "how" in line}


@pytest.mark.timeout(400)
@pytest.mark.parametrize("database_kind", ["postgresql"])
def test_who_waits_asks_for_a_fraction_and_sees_every_change(rounds):
    polling, waiting = rounds["poll"], rounds["wait"]
    for what in ("statements", "messages"):
        assert waiting["sent_per_second"][what] < polling["sent_per_second"][what] / 2
    assert waiting["updates"] - 1 <= waiting["updates_seen"] <= waiting["updates"]
