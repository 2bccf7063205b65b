# SPDX-License-Identifier: Apache-2.0
"""Looks are spared when nothing can be on its way, and never for long."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from heatconv.sinks import stillness
from heatconv.sinks.stillness import Stillness

OPEN = 60


@pytest.fixture
def clock(monkeypatch):
    clock = SimpleNamespace(now=1e6)
    monkeypatch.setattr(stillness, "time", SimpleNamespace(monotonic=lambda: clock.now))
    return clock


def looks(still, clock, news, seconds):
    """Return at which of the next seconds there was a look."""
    found = []
    for second in range(1, seconds + 1):
        clock.now += 1
        if not still.lasts(news):
            found.append(second)
    return found


def test_there_are_looks_until_nothing_can_be_on_its_way_and_one_after_that(clock):
    still = Stillness(OPEN)
    assert not still.lasts("news")

    assert looks(still, clock, "news", OPEN + 1 + 3 * OPEN) == [
        *range(1, OPEN + 2),
        *(OPEN + 1 + times * OPEN for times in (1, 2, 3)),
    ]


def test_news_are_looked_at_at_once(clock):
    still = Stillness(OPEN)
    looks(still, clock, "news", 2 * OPEN)
    assert still.lasts("news")

    assert not still.lasts("other news")
    assert looks(still, clock, "other news", OPEN) == [*range(1, OPEN + 1)]
