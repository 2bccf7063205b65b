# SPDX-License-Identifier: Apache-2.0
"""Kill a worker, or an engine, at each boundary of each operation, and see how the world comes out.

``--database postgresql`` (or ``mariadb``) steps through the same on a server; ``HEATCONV_STEPPER_STRIDE=3``
tries each third boundary.
"""

from __future__ import annotations

import itertools
import os

import pytest

from tests.chaos.bench import DEATHS, Death, judge
from tests.chaos.stories import STORIES

#: Wrong worlds that are shown in full; where there are more, the first few say enough.
SHOWN = 5

STRIDE = int(os.environ.get("HEATCONV_STEPPER_STRIDE", "1"))  #: from one boundary to the next that is tried


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("who", DEATHS)
@pytest.mark.parametrize("name", STORIES)
def test_the_world_comes_out_right_wherever_one_dies(bench, add_line, name, who):
    story = STORIES[name]
    undisturbed = bench.play(story)
    assert undisturbed.problems == []
    deaths = DEATHS[who](bench, story)
    tried = deaths.each[::STRIDE]
    wrong = {}
    for death in tried:
        run = bench.play(story, death)
        problems = judge(run, undisturbed, story, death)
        if problems:
            wrong[death] = "\n".join([f"{death}", *problems, " | ".join(run.history)])
    add_line(
        f"{name:20} {who:34} {deaths.boundaries:4} boundaries, {len(tried):4} runs,"
        f" {len(wrong):3} wrong worlds"
    )
    assert deaths.boundaries > 30
    assert not wrong, "\n\n".join([*wrong.values()][:SHOWN])


def test_what_has_drifted_inside_is_not_made_anew_if_its_healing_begins_again(bench):
    story = STORIES["tree_heal"]
    undisturbed = bench.play(story)
    steps = enumerate(itertools.pairwise(undisturbed.engine), start=1)
    committed = [number for number, pair in steps if pair == ("after COMMIT", "before a cast")]
    assert committed
    for number in committed:
        death = Death(engine=number)
        assert judge(bench.play(story, death), undisturbed, story, death) == []
