# SPDX-License-Identifier: Apache-2.0
"""The simulator: every order can come up, the same start gives the same order, and tasks stop at the gate."""

from __future__ import annotations

import random
from functools import partial

import pytest

from heatconv.model.nodes import Direction, Node
from heatconv.testing.cloud import Cloud
from heatconv.testing.simulator import Mishaps, SimulatedDoorbell, SimulatedGate, SimulatedTimer, Simulator

NODES = [Node(name, Direction.UPDATE) for name in "ABC"]


def order(start):
    simulator = Simulator(random.Random(start))
    ran: list[str] = []
    for name in "ABC":
        simulator.add(name, partial(ran.append, name))
    simulator.run()
    return "".join(ran)


def test_every_order_comes_up():
    assert {order(start) for start in range(200)} == {"ABC", "ACB", "BAC", "BCA", "CAB", "CBA"}


def test_the_same_start_gives_the_same_order():
    assert order(7) == order(7)


def test_a_timer_is_one_more_thing_that_may_happen():
    simulator, ran = Simulator(random.Random(0)), []
    SimulatedTimer(simulator, "worker").call_later(3600, lambda: ran.append("timer"))
    simulator.run()
    assert ran == ["timer"]


def test_a_process_that_is_killed_does_nothing_more_and_others_go_on():
    simulator, ran = Simulator(random.Random(0)), []

    def work(name):
        ran.append(f"{name} begins")
        simulator.pause()
        ran.append(f"{name} ends")

    for name in ("first", "second"):
        simulator.add(name, partial(work, name), owner=name)
        simulator.step()
    SimulatedTimer(simulator, "first").call_later(1, lambda: ran.append("timer"))
    simulator.kill("first")
    simulator.run()
    assert ran == ["first begins", "second begins", "second ends"]


def test_what_a_task_raises_comes_out_of_the_step():
    simulator = Simulator(random.Random(0))
    simulator.add("divide", lambda: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        simulator.run()


def test_a_task_waits_at_the_gate_until_it_may_pass():
    simulator = Simulator(random.Random(0))
    cloud = Cloud(clock=None)
    cloud.reset(SimulatedGate(simulator))
    cloud.gate.hold_after(1)
    for name in "AB":
        simulator.add(name, partial(cloud.create, name, "server", name, {}))
    with pytest.raises(AssertionError, match="stuck"):
        simulator.run()
    assert (cloud.gate.arrived, cloud.gate.done, len(cloud.owned())) == (2, 1, 1)
    cloud.gate.release()
    simulator.run()
    assert len(cloud.owned()) == 2


def interleaved(start):
    """Tell what a look at the cloud sees beside a creation."""
    simulator, ran = Simulator(random.Random(start)), []
    cloud = Cloud(clock=None)
    cloud.reset(SimulatedGate(simulator))

    def create():
        cloud.create("A", "server", "A", {})
        ran.append("answered")

    simulator.add("create", create)
    simulator.add("look", lambda: ran.append(f"sees {len(cloud.owned())}"))
    simulator.run()
    return tuple(ran)


def test_others_may_run_between_an_operation_and_its_answer():
    assert {interleaved(start) for start in range(50)} == {
        ("sees 0", "answered"),
        ("sees 1", "answered"),
        ("answered", "sees 1"),
    }


def test_a_run_without_end_is_noticed():
    simulator = Simulator(random.Random(0))

    def again():
        simulator.add("again", again)

    again()
    with pytest.raises(AssertionError, match="no end"):
        simulator.run()


def rung(mishaps):
    checked: list[object] = []
    bell = SimulatedDoorbell(
        random.Random(0), mishaps, sorted, lambda *message: checked.append(message), checked.append
    )
    bell.ring("stack", "traversal", NODES)
    bell.roll_back("stack")
    return checked


def test_a_doorbell_rings_once_for_each_node():
    checked = rung(Mishaps())
    assert checked == [*(("stack", "traversal", node) for node in NODES), "stack"]


def test_messages_can_be_lost_or_come_twice():
    assert rung(Mishaps(drop=1)) == []
    assert len(rung(Mishaps(double=1))) == 8
