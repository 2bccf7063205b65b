# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from heatconv.model.nodes import Direction, Node
from heatconv.worker.turns import Turns


def checks(stack, count):
    return [(stack, "traversal", Node(f"{stack}{number}", Direction.UPDATE)) for number in range(count)]


def take(turns):
    turn = turns.take()
    assert turn is not None
    return turn


def take_all(turns):
    taken = []
    while (turn := turns.take()) is not None:
        taken.append(turn.check[2].resource_id)
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


def test_it_tells_who_is_new():
    turns = Turns()
    assert turns.add("a", checks("a", 1))
    assert not turns.add("a", checks("a", 1))
    first, second = take(turns), take(turns)

    turns.end(first)
    assert not turns.add("a", ())
    assert take_all(turns) == []
    turns.end(second)
    assert turns.add("a", checks("a", 1))


def test_a_tree_can_be_taken_out_of_turn():
    turns = Turns()
    turns.add("a", checks("a", 2))
    turns.add("b", checks("b", 2))

    assert turns.take_of("b") is not None
    assert turns.take_of("c") is None
    assert take_all(turns) == ["a0", "b1", "a1"]
    assert turns.take_of("b") is None


def test_a_tree_with_one_thread_may_keep_it_as_long_as_there_are_enough():
    turns = Turns()
    for tree in "abc":
        turns.add(tree, checks(tree, 3))
    turn = take(turns)

    assert turns.keeps("a", threads=4)
    assert not turns.keeps("a", threads=3)
    turns.take_of("a")
    assert not turns.keeps("a", threads=4)
    turns.end(turn)
    assert turns.keeps("a", threads=4)
