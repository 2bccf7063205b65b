# SPDX-License-Identifier: Apache-2.0
"""What a plan takes follows what the change reaches, and not how large the stack is."""

from __future__ import annotations

import subprocess
import sys

import pytest

SMALL, LARGE = 100, 1000
MOST = 20  #: statements of the plan of one change


@pytest.fixture
def figures(fresh_database, database_kind):
    """Return (statements, touched resources) by what is done, and the size of the stack.

    The program runs as anybody runs it.
    """
    command = [sys.executable, "-m", "tests.perf.plans", "--database", fresh_database(database_kind)]
    done = subprocess.run(
        [*command, "--sizes", f"{SMALL},{LARGE}"], capture_output=True, text=True, timeout=300, check=False
    )
    print(done.stdout)
    assert done.returncode == 0, done.stderr
    lines = [(line[:34].strip(), line[34:].split()) for line in done.stdout.splitlines()[1:]]
    return {(what, int(cells[0])): (int(cells[1]), int(cells[3])) for what, cells in lines}


@pytest.mark.timeout(400)
def test_statements_of_a_plan_follow_the_change(figures):
    plans = sorted({what for what, _ in figures})
    assert {what: figures[what, LARGE] for what in plans} == {what: figures[what, SMALL] for what in plans}
    assert figures["plan of one", LARGE][0] <= MOST
    assert [figures[f"plan of {what}", LARGE][1] for what in ("nothing", "one", "ten")] == [0, 1, 10]
