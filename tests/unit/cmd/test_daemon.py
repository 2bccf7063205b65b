# SPDX-License-Identifier: Apache-2.0
"""The clockwork of a daemon."""

from __future__ import annotations

import threading
from unittest import mock

from oslo_config import cfg

from heatconv import conf as configuration
from heatconv.cmd import daemon
from heatconv.db.convergence import services


def test_a_side_task_that_takes_too_long_holds_no_daemon_up_that_is_to_end(monkeypatch, caplog):
    begun, released = threading.Event(), threading.Event()

    def search_for_long():
        begun.set()
        released.wait(60)

    forget = mock.Mock()
    monkeypatch.setattr(daemon, "GRACE", 0.0)
    monkeypatch.setattr(services, "forget", forget)
    conf = cfg.ConfigOpts()
    configuration.register(conf)
    conf([], default_config_files=[])
    me = daemon.Daemon(conf, database=mock.Mock(), bus=mock.Mock(), binary="b", topic="t")
    me.every(0, search_for_long)
    assert begun.wait(60)

    me.sign_off()

    assert forget.called
    assert "search_for_long" in caplog.text
    released.set()
