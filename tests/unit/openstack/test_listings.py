# SPDX-License-Identifier: Apache-2.0
"""One listing answers all that wait; time passes when a test says so."""

from __future__ import annotations

import threading

import pytest

from heatconv.openstack.listings import AWAY, REFUSED, REMEMBERED, ROUND, Listings


class Service:
    """A service of things in a state, by id; it counts how often it is asked."""

    def __init__(self):
        self.states = {}
        self.asked = 0
        self.error = None

    def __call__(self, ids):
        self.asked += 1
        if self.error is not None:
            raise self.error
        yield [{"id": each, "status": self.states[each]} for each in ids if each in self.states]


class Refused(Exception):
    def __init__(self, status):
        super().__init__(f"status {status}")
        self.http_status = status


class Time:
    now = 1000.0

    def __call__(self):
        return self.now


@pytest.fixture
def time():
    return Time()


@pytest.fixture
def service():
    return Service()


@pytest.fixture
def waits(time, service):
    """Return a function that returns whether a thing still builds."""
    listings = Listings(time)
    return lambda thing, key="key": listings.goes_on(
        key, thing, service, lambda found: found["status"] == "BUILD"
    )


def make(service, number):
    service.states = {f"thing-{each}": "BUILD" for each in range(number)}
    return list(service.states)


@pytest.mark.parametrize("number", [2, 50, 500])
def test_a_round_costs_one_call_however_many_wait(waits, service, time, number):
    things = make(service, number)
    for _ in range(5):
        time.now += ROUND
        for thing in things:
            waits(thing)
    assert service.asked == 5
    assert all(waits(thing) for thing in things)


def test_one_that_waits_alone_is_looked_at_by_itself(waits, service):
    [thing] = make(service, 1)
    assert not waits(thing)
    assert service.asked == 0


def test_one_whose_fellows_are_done_waits_alone_again(waits, service, time):
    first, second = make(service, 2)
    waits(first)
    assert waits(second)
    time.now += REMEMBERED
    assert not waits(first)


def test_what_a_listing_lacks_or_tells_otherwise_is_to_be_looked_at(waits, service, time):
    first, second, third = make(service, 3)
    waits(first)
    time.now += ROUND
    service.states = {second: "ACTIVE", third: "BUILD"}
    assert [waits(each) for each in (first, second, third)] == [False, False, True]


def test_each_user_is_told_what_that_user_sees(waits, service):
    first, second = make(service, 2)
    assert waits(first, "one's") is waits(second, "another's") is False
    assert service.asked == 0


def test_a_service_that_is_away_is_asked_now_and_then_for_all(waits, service, time):
    things = make(service, 50)
    service.error = Refused(503)
    waits(things[0])
    assert all(waits(thing) for thing in things[1:])
    assert service.asked == 1
    time.now += AWAY
    service.error = None
    service.states[things[0]] = "ACTIVE"
    assert [waits(thing) for thing in things] == [False, *[True] * 49]
    assert service.asked == 2


def test_where_nobody_may_list_each_is_looked_at(waits, service, time):
    things = make(service, 50)
    service.error = Refused(403)
    assert not any(waits(thing) for thing in things)
    time.now += REFUSED - 1
    assert not any(waits(thing) for thing in things)
    assert service.asked == 1


def test_nobody_is_held_up_by_another_who_asks(time):
    """A listing that takes its time: a resource that comes meanwhile asks again later."""
    asked, answered, answers = threading.Event(), threading.Event(), []
    listings = Listings(time)

    def slow(ids):
        asked.set()
        assert answered.wait(30)
        yield [{"id": each, "status": "BUILD"} for each in ids]

    def goes_on(thing):
        return listings.goes_on("key", thing, slow, lambda found: found["status"] == "BUILD")

    goes_on("first")
    asking = threading.Thread(target=lambda: answers.append(goes_on("second")))
    asking.start()
    assert asked.wait(30)
    assert goes_on("third")
    answered.set()
    asking.join(30)
    assert answers == [True]


def test_as_many_calls_as_pages_are_worth_it_for_more_than_that_only(time):
    pages, asked = 3, []
    listings = Listings(time)

    def lists(ids):
        asked.append(ids)
        for _ in range(pages):
            yield [{"id": each, "status": "BUILD"} for each in ids]

    def goes_on(thing):
        return listings.goes_on("key", thing, lists, lambda _found: True)

    goes_on("first")
    assert goes_on("second")
    time.now += ROUND
    assert [goes_on(each) for each in ("first", "second", "third")] == [False, False, False]
    assert goes_on("fourth")
    assert len(asked) == 2
