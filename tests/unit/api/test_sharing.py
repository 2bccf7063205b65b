# SPDX-License-Identifier: Apache-2.0
"""Many who ask for the same are given one answer, and each of them an answer that is new enough."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from heatconv import errors
from heatconv.api.call import Answer
from heatconv.api.sharing import Shared

PATIENCE = 10  #: seconds in which something happens that is to happen
LONG = 3600.0


@pytest.fixture
def reading():
    """Return a reader that begins when it is asked and ends when it is let, and counts."""

    class Reading:
        def __init__(self):
            self.begun, self.let, self.count = threading.Event(), threading.Event(), 0
            self.error = None

        def __call__(self):
            self.count += 1
            self.begun.set()
            assert self.let.wait(PATIENCE)
            if self.error:
                raise self.error
            return Answer(self.count)

    return Reading()


def test_who_asks_while_it_is_read_is_given_the_same(reading):
    shared = Shared(LONG)
    with ThreadPoolExecutor() as pool:
        first = pool.submit(shared.get, "a", reading)
        assert reading.begun.wait(PATIENCE)
        others = [pool.submit(shared.get, "a", reading) for _ in range(3)]
        reading.let.set()
        answers = [each.result(PATIENCE) for each in (first, *others)]
    assert reading.count == 1
    assert all(each is answers[0] for each in answers)
    assert answers[0].text == "1"


def test_what_differs_is_read_by_itself(reading):
    shared = Shared(LONG)
    reading.let.set()
    assert [shared.get(key, reading).body for key in ("a", "b", "a")] == [1, 2, 1]


def test_an_answer_counts_for_its_time_alone(reading):
    shared = Shared(0)
    reading.let.set()
    assert [shared.get("a", reading).body for _ in range(2)] == [1, 2]


def test_an_error_is_that_of_who_waits_and_of_nobody_after_them(reading):
    shared = Shared(LONG)
    reading.error = errors.NotFound(entity="Stack", name="a")
    with ThreadPoolExecutor() as pool:
        asked = [pool.submit(shared.get, "a", reading)]
        assert reading.begun.wait(PATIENCE)
        reading.let.set()
        with pytest.raises(errors.NotFound):
            asked[0].result(PATIENCE)
    reading.error = None
    assert shared.get("a", reading).body == 2
