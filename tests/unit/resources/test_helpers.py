# SPDX-License-Identifier: Apache-2.0
"""The modules of Heat's ``common`` that plugins import."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from heatconv.resources import password_gen, short_id, timeutils


@pytest.mark.parametrize(
    ("text", "seconds"), [("PT1H30M5S", 5405), ("PT10M", 600), ("PT0S", 0), ("PT90S", 90), ("PT2H", 7200)]
)
def test_a_duration_is_so_many_seconds(text, seconds):
    assert timeutils.parse_isoduration(text) == seconds


@pytest.mark.parametrize("text", ["PT", "P1D", "10M", "PT5", "", "PT1S1H"])
def test_what_is_no_duration_is_refused(text):
    with pytest.raises(ValueError, match="is no duration"):
        timeutils.parse_isoduration(text)


def test_a_time_is_written_in_utc():
    assert timeutils.isotime(datetime(2026, 11, 21, 6, tzinfo=UTC)) == "2026-11-21T06:00:00Z"
    assert timeutils.isotime().startswith("2")


def test_short_ids_are_short_and_differ():
    ids = {short_id.generate_id() for _ in range(50)}
    assert len(ids) == 50
    assert all(len(each) == 12 for each in ids)


def test_a_password_has_what_its_classes_demand():
    classes = [
        password_gen.named_char_class("digits", 3),
        password_gen.special_char_class("!", 2),
        password_gen.named_char_class("lowercase"),
    ]
    text = password_gen.generate_password(20, classes)
    assert len(text) == 20
    assert sum(each.isdigit() for each in text) >= 3
    assert text.count("!") >= 2
    assert len(password_gen.generate_openstack_password()) == 32


@pytest.mark.parametrize(("length", "classes"), [(1, [password_gen.CharClass("ab", 2)]), (1, [])])
def test_a_password_that_cannot_be_is_refused(length, classes):
    with pytest.raises(ValueError, match="cannot hold"):
        password_gen.generate_password(length, classes)
