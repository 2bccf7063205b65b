# SPDX-License-Identifier: Apache-2.0
"""The waiting room calls what is due, in order, on somebody else's pool."""

from __future__ import annotations

import queue
import threading
import time
from functools import partial

import pytest

from heatconv.worker.waiting import WaitingRoom

PATIENCE = 10  #: seconds


@pytest.fixture
def called():
    """Return the queue of what was called."""
    return queue.Queue()


@pytest.fixture
def room():
    opened = WaitingRoom(lambda function: function())
    yield opened
    opened.close()


@pytest.fixture
def held(room):
    """Return a room that calls nothing until the event is set."""
    gate = threading.Event()

    def hold() -> None:
        gate.wait(PATIENCE)

    room.call_later(0, hold)
    return room, gate


def test_nothing_is_called_before_it_is_due(room, called):
    begun = time.monotonic()
    room.call_later(3600, partial(called.put, "much later"))
    room.call_later(0.05, partial(called.put, "soon"))

    assert called.get(timeout=PATIENCE) == "soon"
    assert time.monotonic() - begun >= 0.05
    assert called.empty()


@pytest.mark.parametrize("seconds", [float("inf"), float("nan"), 1e308, 10**11])
def test_a_wait_for_ever_holds_up_nobody(room, called, seconds):
    room.call_later(seconds, partial(called.put, "never"))
    room.call_later(0.01, partial(called.put, "soon"))

    assert called.get(timeout=PATIENCE) == "soon"
    assert called.empty()


def test_what_has_been_due_the_longest_is_called_first(held, called):
    room, gate = held
    for seconds in (-100, -300, -200):
        room.call_later(seconds, partial(called.put, seconds))
    gate.set()

    assert [called.get(timeout=PATIENCE) for _ in range(3)] == [-300, -200, -100]


def test_a_room_that_is_closed_calls_nothing_any_more(called):
    room = WaitingRoom(lambda function: function())
    room.call_later(3600, partial(called.put, "later"))
    room.close()
    room.call_later(0, partial(called.put, "late"))

    assert called.empty()


def test_who_calls_does_not_wait(called):
    submitted: queue.Queue[object] = queue.Queue()
    room = WaitingRoom(submitted.put)
    room.call_later(0, partial(called.put, "done"))

    function = submitted.get(timeout=PATIENCE)
    assert called.empty()
    assert callable(function)
    function()
    assert called.get_nowait() == "done"
    room.close()
