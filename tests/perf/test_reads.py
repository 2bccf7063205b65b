# SPDX-License-Identifier: Apache-2.0
"""What it takes to read does not grow with how many stacks there are, nor with how many are shown."""

from __future__ import annotations

import subprocess
import sys

import pytest

STACKS, FEWER = 1000, 100


@pytest.fixture
def statements(fresh_database, database_kind):
    """Return a function that gives the statements of each read, with so many stacks of so many resources.

    The program runs as anybody runs it.
    """

    def count(stacks, resources):
        command = [sys.executable, "-m", "tests.perf.reads", "--database", fresh_database(database_kind)]
        sizes = ["--stacks", str(stacks), "--resources", str(resources), "--rounds", "3"]
        done = subprocess.run([*command, *sizes], capture_output=True, text=True, timeout=300, check=False)
        print(done.stdout)
        assert done.returncode == 0, done.stderr
        return {line[:24].strip(): int(line[24:].split()[0]) for line in done.stdout.splitlines()[1:]}

    return count


@pytest.mark.timeout(600)
def test_statements_do_not_depend_on_how_many_there_are(statements):
    many, few = statements(STACKS, 5), statements(FEWER, 20)

    assert many["list, page of 10"] == many["list, page of 100"] == many["list, page of 1000"]
    assert {what: count for what, count in many.items() if what in few} == few
