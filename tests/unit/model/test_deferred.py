# SPDX-License-Identifier: Apache-2.0
"""Deferred calls, and what they refer to."""

from __future__ import annotations

import pytest

from heatconv.model.deferred import (
    Reference,
    attribute_reference,
    call,
    contains_deferred,
    is_deferred,
    references,
)

GET_A = call("get_resource", "A")


def test_a_call_is_plain_json():
    assert call("get_attr", ["A", "name"]) == {"$fn": "get_attr", "args": ["A", "name"]}


@pytest.mark.parametrize(
    ("value", "is_one", "contains_one"),
    [
        (GET_A, True, True),
        ({"key": GET_A}, False, True),
        ([1, [GET_A]], False, True),
        ({"key": [{}]}, False, False),
        ("$fn", False, False),
        (None, False, False),
    ],
)
def test_a_value_is_a_call_or_contains_one(value, is_one, contains_one):
    assert is_deferred(value) == is_one
    assert contains_deferred(value) == contains_one


def test_references_are_found_wherever_they_are():
    value = {
        "plain": "A",
        "list": [GET_A, 1],
        "nested": call("str_replace", {"params": {"$x": call("get_attr", ["B", "name"])}}),
    }

    assert set(references(value)) == {Reference("A"), Reference("B", "name")}


def test_an_attribute_may_be_selected_by_another_one():
    value = call("get_attr", ["A", "list", call("get_attr", ["B", "index"])])

    assert set(references(value)) == {Reference("A", "list"), Reference("B", "index")}


@pytest.mark.parametrize(
    ("rest", "reference"),
    [
        ([], Reference("A", "")),
        (["name"], Reference("A", "name")),
        (["map", "key", 0], Reference("A", "map", ("key", 0))),
        (["map", "key", GET_A, "beyond"], Reference("A", "map", ("key",))),
    ],
)
def test_an_attributes_path_is_pushed_as_far_as_it_is_static(rest, reference):
    assert attribute_reference("A", rest) == reference


def test_values_of_different_paths_travel_under_different_names():
    paths: list[tuple[str | int, ...]] = [(), ("y",), (0,), ("0",)]
    keys = {Reference("A", "x", path).key for path in paths}

    assert len(keys) == len(paths)
    assert Reference("A", "x", ("y", 0)).key == '["x","y",0]'
