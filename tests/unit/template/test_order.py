# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heatconv.template.order import CircularDependency, dependency_order


@given(st.dictionaries(st.integers(0, 8).map(str), st.sets(st.integers(0, 8).map(str), max_size=4)))
def test_everything_comes_after_what_it_requires_or_a_circle_is_named(requires):
    try:
        order = dependency_order(requires)
    except CircularDependency as error:
        first, *_others = members = error.members
        assert first == members[-1]
        assert all(there in requires[here] for here, there in itertools.pairwise(members))
    else:
        assert sorted(order) == sorted(requires)
        place = {name: index for index, name in enumerate(order)}
        for name in order:
            assert all(place[other] < place[name] for other in requires[name] if other in place)


def test_long_chains_are_ordered():
    requires = {str(i): [str(i - 1)] for i in reversed(range(1, 20_000))}
    assert dependency_order(requires | {"0": []})[0] == "0"


def test_a_circle_names_its_members():
    with pytest.raises(CircularDependency, match="A -> B -> C -> A"):
        dependency_order({"A": ["B"], "B": ["C"], "C": ["A"]})
    with pytest.raises(CircularDependency, match="A -> A"):
        dependency_order({"A": ["A"]})
