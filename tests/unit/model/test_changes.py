# SPDX-License-Identifier: Apache-2.0
"""Whoever has a cursor sees every event, in whichever order events come to light."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heatconv import errors
from heatconv.model.changes import SPANS, Cursor, Numbered, Present, all_seen, compare


def there(*numbers, settled=0):
    """Return events of which those up to a number are settled."""
    return [Numbered(number, number <= settled) for number in sorted(numbers)]


def begin(present, key=0, dropped=0):
    """Return the cursor of a client that reads everything."""
    return all_seen(Present(present, dropped), key)


def look(cursor, present, key=0, limit=100, dropped=0):
    """Look as a client does, which has nothing but a text."""
    cursor = Cursor.parse(str(cursor))
    from_floor = [each for each in present if each.number >= cursor.floor]
    return compare(cursor, Present(from_floor, dropped), key, limit=limit)


def test_who_has_seen_all_finds_nothing_new():
    present = there(1, 2, 5, settled=2)
    found = look(begin(present, 7), present)
    assert (list(found.numbers), found.more, found.missed) == ([], False, False)


def test_what_comes_after_is_new_once():
    first = begin(there(1, 2))
    found = look(first, there(1, 2, 3, 4))
    assert list(found.numbers) == [3, 4]
    assert list(look(found.cursor, there(1, 2, 3, 4)).numbers) == []


def test_what_comes_to_light_below_what_was_seen_is_new():
    first = look(begin(there(1)), there(1, 3)).cursor
    found = look(first, there(1, 2, 3))
    assert 2 in found.numbers
    assert 1 not in found.numbers
    assert list(look(found.cursor, there(1, 2, 3)).numbers) == []


@pytest.mark.parametrize("late_by", [1, 2, 5, 45, 150])
def test_few_are_read_again_with_one_that_is_late_by_a_few(late_by):
    there_at_last = there(*range(1, 201), settled=1)
    late = 200 - late_by
    cursor = begin([each for each in there_at_last if each.number != late])
    found = look(cursor, there_at_last)
    assert late in found.numbers
    assert len(found.numbers) <= 2 * late_by


def test_all_who_have_seen_the_same_have_the_same_cursor():
    present = there(*range(1, 60), settled=9)
    late = begin(present[:20])
    often = begin(present[:5])
    for last in (20, 21, 40):
        often = look(often, present[:last]).cursor
    assert look(late, present).cursor == look(often, present).cursor == begin(present)


def test_a_cursor_is_short_whatever_was_seen():
    assert len(begin(there(*range(1, 1 << (SPANS + 1)))).spans) == SPANS


def test_what_is_settled_needs_no_span():
    cursor = look(begin(there(1)), there(1, 2, 3)).cursor
    assert cursor.spans
    assert look(cursor, there(1, 2, 3, settled=3)).cursor == Cursor(3, (), 0)


def test_what_is_settled_above_what_is_not_needs_one():
    unordered = [Numbered(1, settled=True), Numbered(2, settled=False), Numbered(3, settled=True)]
    assert begin(unordered).floor == 1


def test_events_that_were_dropped_may_have_been_missed():
    cursor = begin(there(1, 2, settled=2))
    assert not look(cursor, there(2, 3, settled=2)).missed
    assert look(cursor, there(3, 4, settled=2)).missed
    assert look(cursor, there()).missed


def test_events_that_were_dropped_beside_the_floor_may_have_been_missed():
    """Those of one stack are, in which there were many, while the floor is of another."""
    cursor = begin(there(1, 2, settled=2))
    assert not look(cursor, there(2, 3, settled=2), dropped=1).missed
    assert look(cursor, there(2, 9, settled=9), dropped=8).missed


def test_events_that_were_dropped_before_any_was_settled_may_have_been_missed():
    cursor = begin([])
    assert not look(cursor, there(1)).missed
    assert look(cursor, there(9), dropped=8).missed


@pytest.mark.parametrize("settled", [0, 9])
def test_who_reads_everything_has_missed_nothing_that_was_dropped_before(settled):
    cursor = begin(there(9, 10, settled=settled), dropped=8)
    found = look(cursor, there(9, 10, 11), dropped=8)
    assert (list(found.numbers), found.missed) == ([11], False)
    assert not look(found.cursor, there(9, 10, 11, 12), dropped=8).missed
    assert look(found.cursor, there(11, 12, settled=12), dropped=10).missed


def test_the_rest_of_many_comes_with_the_next_look():
    present = there(*range(1, 11))
    seen, cursor, more = [], begin([]), True
    while more:
        found = look(cursor, present, limit=4)
        seen += found.numbers
        cursor, more = found.cursor, found.more
    assert seen == list(range(1, 11))


@dataclass
class Reader:
    """A client, and what it has seen."""

    cursor: Cursor = field(default_factory=lambda: begin([]))
    seen: set[int] = field(default_factory=set)

    def look(self, present, limit):
        more = True
        while more:
            found = look(self.cursor, present, limit=limit)
            assert not found.missed
            assert len(found.numbers) <= limit
            self.seen |= set(found.numbers)
            self.cursor, more = found.cursor, found.more


@given(
    order=st.permutations(range(1, 40)),
    looks=st.lists(st.booleans(), min_size=39, max_size=39),
    limit=st.integers(1, 50),
    window=st.integers(1, 40),
)
def test_nothing_is_missed_in_whichever_order_it_comes(order, looks, limit, window):
    """By transactions of which none ends later than ``window`` others after it was numbered."""
    reader, visible = Reader(), set()
    late = sorted(range(1, 40), key=lambda number: (number - 1) // window * window + order[number - 1] / 100)
    for number, has_look in zip(late, looks, strict=True):
        visible.add(number)
        hidden = set(range(1, 40)) - visible
        settled = min(hidden, default=40) - 1
        if has_look:
            reader.look(there(*visible, settled=settled), limit)
            assert reader.seen == visible
    reader.look(there(*visible, settled=39), limit)
    assert reader.seen == visible


@pytest.mark.parametrize(
    "text", ["", "1", "1-1", "2-1-1", "1-x-1", "1--1", "1-1-1-2", "1-1-1-2.a.b", "1-1-+1", "1-1-" + "1" * 16]
)
def test_what_is_no_cursor_is_refused(text):
    with pytest.raises(errors.BadRequest, match="cursor"):
        Cursor.parse(text)
