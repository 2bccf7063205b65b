# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from heatconv import errors
from heatconv.model.nodes import Direction, Node
from heatconv.rpc.context import RequestContext
from heatconv.rpc.engine_client import EngineClient
from heatconv.worker.engines import Creation, Engines

THREE = 3


class Engine:
    """An engine that answers when it is let, and refuses what it is told to."""

    def __init__(self):
        self.calls = []
        self.asked = threading.Event()
        self.may_answer = threading.Event()
        self.may_answer.set()
        self.refuses = set()  #: names
        self.is_old = False  #: and knows no call for several stacks

    def call(self, _context, method, **arguments):
        self.calls.append((method, arguments))
        self.asked.set()
        assert self.may_answer.wait(60)
        if method == "create_stack":
            return f"{arguments['name']} alone"
        if self.is_old:
            raise errors.TransportError(reason="no such method")
        return [
            None
            if each["name"] in self.refuses
            else {"stack_id": each["name"], "traversal_id": "t", "leaves": ["r"]}
            for each in arguments["wanted"]
        ]


@pytest.fixture
def engine():
    return Engine()


@pytest.fixture
def rung():
    return []


@pytest.fixture
def engines(engine, rung):
    return Engines(EngineClient(engine), lambda *arguments: rung.append(arguments))


def wanted(name, project="p", **parameters):
    source = {"template": {"a": 1}, "parameters": parameters}
    context = RequestContext(project_id=project)
    return Creation(context=context, tree="root", name=name, source=source, options={"owner": {"id": name}})


def together(engine, engines, *creations):
    """Ask for some while the engine is busy with another; return what came of them."""
    engine.may_answer.clear()
    with ThreadPoolExecutor(len(creations) + 1) as pool:
        pool.submit(engines.create, wanted("before"))
        assert engine.asked.wait(60)
        created = [pool.submit(engines.create, each) for each in creations]
        while len(engines._together._waiting) < len(creations):
            time.sleep(0.001)
        engine.may_answer.set()
        stack_ids = [each.result() for each in created]
    assert engine.calls[0][1]["wanted"][0]["name"] == "before"
    del engine.calls[0]
    return stack_ids


def test_those_that_come_together_are_one_call_and_their_nodes_are_rung_for(engine, engines, rung):
    names = [f"s{number}" for number in range(THREE)]

    assert together(engine, engines, *map(wanted, names)) == names

    assert [method for method, _ in engine.calls] == ["create_nested_stacks"]
    nodes = [Node("r", Direction.UPDATE)]
    assert sorted(rung) == sorted((name, "t", nodes, "root") for name in ("before", *names))


def test_what_sources_have_in_common_is_sent_once_and_nothing_else_is_taken_for_that(engine, engines):
    together(engine, engines, wanted("s0", x=1), wanted("s1", x=True), wanted("s2", x=1))

    ((_, sent),) = engine.calls
    parts = sent["parts"]
    given = {
        each["name"]: {key: parts[number] for key, number in each["source"].items()}
        for each in sent["wanted"]
    }
    assert [repr(given[name]["parameters"]["x"]) for name in ("s0", "s1", "s2")] == ["1", "True", "1"]
    assert parts.count({"a": 1}) == 1
    assert len(parts) == THREE


def test_one_that_is_not_as_usual_is_asked_for_alone(engine, engines):
    engine.refuses.add("s1")

    assert together(engine, engines, wanted("s0"), wanted("s1")) == ["s0", "s1 alone"]


def test_an_engine_that_knows_no_such_call_is_asked_for_each(engine, engines, rung):
    engine.is_old = True

    assert engines.create(wanted("s0")) == "s0 alone"
    assert rung == []


def test_nobody_asks_on_behalf_of_another(engine, engines):
    together(engine, engines, wanted("s0"), wanted("s1", project="q"), wanted("s2"))

    asked = sorted([each["name"] for each in sent["wanted"]] for _, sent in engine.calls)
    assert asked == [["s0", "s2"], ["s1"]]


def test_what_is_adopted_is_asked_for_alone(engine, engines):
    adopted = wanted("s0")
    adopted.options["adopt"] = {}

    assert engines.create(adopted) == "s0 alone"
    assert [method for method, _ in engine.calls] == ["create_stack"]
