# SPDX-License-Identifier: Apache-2.0
"""The bus that treats messages badly does to them what it is told to."""

from __future__ import annotations

import importlib
import queue
import random

import pytest

# oslo.messaging brings this at import.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


class Wire:
    """A client whose messages arrive in a queue."""

    def __init__(self):
        self.arrived: queue.Queue[tuple[str, dict[str, object]]] = queue.Queue()

    def cast(self, context, method, **arguments):
        self.arrived.put((method, arguments))

    def call(self, context, method, **arguments):
        return f"{method} answered"

    def prepare(self, **options):
        return self


def client(wire, **faults):
    module = importlib.import_module("heatconv.testing.faults")
    return module.FaultyClient(wire, lambda: module.Faults(**faults), random.Random(1))


def received(wire, count):
    return [wire.arrived.get(timeout=5) for _ in range(count)]


def test_without_faults_a_message_arrives_once():
    wire = Wire()
    client(wire).cast({}, "check", node=1)
    assert received(wire, 1) == [("check", {"node": 1})]
    assert wire.arrived.empty()


def test_a_message_can_be_lost():
    wire = Wire()
    client(wire, drop=1.0).prepare(server="one").cast({}, "check", node=1)
    assert wire.arrived.empty()


def test_a_message_can_come_twice():
    wire = Wire()
    client(wire, double=1.0).cast({}, "check", node=1)
    assert received(wire, 2) == [("check", {"node": 1})] * 2


def test_messages_can_overtake_each_other():
    wire = Wire()
    late = client(wire, delay=1.0, latest=0.2)
    for node in range(20):
        late.cast({}, "check", node=node)
    order = [arguments["node"] for _, arguments in received(wire, 20)]
    assert sorted(order) == list(range(20))
    assert order != sorted(order)


def test_a_late_call_is_answered():
    assert client(Wire(), delay=1.0, drop=1.0, latest=0.01).call({}, "ask") == "ask answered"
