# SPDX-License-Identifier: Apache-2.0
"""The gate: it lets pass as many as it is told, and holds the rest."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from heatconv.testing.cloud import Cloud
from heatconv.testing.failures import Refused

SOON = 10.0  # seconds within which what must happen does


@pytest.fixture
def cloud():
    return Cloud()


@pytest.fixture
def pool():
    with ThreadPoolExecutor(8) as threads:
        yield threads


def create(cloud, name):
    return cloud.create(name, "server", name, {})


def test_an_open_gate_holds_nobody(cloud):
    create(cloud, "A")
    assert (cloud.gate.arrived, cloud.gate.done) == (1, 1)


def test_the_gate_lets_pass_as_many_as_allowed_and_then_all(cloud, pool):
    cloud.gate.hold_after(2)
    calls = [pool.submit(create, cloud, name) for name in "ABCDE"]
    assert cloud.gate.wait_for(5, SOON)
    assert cloud.gate.wait_for(2, SOON, done=True)
    assert not cloud.gate.wait_for(3, 0, done=True)
    assert len(cloud.owned()) == 2
    cloud.gate.release()
    assert {call.result(SOON)["name"] for call in calls} == set("ABCDE")


def test_a_later_allowance_counts_from_then_on(cloud, pool):
    create(cloud, "before")
    cloud.gate.hold_after(0)
    calls = [pool.submit(create, cloud, name) for name in "ABC"]
    assert cloud.gate.wait_for(4, SOON)
    cloud.gate.hold_after(1)
    assert cloud.gate.wait_for(2, SOON, done=True)
    cloud.gate.hold_after(1)
    assert cloud.gate.wait_for(3, SOON, done=True)
    assert len(cloud.owned()) == 3
    cloud.gate.release()
    assert len([call.result(SOON) for call in calls]) == 3


def test_who_only_looks_is_not_held(cloud):
    made = create(cloud, "A")
    cloud.gate.hold_after(0)
    assert cloud.show(made["id"])["status"] == "ACTIVE"
    cloud.gate.release()


def test_refused_operations_count_as_done(cloud):
    with pytest.raises(Refused):
        cloud.create("A", "server", "A", {"uses": ["no-such-id"]})
    assert cloud.gate.done == 1


def test_reset_turns_away_who_waits(cloud, pool):
    cloud.gate.hold_after(0)
    call = pool.submit(create, cloud, "A")
    assert cloud.gate.wait_for(1, SOON)
    cloud.reset()
    with pytest.raises(Refused):
        call.result(SOON)
    assert cloud.owned() == []
