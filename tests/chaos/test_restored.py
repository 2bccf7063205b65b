# SPDX-License-Identifier: Apache-2.0
"""A dump is taken at a random moment, and restored hours later, when the world has gone on."""

from __future__ import annotations

import os
import random

import pytest

from tests.chaos.restored import LIVES, Life, Moment, boundaries, judge, restore

MOMENTS = int(os.environ.get("HEATCONV_RESTORED_MOMENTS", "7"))  #: of each life


@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", LIVES)
def test_what_was_wanted_when_the_dump_was_taken_is_there_and_orphans_are_named(bench, add_line, name):
    choice = random.Random(name)
    engine, worker = boundaries(bench, LIVES[name])
    wrong, orphans = {}, 0
    for number in range(MOMENTS):
        if number % 3:
            moment = Moment(worker=choice.randint(1, worker))
        else:
            moment = Moment(engine=choice.randint(1, engine))
        life = Life(bench, LIVES[name], moment)
        restore(bench, life)
        problems, named = judge(bench, life.wanted)
        orphans += named
        if problems:
            wrong[moment] = problems
    add_line(f"restored: {name:10} {MOMENTS:4} moments, {orphans} orphans, {len(wrong)} wrong worlds")
    assert not wrong, wrong
    # Of what goes in the end nothing is left that the dump would not know.
    assert bool(orphans) is (name != "goes")
