# SPDX-License-Identifier: Apache-2.0
"""Definitions: what they require, when two are the same, how they are kept."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heatconv.model.deferred import call
from heatconv.model.definition import Definition, canonical
from heatconv.model.states import DeletionPolicy

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def thing(**fields):
    return Definition(name="it", type="A::Type", **fields)


def test_a_definition_requires_what_it_refers_to_and_what_it_depends_on():
    definition = thing(
        properties={"a": call("get_resource", "P")},
        metadata={"b": call("get_attr", ["M", "x"])},
        update_policy={"c": call("get_attr", ["U", "x"])},
        depends_on=("D",),
    )

    assert definition.requires == {"P", "M", "U", "D"}
    assert {reference.resource for reference in definition.references} == {"P", "M", "U"}


@given(properties=st.dictionaries(st.text(), JSON, max_size=3), depends_on=st.sets(st.text(), max_size=3))
def test_a_definition_survives_being_kept(properties, depends_on):
    definition = thing(
        properties=properties, depends_on=tuple(depends_on), deletion_policy=DeletionPolicy.RETAIN
    )

    kept = Definition.from_json(json.loads(json.dumps(definition.to_json())))

    assert kept.properties == definition.properties
    assert kept.deletion_policy is DeletionPolicy.RETAIN
    assert kept.sha1 == definition.sha1


def test_the_order_of_keys_and_of_dependencies_is_no_difference():
    one = thing(properties={"a": 1, "b": 2}, depends_on=("x", "y"))
    other = thing(properties={"b": 2, "a": 1}, depends_on=("y", "x"))

    assert one.sha1 == other.sha1
    assert canonical({"b": [1], "a": None}) == '{"a":null,"b":[1]}'


@pytest.mark.parametrize(
    "difference",
    [
        {"properties": {"a": 2}},
        {"metadata": {"a": 1}},
        {"depends_on": ("x",)},
        {"deletion_policy": DeletionPolicy.RETAIN},
        {"update_policy": {"a": 1}},
        {"external_id": "there"},
        {"description": "other"},
    ],
)
def test_any_other_difference_is_one(difference):
    assert thing(**{"properties": {"a": 1}, **difference}).sha1 != thing(properties={"a": 1}).sha1
