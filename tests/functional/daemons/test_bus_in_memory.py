# SPDX-License-Identifier: Apache-2.0
"""The bus inside one process does what is asked of a bus, and nobody has to look for messages."""

from __future__ import annotations

import itertools
import queue
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import oslo_messaging
import pytest
from oslo_config import cfg

from heatconv import errors
from heatconv.model.nodes import Direction, Node
from heatconv.rpc import memory
from heatconv.rpc.bus import WORKER_TOPIC, Bell, Bus

TOPIC = "a-topic"
PATIENCE = 30  #: seconds that something may take to come

Serve = Callable[..., None]


@pytest.fixture
def bus() -> Bus:
    return Bus(cfg.ConfigOpts(), memory.URL)


@pytest.fixture
def serve(bus: Bus) -> Iterator[Serve]:
    """Start servers: ``serve(name, method=function)``; each is stopped in the end."""
    running = []

    def start(server: str, **methods: Callable[..., Any]) -> None:
        running.append(bus.serve(TOPIC, server, methods, threads=2, executor="threading"))

    yield start
    for each in running:
        each.stop()
        each.wait()


def test_a_call_is_answered_with_what_json_makes_of_it(bus, serve):
    serve("one", join=lambda context, words: {"joined": ("-".join(words), context["who"])})

    answer = bus.client(TOPIC).call({"who": "me"}, "join", words=("a", "b"))

    assert answer == {"joined": ["a-b", "me"]}


@pytest.fixture
def heard(bus: Bus) -> Iterator[queue.Queue[Any]]:
    """What a worker is rung for, message by message."""
    messages: queue.Queue[Any] = queue.Queue()

    def check_resource(_context: Any, **message: Any) -> None:
        messages.put(message)

    server = bus.serve(
        WORKER_TOPIC, "one", {"check_resource": check_resource}, threads=1, executor="threading"
    )
    yield messages
    server.stop()
    server.wait()


def test_a_bell_tells_whose_turn_the_nodes_wait_for(bus, heard):
    Bell(bus).ring("nested", "traversal", [Node("row", Direction.CLEANUP)], "root")

    assert heard.get(timeout=PATIENCE) == {
        "stack_id": "nested",
        "traversal_id": "traversal",
        "nodes": [["row", False]],
        "tree": "root",
    }


@pytest.mark.parametrize(
    ("count", "messages"),
    [
        (1, {1: 1}),
        (2, {2: 1}),
        (3, {2: 1, 1: 1}),
        (8, {2: 4}),
        (10, {3: 3, 1: 1}),
        (1_000, {32: 31, 8: 1}),
        (100_000, {196: 510, 40: 1}),
    ],
)
def test_nodes_that_are_many_share_messages(bus, heard, count, messages):
    nodes = [Node(f"row-{number}", Direction.UPDATE) for number in range(count)]
    Bell(bus).ring("stack", "traversal", nodes, "stack")

    came = [heard.get(timeout=PATIENCE)["nodes"] for _ in range(sum(messages.values()))]

    assert Counter(map(len, came)) == messages
    assert sorted(itertools.chain(*came)) == sorted([node.resource_id, True] for node in nodes)


def test_nobody_shares_what_they_hold(bus, serve):
    words = ["a"]
    serve("one", add=lambda _context, words: words.append("b"))

    bus.client(TOPIC).call({}, "add", words=words)

    assert words == ["a"]


def test_what_a_server_raises_reaches_who_called(bus, serve):
    def refuse(_context):
        raise errors.NotFound(entity="Stack", name="web")

    serve("one", refuse=refuse)

    with pytest.raises(errors.NotFound, match="web"):
        bus.client(TOPIC).call({}, "refuse")


def test_a_call_that_nobody_answers_ends(bus):
    with pytest.raises(oslo_messaging.MessagingTimeout, match=TOPIC):
        bus.client(TOPIC).prepare(timeout=0.01).call({}, "nothing")


def test_what_is_cast_before_there_is_a_server_waits_for_it(bus, serve):
    came: queue.Queue[int] = queue.Queue()
    bus.client(TOPIC).cast({}, "take", number=1)

    serve("one", take=lambda _context, number: came.put(number))

    assert came.get(timeout=PATIENCE) == 1


def test_a_cast_goes_to_one_server_or_to_the_one_that_is_named_or_to_all(bus, serve):
    came: queue.Queue[tuple[str, str]] = queue.Queue()
    for name in ("one", "two"):
        serve(name, take=lambda _context, what, name=name: came.put((what, name)))
    client = bus.client(TOPIC)

    client.cast({}, "take", what="any")
    client.prepare(server="two").cast({}, "take", what="named")
    client.prepare(server="gone").cast({}, "take", what="lost")
    client.prepare(fanout=True).cast({}, "take", what="all")

    taken = sorted(came.get(timeout=PATIENCE) for _ in range(4))
    assert taken[:2] == [("all", "one"), ("all", "two")]
    assert taken[2][0] == "any"
    assert taken[3] == ("named", "two")
    client.call({}, "take", what="last")  # whatever was sent before has been taken by then
    assert came.get(timeout=PATIENCE)[0] == "last"
    assert came.empty()


def test_a_server_that_is_stopped_takes_nothing_more(bus):
    came: queue.Queue[int] = queue.Queue()
    server = bus.serve(
        TOPIC, "one", {"take": lambda _context, number: came.put(number)}, threads=1, executor="threading"
    )
    before = threading.active_count()

    server.stop()
    server.wait()
    bus.client(TOPIC).cast({}, "take", number=1)

    assert threading.active_count() < before
    assert came.empty()


def test_a_notification_is_nobodys(bus):
    driver = memory.MemoryDriver(cfg.ConfigOpts(), memory.URL)
    driver.send_notification(oslo_messaging.Target(topic=TOPIC), {}, {}, 2.0, retry=1)

    with pytest.raises(errors.NotSupported):
        driver.listen_for_notifications([], None, 1, None)
