# SPDX-License-Identifier: Apache-2.0
"""What is newer than some daemon is not said to it; if it is said all the same, nothing is done."""

from __future__ import annotations

import inspect
import queue

import pytest
from oslo_config import cfg

from heatconv import errors
from heatconv.rpc import asking, memory, versions
from heatconv.rpc.bus import ENGINE_TOPIC, WORKER_TOPIC, Bell, Bus
from heatconv.rpc.context import RequestContext
from heatconv.rpc.endpoint import Endpoint

NEXT = "1.2"
LONG = 60.0  #: seconds; more than a test takes
CONTEXT = RequestContext(project_id="ours")


def look(_context, name, *, closely=False):
    """See the name; ``closely`` is new."""


CLOSELY = Endpoint("look", True, inspect.signature(look).parameters, {"closely": NEXT})


@pytest.fixture
def bus(monkeypatch):
    monkeypatch.setitem(asking._CONTRACT, "look", CLOSELY)
    return Bus(cfg.ConfigOpts(), memory.URL)


@pytest.fixture
def serve(bus, monkeypatch):
    """Start an engine or a worker of a version; what it was asked to do is in the queue that it returns."""
    running = []

    def start(topic, version, *, knows):
        done: queue.Queue[object] = queue.Queue()

        def old(_context, name):
            done.put((name, {}))

        def new(_context, name, **more):
            done.put((name, more))

        monkeypatch.setattr(versions, "CURRENT", version)
        method = new if knows else old
        running.append(
            bus.serve(topic, "one", {"look": method, "wake": method}, threads=1, executor="threading")
        )
        monkeypatch.undo()
        monkeypatch.setitem(asking._CONTRACT, "look", CLOSELY)
        return done

    yield start
    for each in running:
        each.stop()
        each.wait()


def test_what_says_nothing_new_everybody_understands(bus, serve):
    done = serve(ENGINE_TOPIC, versions.BASE, knows=False)

    asking.EngineCaller(bus).call(CONTEXT, "look", name="a")

    assert done.get_nowait() == ("a", {})
    assert bus.understood.of(ENGINE_TOPIC) is None  # nobody had to be asked


def test_what_is_new_is_said_once_all_that_are_up_understand_it(bus, serve):
    done = serve(ENGINE_TOPIC, NEXT, knows=True)
    caller = asking.EngineCaller(bus)
    bus.understood.note(ENGINE_TOPIC, [NEXT, None], LONG)  # one of the release before is up, too

    with pytest.raises(
        errors.NotUnderstood, match=r"look, asked for like this, needs version 1.2; try again"
    ):
        caller.call(CONTEXT, "look", name="a", closely=True)
    assert done.empty()

    bus.understood.note(ENGINE_TOPIC, [NEXT], LONG)
    caller.call(CONTEXT, "look", name="a", closely=True)
    assert done.get_nowait() == ("a", {"closely": True})


def test_who_has_no_database_asks_an_engine(bus, serve):
    done = serve(ENGINE_TOPIC, versions.BASE, knows=False)
    with pytest.raises(errors.NotUnderstood):  # 1.1 is what it says: it has not heard of others
        asking.EngineCaller(bus).call(CONTEXT, "look", name="a", closely=True)

    assert done.empty()
    assert bus.understood.of(ENGINE_TOPIC) == versions.CURRENT


def test_an_engine_that_comes_up_again_unnoticed_refuses_what_it_does_not_know(bus, serve):
    done = serve(ENGINE_TOPIC, "1.1", knows=False)
    bus.understood.note(ENGINE_TOPIC, [NEXT], LONG)

    with pytest.raises(errors.NotUnderstood, match=r"look as of version 1.2 of what is said on the bus"):
        asking.EngineCaller(bus).call(CONTEXT, "look", name="a", closely=True)

    assert done.empty()
    assert bus.understood.of(ENGINE_TOPIC) is None  # it is asked before anything new is said again


@pytest.mark.parametrize(
    ("method", "arguments", "said"),
    [
        ("paint", {}, "paint as of version 1.0"),
        (
            "wake",
            {"name": "a", "color": "red"},
            "wake asked for like that .*unexpected keyword argument 'color'",
        ),
        ("wake", {}, "wake asked for like that .*missing a required argument: 'name'"),
    ],
)
def test_what_nobody_declared_is_refused_in_a_sentence(bus, serve, method, arguments, said):
    done = serve(ENGINE_TOPIC, versions.CURRENT, knows=False)

    with pytest.raises(errors.NotUnderstood, match=said) as refused:
        asking.EngineCaller(bus).call(CONTEXT, method, **arguments)

    assert "\n" not in str(refused.value)
    assert done.empty()


def test_what_a_cast_got_later_is_left_out_until_all_understand_it(bus, serve, monkeypatch):
    done = serve(WORKER_TOPIC, NEXT, knows=True)
    monkeypatch.setattr(versions, "ADDED", {("wake", "gently"): NEXT, ("look", ""): NEXT})
    bell = Bell(bus)

    for understood in ([NEXT, versions.BASE], [NEXT]):
        bus.understood.note(WORKER_TOPIC, understood, LONG)
        bell._cast(WORKER_TOPIC, bell._workers, "look", name="b")
        bell._cast(WORKER_TOPIC, bell._workers, "wake", name="a", gently=True)

    came = [done.get(timeout=LONG) for _ in range(3)]
    assert came == [("a", {}), ("b", {}), ("a", {"gently": True})]


def test_versions_are_numbers():
    assert versions.newest(["1.9", "1.10"]) == "1.10"
    assert versions.oldest(["1.9", "1.10", None]) == versions.BASE
    assert versions.has("1.10", "1.9")
