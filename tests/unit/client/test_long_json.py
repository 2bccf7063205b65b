# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heatconv.client import long_json

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=20,
)


def cut(text, size):
    return (text[start : start + size] for start in range(0, len(text), size))


@given(
    st.dictionaries(st.text(max_size=5).filter(lambda key: key not in {"plan", "resources"}), values),
    st.lists(values, max_size=8),
    st.integers(1, 50),
    st.sampled_from([None, 2]),
    st.booleans(),
)
def test_whatever_it_says_and_wherever_it_is_cut_the_list_comes_item_by_item(
    head, items, size, indent, list_last
):
    inner = head | {"resources": items} if list_last else {"resources": items} | head
    text = json.dumps({"plan": inner, "more": 1}, indent=indent, ensure_ascii=False)
    found: list = []
    assert long_json.read(cut(text, size), ["plan", "resources"], found.append) == {"plan": head, "more": 1}
    assert found == items


def test_the_list_need_not_be_there():
    assert long_json.read(['{"plan": {"id": 12}}'], ["plan", "resources"], pytest.fail) == {
        "plan": {"id": 12}
    }
    assert long_json.read([" { } "], ["resources"], pytest.fail) == {}


def test_items_are_given_before_the_end_is_there():
    found: list = []

    def pieces():
        yield '{"resources": [1, 2, '
        assert found == [1, 2]
        yield "3, "
        assert found == [1, 2, 3]
        yield "4], "
        yield '"id": "x"}'

    assert long_json.read(pieces(), ["resources"], found.append) == {"id": "x"}
    assert found == [1, 2, 3, 4]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[1]",
        "{",
        '{"resources": {}}',
        '{"resources": [1 2]}',
        '{"resources": [1',
        '{"a" 1}',
        '{"a": 1 ',
        "{a: 1}",
    ],
)
def test_what_is_no_such_json_is_refused(text):
    with pytest.raises(json.JSONDecodeError):
        long_json.read([text], ["resources"], lambda _item: None)
