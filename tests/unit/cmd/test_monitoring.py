# SPDX-License-Identifier: Apache-2.0
"""What a daemon answers to those who watch over it, and what it sends to systemd."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading

import pytest
import requests

from heatconv import conf as configuration
from heatconv import errors
from heatconv.cmd import monitoring, systemd


@pytest.fixture
def get():
    """Return what asks a listener."""
    with requests.Session() as session:
        session.trust_env = False  # a proxy must not come between us and loopback
        yield lambda watched, path: session.get(watched.url.replace("/metrics", path), timeout=30)


def test_one_that_is_well_is_ready(get):
    watched = monitoring.Monitoring("127.0.0.1", 0, {"database": lambda: None, "bus": lambda: None})

    assert get(watched, "/healthcheck").text == "OK\n"
    answer = get(watched, "/readiness")
    assert (answer.status_code, answer.json()) == (200, {"database": "ok", "bus": "ok"})


def test_one_that_lacks_something_runs_and_is_not_ready(get):
    def look():
        raise errors.TransportError(reason="no engine is running")

    watched = monitoring.Monitoring("127.0.0.1", 0, {"database": lambda: None, "bus": look})

    assert get(watched, "/healthcheck").status_code == 200
    answer = get(watched, "/readiness")
    assert answer.status_code == 503
    assert answer.json()["database"] == "ok"
    assert "no engine is running" in answer.json()["bus"]


def test_what_hangs_is_not_waited_for_and_not_asked_twice(get, monkeypatch):
    monkeypatch.setattr(monitoring, "PATIENCE", 0.1)
    asked, answering = threading.Semaphore(0), threading.Event()

    def look():
        asked.release()
        answering.wait(60)

    watched = monitoring.Monitoring("127.0.0.1", 0, {"database": look})

    assert [get(watched, "/readiness").status_code for _ in range(3)] == [503, 503, 503]
    assert asked.acquire(timeout=60)
    assert not asked.acquire(blocking=False)
    monkeypatch.setattr(monitoring, "PATIENCE", 60)
    answering.set()
    assert get(watched, "/readiness").status_code == 200


def test_a_mistake_of_ours_is_no_answer_to_anybody(get, caplog):
    def look():
        raise KeyError("of the secret")

    watched = monitoring.Monitoring("127.0.0.1", 0, {"database": look})

    answer = get(watched, "/readiness")

    assert (answer.status_code, answer.json()) == (503, {"database": "KeyError"})
    assert "of the secret" in caplog.text


def test_there_is_nothing_else(get):
    watched = monitoring.Monitoring("127.0.0.1", 0, {})

    assert get(watched, "/other").status_code == 404
    assert "heatconv_claims_total" in get(watched, "/metrics").text


def test_without_an_address_nothing_listens():
    conf = configuration.load([], prog="heatconv-test", default_config_files=[])

    assert monitoring.start(conf, {}) is None


def test_each_process_has_the_next_port(get):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    conf = configuration.load([], prog="heatconv-test", default_config_files=[])
    conf.set_override("listen", f"127.0.0.1:{port - 1}", "metrics")

    watched = monitoring.start(conf, {}, process=1)

    assert watched is not None
    assert watched.url == f"http://127.0.0.1:{port}/metrics"
    with pytest.raises(SystemExit, match=f"listen = 127.0.0.1:{port - 1}"):
        monitoring.start(conf, {}, process=1)


@pytest.mark.parametrize("listen", ["9481", "127.0.0.1", "::1:9481", "a b:1", "host:port"])
def test_what_is_no_address_is_refused(listen, tmp_path):
    path = tmp_path / "heatconv.conf"
    path.write_text(f"[metrics]\nlisten = {listen}\n")

    with pytest.raises(SystemExit, match="listen"):
        configuration.load(["--config-file", str(path)], prog="heatconv-test")


def test_the_environment_wins_over_the_file(tmp_path, monkeypatch):
    path = tmp_path / "heatconv.conf"
    path.write_text("[metrics]\nlisten = 127.0.0.1:9481\n")
    monkeypatch.setenv("OS_METRICS__LISTEN", "[::1]:9521")

    conf = configuration.load(["--config-file", str(path)], prog="heatconv-test")

    assert conf.metrics.listen == "[::1]:9521"


# -- systemd ---------------------------------------------------------------------------------------


@pytest.fixture
def service_manager(tmp_path, monkeypatch):
    """Return the socket that systemd listens on."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.bind(str(tmp_path / "notify"))
        listening.settimeout(30)
        monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "notify"))
        yield listening


def test_systemd_is_informed(service_manager):
    systemd.notify("READY=1")

    assert service_manager.recv(100) == b"READY=1"


def test_an_abstract_socket_is_known_by_its_at_sign(monkeypatch):
    name = f"heatconv-test-{os.getpid()}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.bind(f"\0{name}")
        monkeypatch.setenv("NOTIFY_SOCKET", f"@{name}")

        systemd.notify("STOPPING=1")

        assert listening.recv(100) == b"STOPPING=1"


def test_that_nobody_listens_is_no_fault(monkeypatch, tmp_path):
    monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "nothing"))
    systemd.notify("READY=1")
    monkeypatch.delenv("NOTIFY_SOCKET")
    systemd.notify("READY=1")


def test_the_watchdog_is_beaten_as_often_as_it_wants(service_manager, monkeypatch):
    monkeypatch.setenv("WATCHDOG_USEC", "3000000000")
    watchdog = systemd.Watchdog()
    assert watchdog.interval == 1000

    watchdog.beat()
    watchdog.beat()  # too soon
    systemd.notify("DONE")

    assert [service_manager.recv(100), service_manager.recv(100)] == [b"WATCHDOG=1", b"DONE"]


def test_a_process_that_only_waits_beats_by_a_timer(service_manager, monkeypatch):
    monkeypatch.setenv("WATCHDOG_USEC", "30000")
    program = (
        """import os; from heatconv.cmd import systemd\nwith systemd.Watchdog().beating(): os.read(0, 1)"""
    )

    with subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE) as waiting:
        assert [service_manager.recv(100) for _ in range(5)] == [b"WATCHDOG=1"] * 5

    assert waiting.returncode == 0


@pytest.mark.parametrize("environment", [{}, {"WATCHDOG_USEC": "3000000", "WATCHDOG_PID": "1"}])
def test_where_nobody_waits_for_this_process_nothing_is_sent(service_manager, monkeypatch, environment):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    watchdog = systemd.Watchdog()

    watchdog.beat()
    systemd.notify("DONE")

    assert service_manager.recv(100) == b"DONE"
