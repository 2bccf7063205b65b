# SPDX-License-Identifier: Apache-2.0
"""What an engine keeps in mind of services that failed."""

from __future__ import annotations

from types import SimpleNamespace
from unittest import mock

import pytest

from heatconv.observer import observing
from heatconv.observer.observing import FORGOTTEN, MAX_PAUSE, Observing

ONE, OTHER = ("one", "OS::Nova::Server"), ("other", "OS::Nova::Server")
DOWN = OSError("down")


@pytest.fixture
def clock(monkeypatch):
    clock = SimpleNamespace(now=1e6)
    monkeypatch.setattr(observing, "time", SimpleNamespace(monotonic=lambda: clock.now))
    return clock


def test_a_service_that_nobody_has_asked_for_long_is_forgotten(clock):
    looking = Observing(mock.Mock(), mock.Mock())
    looking._note_failure(ONE, DOWN)
    clock.now += FORGOTTEN
    looking._note_failure(OTHER, DOWN)
    assert set(looking._failing) == {ONE, OTHER}

    clock.now += MAX_PAUSE
    looking._note_failure(OTHER, DOWN)

    assert set(looking._failing) == {OTHER}


def test_a_service_may_fail_for_weeks(clock):
    looking = Observing(mock.Mock(), mock.Mock())
    for _ in range(2000):
        looking._note_failure(ONE, DOWN)

    _, until = looking._failing[ONE]
    assert 0.75 * MAX_PAUSE <= until - clock.now <= 1.25 * MAX_PAUSE
