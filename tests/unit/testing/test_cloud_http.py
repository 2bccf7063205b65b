# SPDX-License-Identifier: Apache-2.0
"""The fake cloud behind HTTP answers as it does in process."""

from __future__ import annotations

import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from heatconv.testing.cloud import IN_PROCESS, Cloud
from heatconv.testing.cloud_client import CloudControl, HttpCloud, connect
from heatconv.testing.cloud_server import CloudServer
from heatconv.testing.failures import FailureRule, Outcome, Refused, Unreachable


@pytest.fixture(scope="module")
def address():
    server = CloudServer(Cloud())
    # A short poll interval: shutdown waits for the next poll.
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield server.url
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def control(address):
    line = CloudControl(address)
    line.reset()
    yield line
    line.cloud.close()


@pytest.fixture
def cloud(address):
    client = HttpCloud(address)
    yield client
    client.close()


def test_an_object_lives_and_dies(cloud, control):
    made = cloud.create("A", "server", "web/A", {"value": "a"})
    cloud.update(made["id"], {"value": "b"})
    assert cloud.show(made["id"])["properties"] == {"value": "b"}
    assert cloud.find("A", "server") == cloud.owned("web/") == [cloud.show(made["id"])]
    cloud.delete(made["id"])
    assert cloud.owned() == []
    mutations = [(entry.op, entry.owner) for entry in control.audit() if entry.op not in ("show", "find")]
    assert mutations == [("create", "web/A"), ("update", "web/A"), ("delete", "web/A")]


def test_a_refusal_keeps_its_status_reason_and_delay(cloud, control):
    control.fail(FailureRule(op="create", status=429, retry_after=2.5))
    with pytest.raises(Refused, match="told to fail") as caught:
        cloud.create("A", "server", "web/A", {})
    assert (caught.value.status, caught.value.retry_after) == (429, 2.5)


def test_a_cut_connection_leaves_the_object_behind(cloud, control):
    control.fail(FailureRule(op="create", outcome=Outcome.CUT))
    with pytest.raises(Unreachable):
        cloud.create("A", "server", "web/A", {})
    assert [found["name"] for found in cloud.find("A")] == ["A"]


def test_failures_can_be_dropped(cloud, control):
    control.fail(FailureRule(op="create", times=None))
    control.stop_failing()
    assert cloud.create("A", "server", "web/A", {})["status"] == "ACTIVE"


def test_latency_keeps_an_object_in_build(cloud, control):
    control.set_latency(create=3600)
    assert cloud.create("A", "server", "web/A", {})["status"] == "BUILD"


def test_the_gate_works_from_afar(cloud, control):
    control.hold_after(1)
    with ThreadPoolExecutor(2) as pool:
        calls = [pool.submit(cloud.create, name, "server", name, {}) for name in "AB"]
        assert control.wait_for(2, 10)
        assert control.wait_for(1, 10, done=True)
        assert control.counts() == (2, 1)
        assert len(control.owned()) == 1
        control.release()
        assert {call.result(10)["name"] for call in calls} == {"A", "B"}


def test_a_hand_may_meddle(cloud, control):
    made = [cloud.create(name, "server", name, {})["id"] for name in "AB"]
    control.meddle(made[0], {"value": "drifted"})
    control.vanish(made[1])
    assert [found["properties"] for found in control.owned()] == [{"value": "drifted"}]


def test_what_is_no_route_is_refused(cloud):
    with pytest.raises(Refused, match="there is no GET /nowhere"):
        cloud.ask("GET", "/nowhere")


def test_a_cloud_that_is_not_there_is_unreachable():
    # Port 9 of loopback (discard, RFC 863) has no listener.
    with pytest.raises(Unreachable):
        connect("http://127.0.0.1:9").show("any")


def test_memory_is_the_cloud_of_this_process():
    assert connect("memory:") is IN_PROCESS


def test_the_command_says_where_it_listens():
    command = [sys.executable, "-m", "heatconv.testing.cloud_server", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            said = process.stdout.readline().strip()
            assert said.startswith("fake cloud is up: http://127.0.0.1:")
            client = HttpCloud(said.removeprefix("fake cloud is up: "))
            assert client.owned() == []
            client.close()
        finally:
            process.kill()
