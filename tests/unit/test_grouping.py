# SPDX-License-Identifier: Apache-2.0
"""Who goes together with whom, and what becomes of those whose group goes wrong."""

from __future__ import annotations

import random
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from types import SimpleNamespace

import pytest

from heatconv import grouping
from heatconv.grouping import BESIDE, MOMENT, MOST, Grouping

PATIENCE = 30
ABREAST = 2


class Counter:
    """Doubles numbers, alone or together, and notes in what company; the first ones wait at a gate.

    Each thousand is a stack.
    """

    def __init__(self, held=0, abreast=ABREAST, patience=-1):
        self.groups = []
        self.gate = threading.Event()
        self._held = threading.Semaphore(held)
        self.entered = threading.Semaphore(0)
        self.group = Grouping(
            self.see_to, lambda number: str(abs(number) // 1000), abreast, patience=patience
        )

    def see_to(self, numbers):
        self.groups.append(list(numbers))
        if len(numbers) == 1:
            self._pass()
            if numbers[0] < 0:
                raise ValueError(numbers[0])
            return [numbers[0] * 2]
        if any(number == -1 for number in numbers):
            raise ValueError("the group is spoilt")
        return [None if number == 0 else number * 2 for number in numbers]

    def _pass(self):
        if self._held.acquire(blocking=False):
            self.entered.release()
            assert self.gate.wait(PATIENCE)


def waiting(counter, count):
    """Wait until so many calls wait for their turn."""
    deadline = threading.Event()
    for _ in range(PATIENCE * 1000):
        if len(counter.group._waiting) == count:
            return
        deadline.wait(0.001)
    raise AssertionError("they did not come")


def behind_a_gate(calls, abreast=ABREAST):
    """Return what came of calls that came while as many as may be under way were; and the counter."""
    counter = Counter(abreast, abreast)
    with ThreadPoolExecutor(abreast + len(calls)) as pool:
        first = [pool.submit(counter.group, 100) for _ in range(abreast)]
        for _ in first:
            assert counter.entered.acquire(timeout=PATIENCE)
        others = []
        for count, call in enumerate(calls, start=1):
            others.append(pool.submit(counter.group, call))
            waiting(counter, count)
        counter.gate.set()
        assert [future.result(PATIENCE) for future in first] == [200] * abreast
    return counter, others


def test_who_comes_while_nothing_is_under_way_is_alone():
    counter = Counter()

    assert [counter.group(number) for number in (1, 2, 3)] == [2, 4, 6]
    assert counter.groups == [[1], [2], [3]]


def test_those_who_come_meanwhile_go_together():
    counter, calls = behind_a_gate([1, 2, 3])

    assert [call.result() for call in calls] == [2, 4, 6]
    assert [1, 2, 3] in counter.groups


def test_a_group_has_a_limit():
    counter, calls = behind_a_gate(range(1, MOST + 3))

    assert [call.result() for call in calls] == [number * 2 for number in range(1, MOST + 3)]
    assert max(map(len, counter.groups)) == MOST


def test_what_is_left_out_of_a_group_is_seen_to_alone():
    counter, calls = behind_a_gate([1, 0, 3])

    assert [call.result() for call in calls] == [2, 0, 6]
    assert [1, 0, 3] in counter.groups
    assert [0] in counter.groups


def test_if_a_group_fails_each_is_seen_to_alone_and_only_the_cause_fails():
    counter, calls = behind_a_gate([1, -1, 3])

    assert [calls[0].result(), calls[2].result()] == [2, 6]
    with pytest.raises(ValueError, match="-1"):
        calls[1].result()
    assert sorted(counter.groups[ABREAST + 1 :]) == [[-1], [1], [3]]


def test_what_a_thread_begins_at_once_goes_together_and_only_the_cause_fails():
    counter = Counter()

    first, spoilt, left_out, last = counter.group.each([1, -1, 0, 3])

    assert isinstance(spoilt, ValueError)
    assert [first, left_out, last] == [2, 0, 6]
    assert counter.groups == [[1, -1, 0, 3], [1], [-1], [0], [3]]
    assert counter.group.each([]) == []
    assert counter.group(5) == 10


def test_what_a_thread_begins_waits_for_its_turn():
    counter = Counter(ABREAST, ABREAST)
    with ThreadPoolExecutor(ABREAST + 1) as pool:
        busy = [pool.submit(counter.group, 100) for _ in range(ABREAST)]
        for _ in busy:
            assert counter.entered.acquire(timeout=PATIENCE)
        begun = pool.submit(counter.group.each, [1, 2])
        waiting(counter, 2)
        counter.gate.set()
        assert begun.result(PATIENCE) == [2, 4]
    assert [1, 2] in counter.groups


def test_a_failure_ends_nothing_for_others():
    counter = Counter()
    for _ in range(ABREAST + 1):
        with pytest.raises(ValueError, match="-5"):
            counter.group(-5)

    assert counter.group(1) == 2


def test_a_stack_that_has_nothing_under_way_does_not_wait_for_the_groups_of_another():
    counter = Counter(held=ABREAST)
    with ThreadPoolExecutor(ABREAST + 1) as pool:
        busy = [pool.submit(counter.group, number) for number in (1, 2)]
        for _ in busy:
            assert counter.entered.acquire(timeout=PATIENCE)
        others = pool.submit(counter.group, 3)
        waiting(counter, 1)

        assert counter.group(1001) == 2002
        assert not others.done()
        counter.gate.set()
        assert [future.result(PATIENCE) for future in (*busy, others)] == [2, 4, 6]


def test_only_a_few_trees_go_aside():
    few = ABREAST + BESIDE
    counter = Counter(held=few)
    with ThreadPoolExecutor(few + 1) as pool:
        busy = [pool.submit(counter.group, number) for number in (1, 2, 1000, 2000)]
        for _ in range(few):
            assert counter.entered.acquire(timeout=PATIENCE)
        another = pool.submit(counter.group, 3000)
        waiting(counter, 1)
        counter.gate.set()
        assert [future.result(PATIENCE) for future in (*busy, another)] == [2, 4, 2000, 4000, 6000]
    assert counter.group._under_way == 0
    assert not counter.group._trees


def test_who_has_waited_for_long_enough_is_seen_to_alone():
    counter = Counter(held=ABREAST, patience=0.01)
    with ThreadPoolExecutor(ABREAST) as pool:
        busy = [pool.submit(counter.group, number) for number in (1, 2)]
        for _ in busy:
            assert counter.entered.acquire(timeout=PATIENCE)

        assert counter.group(3) == 6
        assert [3] in counter.groups
        assert not any(future.done() for future in busy)
        counter.gate.set()
        assert [future.result(PATIENCE) for future in busy] == [2, 4]
    assert counter.group._under_way == 0
    assert not counter.group._waiting


def test_many_threads_all_get_their_own_answer():
    counter = Counter()
    numbers = [random.randrange(-3, 50) + random.choice((0, 0, 0, 1000, 2000)) for _ in range(5000)]

    some = [numbers[start : start + 1 + start // 3 % 3] for start in range(0, len(numbers), 3)]
    numbers = [number for each in some for number in each]
    with ThreadPoolExecutor(32) as pool:
        answers = [answer for each in pool.map(counter.group.each, some, timeout=PATIENCE) for answer in each]

    assert [answer for answer, number in zip(answers, numbers, strict=True) if number >= 0] == [
        number * 2 for number in numbers if number >= 0
    ]
    assert counter.group._under_way == 0


def moments(monkeypatch, happens=lambda: None):
    """Let something happen in each moment that a group waits; return the moments so far."""
    passed = []

    def moment(seconds):
        passed.append(seconds)
        happens()

    monkeypatch.setattr(grouping, "time", SimpleNamespace(sleep=moment))
    return passed


@pytest.mark.parametrize(("come", "moments_waited"), [(1, 2), (2, 1)])
def test_a_group_waits_for_as_many_as_lately_or_until_nobody_comes(monkeypatch, come, moments_waited):
    counter, _ = behind_a_gate([1, 2, 3], abreast=1)
    later: list[Future[int]] = []
    with ThreadPoolExecutor(2) as pool:

        def others_come():
            while len(later) < come:
                later.append(pool.submit(counter.group, 5 + len(later)))
                waiting(counter, len(later))

        passed = moments(monkeypatch, others_come)
        assert counter.group(4) == 8
        assert [future.result(PATIENCE) for future in later] == [10, 12][:come]
    assert sorted(counter.groups[-1]) == [4, 5, 6][: 1 + come]
    assert passed == [MOMENT] * moments_waited


def test_who_was_alone_after_all_is_not_kept_waiting_again(monkeypatch):
    counter, _ = behind_a_gate([1, 2, 3], abreast=1)
    passed = moments(monkeypatch)

    assert [counter.group(4), counter.group(5)] == [8, 10]
    assert passed == [MOMENT]
