# SPDX-License-Identifier: Apache-2.0
"""A plan keeps its word: random edits of random templates are planned, applied, and held against the cloud.

The judge is the cloud's own log of what it was asked.  All that was certain has happened, and nothing
but what was said to be certain or possible.
"""

from __future__ import annotations

import os
import random
from collections import Counter

import pytest

from tests.functional.plans.edits import EDITS
from tests.functional.plans.keeping import Keeping, listed, summary

STACKS = int(os.environ.get("HEATCONV_PLANNED_STACKS", "4"))
PLANNED = int(os.environ.get("HEATCONV_PLANNED_EDITS", "12"))  #: edits of each stack


@pytest.mark.timeout(0)
def test_what_is_certain_happens_and_nothing_else_but_what_is_possible(new_world, capsys):
    runs = []
    for number in range(STACKS):
        keeping = Keeping(random.Random(number))
        runs.append(keeping)
        world = new_world()
        world.create(keeping.template)
        assert world.state().startswith("CREATE_COMPLETE")
        for _ in range(PLANNED):
            if not keeping.edit(world):
                break  # the next edit would be of a world that nobody knows
    misses = [f"stack {number}: {miss}" for number, run in enumerate(runs) for miss in run.misses]
    said = sum((run.said for run in runs), Counter[str]())
    counts = sum((run.counts for run in runs), Counter[str]())
    with capsys.disabled():
        print("", *misses, sep="\n")  # noqa: T201 - pytest would cut them short
        print(f"\n{STACKS} stacks, {summary(said, misses)}; {listed(counts)}")  # noqa: T201
    assert misses == []
    assert {kind.__name__ for kind in EDITS} <= counts.keys()
