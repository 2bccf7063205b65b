# SPDX-License-Identifier: Apache-2.0
"""How far a group is scaled, and when again."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from heatconv.resources import scaling

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("current", "adjustment", "kind", "least", "size"),
    [
        (2, 3, "change_in_capacity", None, 5),
        (2, -1, "change_in_capacity", None, 1),
        (2, 30, "change_in_capacity", None, 10),
        (2, -30, "change_in_capacity", None, 1),
        (2, 7, "exact_capacity", None, 7),
        (2, 0, "exact_capacity", None, 1),
        (4, 50, "percent_change_in_capacity", None, 6),
        (4, 10, "percent_change_in_capacity", None, 5),
        (4, -10, "percent_change_in_capacity", None, 3),
        (5, 50, "percent_change_in_capacity", None, 7),
        (5, -50, "percent_change_in_capacity", None, 3),
        (4, 10, "percent_change_in_capacity", 3, 7),
        (4, -10, "percent_change_in_capacity", 2, 2),
        (4, 75, "percent_change_in_capacity", 2, 7),
        (4, 0, "percent_change_in_capacity", 2, 4),
    ],
)
def test_the_size_after_an_adjustment(current, adjustment, kind, least, size):
    assert scaling.new_capacity(current, adjustment, kind, least, (1, 10)) == size


def test_a_group_cools_down_for_so_long():
    metadata = scaling.cooldown(60, "change_in_capacity : 1", NOW)

    assert metadata["cooldown_end"] == {"2026-11-21T12:01:00": "change_in_capacity : 1"}
    assert scaling.cools_down(metadata, NOW + timedelta(seconds=59))
    assert not scaling.cools_down(metadata, NOW + timedelta(seconds=60))


@pytest.mark.parametrize("seconds", [None, 0, -5])
def test_without_a_cooldown_a_group_can_be_scaled_at_once(seconds):
    assert not scaling.cools_down(scaling.cooldown(seconds, "", NOW), NOW)
    assert not scaling.cools_down({}, NOW)
