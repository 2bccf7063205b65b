# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from heatconv.model.nodes import Direction, Node
from heatconv.worker.turns import Turns


def checks(stack, count):
    return [(stack, "traversal", Node(f"{stack}{number}", Direction.UPDATE)) for number in range(count)]


def take_all(turns):
    taken = []
    while (check := turns.take()) is not None:
        taken.append(check[2].resource_id)
    return taken


def test_a_small_stack_does_not_wait_for_all_of_a_large_one():
    turns = Turns()
    turns.add("large", checks("large", 4))
    turns.add("small", checks("small", 2))

    assert take_all(turns) == ["large0", "small0", "large1", "small1", "large2", "large3"]


def test_who_comes_later_is_last_in_turn():
    turns = Turns()
    turns.add("a", checks("a", 3))
    turns.take()
    turns.add("b", checks("b", 1))
    turns.add("c", checks("c", 1))

    assert take_all(turns) == ["a1", "b0", "c0", "a2"]


def test_it_tells_how_many_wait():
    turns = Turns()
    assert not turns
    assert turns.take() is None
    turns.add("a", checks("a", 3))
    turns.take()

    assert len(turns) == 2
