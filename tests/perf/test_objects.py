# SPDX-License-Identifier: Apache-2.0
"""What a plugin asks of its service by heatconv is what a script would ask, on connections that stay."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

COUNT = 60
THREADS = 4  #: of each worker, fewer than there are objects
FLEET = ["--workers", "2", "--threads", str(THREADS), "--count", str(COUNT), "--rounds", "1"]


@pytest.fixture
def records(database_url, rabbit_url):
    """Return what each operation took, by who carried it out."""
    servers = ["--database", database_url, "--transport", rabbit_url]
    command = [sys.executable, "-m", "tests.perf.objects", *servers, *FLEET]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    print(done.stdout)
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return {(line["who"], line["operation"]): line for line in lines if "who" in line}


@pytest.mark.timeout(400)
@pytest.mark.parametrize("database_kind", ["postgresql"])
def test_an_object_takes_the_calls_of_a_script_and_no_connection_of_its_own(records):
    whos, operations = ("script", "heatconv"), ("create", "delete")
    assert {key: record["calls_each"] for key, record in records.items()} == {
        (who, operation): 2 for who in whos for operation in operations
    }
    assert all(record["connections"] < COUNT / 2 for record in records.values())
