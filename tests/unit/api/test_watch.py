# SPDX-License-Identifier: Apache-2.0
"""Who has the newest answer waits for the next, as far as the server can hold requests."""

from __future__ import annotations

import json
import threading

import pytest
from falcon import testing

from heatconv import errors
from heatconv.api import deploy
from heatconv.api.watch import HOLD
from heatconv.rpc.engine_client import EngineClient

PATIENCE = 10  #: seconds in which something happens that is to happen


class FakeHold:
    """What a server has for a request."""

    def __init__(self, *, has_place=True):
        self.wait = None
        self.is_in_vain = False
        self.is_begun = False
        self.begun = 0
        self.ended = threading.Semaphore(0)
        self._has_place = has_place
        self._then = lambda: None

    def try_begin(self):
        self.answered()
        self.begun += self._has_place
        self.is_begun = self._has_place
        return self._has_place

    def end(self, then):
        self._then = then
        self.is_begun = False
        self.ended.release()

    def answered(self):
        """Call whoever is to know that there is an answer."""
        then, self._then = self._then, lambda: None
        then()

    def is_over(self):
        return self.ended.acquire(timeout=PATIENCE)


@pytest.fixture
def conf(conf):
    conf.set_override("watch_interval", 0.05, "api")
    return conf


@pytest.fixture
def stack(engine):
    stack_id = engine.add_stack("web")
    engine.add_resource(stack_id, "a")
    engine.add_event(stack_id, "a", "CREATE", "COMPLETE")
    return f"/v1/default/stacks/web/{stack_id}"


@pytest.fixture
def ask(api):
    """Return a function that asks for something again, with the tag of an answer, and may be held."""

    def ask(path, hold, *, wait=60, tag=None, **query):
        tag = tag or api.simulate_get(path, params=query).headers["etag"]
        return api.simulate_get(
            path, params={**query, "wait": wait}, headers={"If-None-Match": tag}, extras={HOLD: hold}
        )

    return ask


def looks(engine):
    """Return of which stacks an engine was asked whether they have changed, call by call."""
    return [sorted(known) for known in engine.known]


@pytest.mark.parametrize("below", ["", "/resources", "/resources/a", "/events", "/resources/a/events"])
def test_a_request_waits_until_its_stack_changes(ask, engine, stack, below):
    hold = FakeHold()
    assert ask(stack + below, hold).status_code == 304
    assert hold.begun == 1

    stack_id = stack.rsplit("/", 1)[1]
    engine.resources[stack_id][0]["status"] = "FAILED"
    engine.stacks[stack_id]["status"] = "FAILED"
    engine.add_event(stack_id, "a", "CHECK", "FAILED")

    assert hold.is_over()
    # The server asks for the answer once more, with what the client has sent.
    assert ask(stack + below, hold, tag='"as it was"').status_code == 200
    assert hold.begun == 1


def test_what_has_changed_already_is_answered_at_once(ask, stack):
    hold = FakeHold()
    assert ask(stack, hold, tag='"another"').status_code == 200
    assert hold.begun == 0


def test_a_change_while_the_answer_is_read_is_not_missed(ask, engine, api, stack):
    tag = api.simulate_get(stack).headers["etag"]
    shown = engine._show_stack

    def show_and_change(*asked, **more):
        before = json.loads(json.dumps(shown(*asked, **more)))
        engine.stacks[before["id"]]["status"] = "FAILED"
        return before

    engine._show_stack = show_and_change
    hold = FakeHold()
    assert ask(stack, hold, tag=tag).status_code == 304
    assert hold.is_over()


def test_the_answer_is_read_anew_when_nothing_that_counts_has_changed(ask, engine, api, stack):
    """So it waits on, from what was seen last."""
    tag = api.simulate_get(f"{stack}/resources").headers["etag"]
    hold = FakeHold()
    ask(f"{stack}/resources", hold, tag=tag)
    engine.stacks[stack.rsplit("/", 1)[1]]["reason"] = "another"
    assert hold.is_over()
    assert ask(f"{stack}/resources", hold, tag=tag).status_code == 304
    assert hold.begun == 2
    engine.stacks[stack.rsplit("/", 1)[1]]["reason"] = "one more"
    assert hold.is_over()


@pytest.mark.parametrize(("wait", "most"), [(1, 60), (3600, 1)])
def test_the_time_is_what_was_asked_for_up_to_what_may_be(conf, engine, stack, wait, most):
    conf.set_override("max_wait", most, "api")
    limited = testing.TestClient(deploy.application(EngineClient(engine), conf))
    tag = limited.simulate_get(stack).headers["etag"]
    hold = FakeHold()
    asked = {"params": {"wait": wait}, "headers": {"If-None-Match": tag}, "extras": {HOLD: hold}}
    assert limited.simulate_get(stack, **asked).status_code == 304
    assert hold.is_over()
    assert limited.simulate_get(stack, **asked).status_code == 304
    assert hold.begun == 1


def test_who_cannot_wait_is_answered_at_once(ask, api, engine, stack):
    tag = api.simulate_get(stack).headers["etag"]
    answer = api.simulate_get(stack, params={"wait": 60}, headers={"If-None-Match": tag})
    assert answer.status_code == 304  # by a server that cannot hold requests
    assert ask(stack, FakeHold(has_place=False)).status_code == 304
    hold = FakeHold()
    assert api.simulate_get(stack, params={"wait": 60}, extras={HOLD: hold}).status_code == 200
    assert ask(stack, hold, wait=0).status_code == 304
    assert ask(f"{stack}/events", hold, nested_depth=1).status_code == 304
    assert hold.begun == 0


def test_what_is_no_time_is_refused_whoever_serves(api, stack):
    assert api.simulate_get(stack, params={"wait": "soon"}).status_code == 400


def test_no_more_wait_than_may(api, conf, engine, stack):
    conf.set_override("max_waiting", 2, "api")
    few = testing.TestClient(deploy.application(EngineClient(engine), conf))
    tag = api.simulate_get(stack).headers["etag"]
    holds = [FakeHold() for _ in range(3)]
    for hold in holds:
        asked = {"params": {"wait": 60}, "headers": {"If-None-Match": tag}, "extras": {HOLD: hold}}
        assert few.simulate_get(stack, **asked).status_code == 304
    assert [hold.begun for hold in holds] == [1, 1, 0]

    holds[0].is_in_vain = True  # its client has gone, and its place is free
    assert holds[0].is_over()
    assert few.simulate_get(stack, **asked).status_code == 304
    assert holds[2].begun == 1


def test_one_look_is_for_all_that_wait_and_nobody_looks_for_nobody(ask, engine):
    paths = [f"/v1/default/stacks/s{each}/{engine.add_stack(f's{each}')}" for each in range(20)]
    assert looks(engine) == []
    holds = [FakeHold() for _ in paths]
    for path, hold in zip(paths, holds, strict=True):
        ask(path, hold)
    everyone = sorted(path.rsplit("/", 1)[1] for path in paths)
    while everyone not in looks(engine):
        pass
    for row in engine.stacks.values():
        row["status"] = "FAILED"
    for hold in holds:
        assert hold.is_over()
        hold.answered()

    asked = len(looks(engine))
    threading.Event().wait(0.3)  # six intervals
    assert len(looks(engine)) == asked


def test_who_waits_goes_on_while_no_engine_answers(ask, engine, api, stack):
    hold = FakeHold()
    ask(stack, hold)
    engine.broken = errors.TransportError(reason="no engine is running")
    seen = len(engine.contexts)
    while len(engine.contexts) < seen + 3:
        pass
    engine.broken = None
    assert not hold.ended.acquire(blocking=False)
    engine.stacks[stack.rsplit("/", 1)[1]]["status"] = "FAILED"
    assert hold.is_over()


def test_an_engine_that_cannot_look_is_no_reason_not_to_answer(ask, engine, stack):
    def unknown(*_asked, **_more):
        raise errors.TransportError(reason="Endpoint does not support RPC method changed_stacks")

    engine._changed_stacks = unknown
    hold = FakeHold()
    assert ask(stack, hold).status_code == 304
    assert hold.begun == 0


def test_a_stack_that_is_gone_is_no_longer_waited_for(ask, api, engine, stack):
    tag = api.simulate_get(stack).headers["etag"]
    hold = FakeHold()
    ask(stack, hold, tag=tag)
    engine.stacks.clear()
    assert hold.is_over()
    assert ask(stack, hold, tag=tag).status_code == 404


def test_those_that_wait_for_the_same_change_are_given_one_answer(api, engine, stack):
    changes, stack_id = f"{stack}/changes", stack.rsplit("/", 1)[1]
    cursor = api.simulate_get(changes).json["changes"]["cursor"]
    asked = {"params": {"since": cursor, "wait": 60}}
    holds = [FakeHold() for _ in range(20)]
    for hold in holds:
        assert api.simulate_get(changes, **asked, extras={HOLD: hold}).status_code == 304
    engine.add_event(stack_id, "a", "CHECK", "FAILED")
    engine.stacks[stack_id]["status"] = "FAILED"
    read = count_reads(engine)
    answers = []
    for hold in holds:  # the server asks anew for each that is ended; some wait for the answers before
        assert hold.is_over()
        answers.append(api.simulate_get(changes, **asked, extras={HOLD: hold}))
        hold.answered()
    assert {each.status_code for each in answers} == {200}
    assert len({each.text for each in answers}) == 1
    assert len(read) == 1

    api.simulate_get(changes, params={"since": cursor})  # who does not wait is never given an older one
    assert len(read) == 2


def count_reads(engine):
    """Return a list that grows with each answer that is read."""
    read, list_changes = [], engine._list_changes

    def counted(*asked, **more):
        read.append(asked)
        return list_changes(*asked, **more)

    engine._list_changes = counted
    return read


def test_few_of_those_that_wait_are_answered_at_a_time(conf, engine, stack):
    """So they do not take all threads from everybody else."""
    conf.set_override("watch_interval", 1.0, "api")
    api = testing.TestClient(deploy.application(EngineClient(engine), conf))
    holds = [FakeHold() for _ in range(6)]
    cursor = api.simulate_get(f"{stack}/changes").json["changes"]["cursor"]
    for hold in holds:
        asked = {"params": {"since": cursor, "wait": 60}, "extras": {HOLD: hold}}
        assert api.simulate_get(f"{stack}/changes", **asked).status_code == 304
    engine.stacks[stack.rsplit("/", 1)[1]]["status"] = "FAILED"
    assert all(hold.is_over() for hold in holds[:4])
    threading.Event().wait(3.0)  # as long as these take, be it many intervals, nobody else is answered
    assert all(hold.is_begun for hold in holds[4:])
    holds[0].answered()
    assert holds[4].is_over()
    assert holds[5].is_begun
    holds[1].is_in_vain = True  # who has gone takes nobody's place
    assert holds[5].is_over()
