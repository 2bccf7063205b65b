# SPDX-License-Identifier: Apache-2.0
"""A queue that is lost without a word is made anew, by who listens there and looks for it now and then."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from typing import Any

import amqp
import pytest
import sqlalchemy as sa
from oslo_config import cfg

from heatconv import errors
from heatconv.rpc import rabbit
from heatconv.rpc.bus import ENGINE_TOPIC, PING, Bus

PATIENCE = 60


@pytest.fixture
def look_for_queues():
    """Return the seconds from one look for the queues to the next."""
    return 0.2


@pytest.fixture
def bus(rabbit_url, monkeypatch, look_for_queues):
    """Return a bus with one server, which overhears that a queue of its is deleted.

    RabbitMQ does not say so of all that it loses.
    """
    monkeypatch.setattr(rabbit, "LOOK_FOR_QUEUES", look_for_queues)
    monkeypatch.setattr(amqp.Channel, "_on_basic_cancel", lambda *_: None)
    conf = cfg.ConfigOpts()
    conf([], project="heatconv", default_config_files=[])
    bus = Bus(conf, rabbit_url)
    with served(bus):
        yield bus
    bus._transport.cleanup()


@contextmanager
def served(bus):
    """Have a server, one of its name after the other, answer."""
    serving: Any = bus.serve(ENGINE_TOPIC, "one", {}, threads=1, executor="threading")
    yield
    serving.stop()
    serving.wait()
    serving.listener.cleanup()


@contextmanager
def channel_to(rabbit_url):
    """Return a channel of somebody else's."""
    url = sa.make_url(rabbit_url)
    with closing(
        amqp.Connection(
            f"{url.host}:{url.port}", userid=url.username, password=url.password, virtual_host=url.database
        )
    ) as connection:
        connection.connect()
        yield connection.channel()


def test_a_server_is_heard_of_again(bus, rabbit_url):
    bus.ping(ENGINE_TOPIC)
    with channel_to(rabbit_url) as channel:
        channel.queue_delete(ENGINE_TOPIC)
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            bus.ping(ENGINE_TOPIC)
            break
        except errors.TransportError:
            assert time.monotonic() < deadline


@pytest.mark.parametrize("look_for_queues", [0.001])
def test_what_comes_while_it_looks_does_not_wait_for_what_comes_next(bus, monkeypatch):
    monkeypatch.setattr(rabbit, "LOOK", 2 * PING)
    for _ in range(50):
        bus.ping(ENGINE_TOPIC)


def test_what_is_there_when_it_begins_to_listen_does_not_wait_for_what_comes_next(rabbit_url, monkeypatch):
    conf = cfg.ConfigOpts()
    conf([], project="heatconv", default_config_files=[])
    bus = Bus(conf, rabbit_url)
    with served(bus):
        bus.ping(ENGINE_TOPIC)
    monkeypatch.setattr(rabbit, "LOOK", 2 * PING)
    with ThreadPoolExecutor(1) as caller, channel_to(rabbit_url) as channel:
        answer = caller.submit(bus.ping, ENGINE_TOPIC)
        deadline = time.monotonic() + PATIENCE
        while not channel.queue_declare(ENGINE_TOPIC, passive=True).message_count:
            assert time.monotonic() < deadline
        with served(bus):
            assert answer.result()
    bus._transport.cleanup()
