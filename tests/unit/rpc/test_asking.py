# SPDX-License-Identifier: Apache-2.0
"""Until when somebody waits who asks engines that do not answer, and how often they are asked meanwhile."""

from __future__ import annotations

from itertools import pairwise

import oslo_messaging
import pytest

from heatconv import errors
from heatconv.rpc import asking
from heatconv.rpc.asked import Asked
from heatconv.rpc.bus import Bus
from heatconv.rpc.context import RequestContext

CONTEXT = RequestContext(project_id="mine")


class Clock:
    """Time that passes only for those who wait for an engine."""

    def __init__(self):
        self.now = 1000.0

    def monotonic(self):
        return self.now

    time = monotonic


class Engines(Bus):
    """What comes of each call: an engine is heard of for so many seconds, and then answers or not."""

    response_timeout = 60.0

    def __init__(self, clock):
        self._clock = clock
        self.calls = []  #: when each was made, and what it says of the request
        self.alive = []  #: of the next calls, for how many seconds an engine is heard of
        self.answers = []  #: of the calls after those

    def client(self, _topic):
        return self

    def prepare(self, *, timeout=None, call_monitor_timeout=None, transport_options=None, version=None):
        self._pause, self._timeout = call_monitor_timeout, timeout
        return self

    def call(self, context, _method):
        self.calls.append((self._clock.now, Asked.among(context)))
        if not self.alive and self.answers:
            return self.answers.pop()
        heard = self.alive.pop(0) if self.alive else 0.0
        self._clock.now += min(heard + self._pause, self._timeout)
        raise oslo_messaging.MessagingTimeout


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(asking, "time", clock)
    return clock


@pytest.fixture
def engines(clock):
    return Engines(clock)


@pytest.fixture
def caller(engines):
    return asking.EngineCaller(engines)


def test_the_same_is_asked_until_nobody_should_have_to_wait_any_longer(caller, engines, clock):
    begun = clock.now
    with pytest.raises(errors.TransportError, match="look before trying again"):
        caller.call(CONTEXT, "show")

    assert asking.PATIENCE <= clock.now - begun < asking.PATIENCE + asking.LATER_PAUSE
    moments, asked = zip(*engines.calls, strict=True)
    assert max(later - earlier for earlier, later in pairwise(moments)) <= asking.LATER_PAUSE
    assert len({each.id for each in asked}) == 1
    assert [each.number for each in asked] == list(range(1, len(asked) + 1))


def test_what_a_request_asks_one_after_the_other_counts_from_when_it_was_there(caller, engines, clock):
    begun = clock.now
    clock.now += 4.0  # no thread was free for it
    with asking.waited_for_since(begun):
        engines.alive, engines.answers = [0.0, 0.0], ["identified"]
        assert caller.call(CONTEXT, "identify") == "identified"
        with pytest.raises(errors.TransportError):
            caller.call(CONTEXT, "show")

    assert asking.PATIENCE <= clock.now - begun < asking.PATIENCE + asking.LATER_PAUSE


def test_a_request_that_nobody_should_wait_for_any_longer_is_not_begun(caller, engines, clock):
    since = clock.now
    clock.now += asking.PATIENCE
    with asking.waited_for_since(since), pytest.raises(errors.TransportError, match="was not begun"):
        caller.call(CONTEXT, "create")

    assert engines.calls == []


@pytest.mark.parametrize(("late", "begun"), [(asking.LATEST - 0.1, True), (asking.LATEST + 1.0, False)])
def test_a_request_that_comes_late_to_engines_that_do_answer_is_begun(caller, engines, clock, late, begun):
    engines.answers = ["done", "shown"]
    since = clock.now
    clock.now += late
    assert caller.call(CONTEXT, "show") == "shown"

    with asking.waited_for_since(since):
        if begun:
            assert caller.call(CONTEXT, "create") == "done"
        else:
            with pytest.raises(errors.TransportError, match="this waited for 12 s"):
                caller.call(CONTEXT, "create")


def test_a_late_request_is_not_waited_for_much_longer(caller, engines, clock):
    since = clock.now
    clock.now += asking.LATEST - 0.1
    engines.answers = ["shown"]
    caller.call(CONTEXT, "show")
    with asking.waited_for_since(since), pytest.raises(errors.TransportError):
        caller.call(CONTEXT, "create")

    assert clock.now - since < 15


def test_after_an_engine_that_took_long_and_died_another_one_is_asked(caller, engines):
    engines.alive, engines.answers = [30.0], ["done"]

    assert caller.call(CONTEXT, "preview") == "done"


def test_engines_that_die_of_it_one_after_the_other_do_not_keep_anybody_waiting(caller, engines, clock):
    begun = clock.now
    engines.alive = [9.0]
    with pytest.raises(errors.TransportError):
        caller.call(CONTEXT, "show")

    assert clock.now - begun < 15


def test_an_engine_that_is_alive_has_to_answer_in_time_all_the_same(caller, engines, clock):
    begun = clock.now
    engines.alive = [1000.0]
    with pytest.raises(errors.TransportError):
        caller.call(CONTEXT, "show")

    assert clock.now - begun == engines.response_timeout
