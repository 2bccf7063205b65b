# SPDX-License-Identifier: Apache-2.0
"""In which order the members of a group come, change and go."""

from __future__ import annotations

import json

import pytest

from heatconv.resources import rolling
from heatconv.resources.rolling import Pace


def more(count):
    return [f"extra{number}" for number in range(count)]


def steps(wanted, present, outdated, pace):
    """Walk a roll; return for each step who is not due yet, and who stands in."""
    roll = rolling.plan(wanted, present, outdated, pace, more)
    walked = [(sorted(rolling.waiting(roll)), roll["spare"])]
    while not rolling.is_over(roll):
        rolling.advance(roll)
        walked.append((sorted(rolling.waiting(roll)), roll["spare"]))
    return walked


@pytest.mark.parametrize(
    ("wanted", "present", "outdated", "pace", "walked"),
    [
        pytest.param("abc", "", "", None, [([], [])], id="all at once"),
        pytest.param("abc", "", "", Pace(batch=2), [(["c"], []), ([], [])], id="made in batches"),
        pytest.param("abc", "ab", "", Pace(batch=1), [([], [])], id="only growth"),
        pytest.param("a", "abc", "", Pace(batch=1), [([], [])], id="only loss"),
        pytest.param(
            "abc", "abc", "abc", Pace(batch=1), [(["b", "c"], []), (["c"], []), ([], [])], id="one by one"
        ),
        pytest.param("abc", "abc", "b", Pace(batch=1), [([], [])], id="only the outdated"),
        pytest.param(
            "ab", "abc", "ab", Pace(batch=1), [(["b"], ["c"]), ([], ["c"]), ([], [])], id="surplus stays"
        ),
        pytest.param(
            "ab",
            "ab",
            "ab",
            Pace(batch=1, in_service=2),
            [(["a", "b"], ["extra0"]), (["b"], ["extra0"]), ([], ["extra0"]), ([], [])],
            id="others stand in",
        ),
        pytest.param(
            "ab",
            "abc",
            "ab",
            Pace(batch=1, in_service=2),
            [(["b"], ["c"]), ([], ["c"]), ([], [])],
            id="the surplus stands in",
        ),
        pytest.param(
            "ab",
            "ab",
            "ab",
            Pace(batch=9, in_service=1),
            [(["a", "b"], ["extra0"]), ([], ["extra0"]), ([], [])],
            id="a batch has no more than there are",
        ),
    ],
)
def test_the_steps_of_a_roll(wanted, present, outdated, pace, walked):
    assert steps(list(wanted), list(present), set(outdated), pace) == walked


def test_so_many_are_in_service_at_each_step():
    wanted = [str(number) for number in range(7)]
    for in_service in range(9):
        for batch in range(1, 9):
            pace = Pace(batch=batch, in_service=in_service)
            roll = rolling.plan(wanted, wanted, set(wanted), pace, more)
            there = set(wanted)
            before = set(wanted)
            while True:
                changing = before - rolling.waiting(roll)
                assert len(there - changing) >= min(in_service, len(wanted))
                assert len(changing) <= batch
                there, before = {*wanted, *roll["spare"]}, rolling.waiting(roll)
                if rolling.is_over(roll):
                    break
                rolling.advance(roll)


def test_a_roll_is_plain_json():
    roll = rolling.plan(["a", "b"], ["a", "b"], {"a"}, Pace(batch=1, pause=2, in_service=2), more)

    assert json.loads(json.dumps(roll)) == roll
