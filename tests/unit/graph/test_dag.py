# SPDX-License-Identifier: Apache-2.0
"""Graphs of requirements, whatever they are of."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heatconv.graph.dag import CycleError, Dag, in_dependency_order

GRAPHS = st.dictionaries(st.integers(0, 9), st.sets(st.integers(0, 9)))


def test_what_is_required_is_a_node_as_well():
    graph = Dag[str]()
    graph.add("roof", "walls")
    graph.add("walls", "ground", "bricks")

    assert set(graph) == {"roof", "walls", "ground", "bricks"}
    assert len(graph) == 4
    assert "roof" in graph
    assert "door" not in graph
    assert graph.requires("walls") == {"ground", "bricks"}
    assert sorted(graph.leaves()) == ["bricks", "ground"]
    assert graph.roots() == ["roof"]


def test_a_node_gets_more_requirements_each_time_it_is_added():
    graph = Dag[str]()
    graph.add("roof")
    graph.add("roof", "walls")
    graph.add("roof", "beams", "walls")

    assert graph.requires("roof") == {"walls", "beams"}
    assert graph.leaves() == ["walls", "beams"]


def test_requirements_come_first_and_strangers_do_not_count():
    assert in_dependency_order({"roof": ["walls"], "walls": ["ground"]}) == ["walls", "roof"]
    assert in_dependency_order({}) == []


def test_a_cycle_is_told_with_all_that_wait_for_it():
    with pytest.raises(CycleError, match="cycle among") as caught:
        in_dependency_order({"egg": ["hen"], "hen": ["egg"], "omelette": ["egg"], "salt": []})

    assert sorted(map(str, caught.value.members)) == ["egg", "hen", "omelette"]


@given(GRAPHS)
def test_there_is_an_order_or_there_is_a_cycle(requires):
    try:
        order = in_dependency_order(requires)
    except CycleError as error:
        stuck = set(error.members)
        assert stuck
        assert all(stuck & requires[member] for member in requires if member in stuck)
        return
    assert sorted(order) == sorted(requires)
    place = {node: index for index, node in enumerate(order)}
    assert all(
        place[needed] < place[node]
        for node, needs in requires.items()
        for needed in needs
        if needed in requires
    )
