# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from heatconv.rpc.context import RequestContext
from heatconv.worker.engine_calls import CALLS, ENOUGH, FEW, LONG, MOST, EngineCalls, FewCalls


class Threads:
    """Threads that run what they were given when they are told to."""

    def __init__(self):
        self.given = []

    def run(self, *, times=1):
        for _ in range(times):
            self.given.pop(0)()


@pytest.fixture
def threads():
    return Threads()


@pytest.fixture
def waiting():
    """How many checks wait, as the only item."""
    return [0]


@pytest.fixture
def aside(threads, waiting):
    return EngineCalls(threads.given.append, lambda: waiting[0])


def call_all(aside, count, function=lambda: None):
    for _ in range(count):
        aside.call(function)


def test_few_are_under_way_until_it_is_known_that_they_are_short(aside, threads):
    call_all(aside, MOST * 2)
    assert len(threads.given) == FEW
    threads.run()
    assert len(threads.given) == MOST


def test_few_are_under_way_while_they_are_long(aside, threads, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])

    def take_long():
        now[0] += LONG * 2

    call_all(aside, MOST, take_long)
    for _ in range(MOST - FEW):
        assert len(threads.given) == FEW
        threads.run()


def test_none_begins_while_enough_checks_wait_and_the_end_of_one_lets_it(aside, threads, waiting):
    waiting[0] = ENOUGH
    call_all(aside, 1)
    aside.go_on()
    assert not threads.given
    waiting[0] = ENOUGH - 1
    aside.go_on()
    assert len(threads.given) == 1


def test_one_that_fails_leaves_its_place_to_the_next(aside, threads):
    def fail():
        raise ValueError("broken")

    called = []
    call_all(aside, FEW, fail)
    aside.call(lambda: called.append(True))
    for _ in range(FEW):
        with pytest.raises(ValueError, match="broken"):
            threads.run()
    threads.run()
    assert called == [True]


def test_few_calls_are_under_way_however_many_ask():
    under_way, answered = threading.Semaphore(0), threading.Event()

    class Caller:
        most = now = 0

        def call(self, context, method, **arguments):
            self.now += 1
            self.most = max(self.most, self.now)
            under_way.release()
            assert answered.wait(60)
            self.now -= 1

    caller = Caller()
    calls = FewCalls(caller)
    with ThreadPoolExecutor(CALLS * 2) as pool:
        for _ in range(CALLS * 2):
            pool.submit(calls.call, RequestContext(project_id="p"), "show_stack")
        for _ in range(CALLS):
            assert under_way.acquire(timeout=60)
        answered.set()
    assert caller.most == CALLS
