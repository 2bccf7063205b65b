# SPDX-License-Identifier: Apache-2.0
"""Connections to RabbitMQ do at once what mostly works, and leave the rest to oslo.messaging."""

from __future__ import annotations

from types import SimpleNamespace

import oslo_messaging
import pytest
from oslo_config import cfg
from oslo_messaging._drivers import common, impl_rabbit

from heatconv.rpc import rabbit
from heatconv.rpc.bus import Bus

URL = "rabbit://guest:guest@127.0.0.1:9/"


@pytest.fixture
def left_to_the_base(monkeypatch):
    left = []

    def ensure(_connection, method, **options):
        left.append(options)
        return method()

    monkeypatch.setattr(impl_rabbit.Connection, "ensure", ensure)
    return left


@pytest.fixture
def connection():
    """Return a connection that nobody has opened."""
    connection = rabbit.Connection.__new__(rabbit.Connection)
    connection.channel = object()
    connection.connection = SimpleNamespace(connected=True)
    return connection


def test_what_works_is_done_once_and_nobody_else_is_asked(connection, left_to_the_base):
    assert connection.ensure(iter([1, 2]).__next__, retry=1) == 1
    assert left_to_the_base == []


def test_what_fails_is_done_again_by_the_base(connection, left_to_the_base):
    outcomes = [ConnectionResetError(), "sent"]

    def method():
        outcome = outcomes.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    assert connection.ensure(method, retry=1) == "sent"
    assert left_to_the_base == [{"retry": 1}]


def test_that_nothing_has_come_is_no_failure(connection, left_to_the_base):
    def method():
        raise common.Timeout

    with pytest.raises(common.Timeout):
        connection.ensure(method)
    assert left_to_the_base == []


@pytest.mark.parametrize("broken", [{"channel": None}, {"connection": SimpleNamespace(connected=False)}])
def test_a_connection_that_is_known_to_be_broken_is_the_bases(connection, left_to_the_base, broken):
    vars(connection).update(broken)
    assert connection.ensure(lambda: "sent") == "sent"
    assert left_to_the_base == [{}]


def test_only_calls_and_casts_have_them():
    conf = cfg.ConfigOpts()
    conf([], default_config_files=[])
    calls = Bus(conf, URL)._transport._driver
    heard = oslo_messaging.get_notification_transport(conf, URL)._driver
    assert calls._connection_pool.connection_cls is rabbit.Connection
    assert heard._connection_pool.connection_cls is impl_rabbit.Connection
