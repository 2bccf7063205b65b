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
    turns = Turns(threads=4)
    turns.add("large", checks("large", 4))
    turns.add("small", checks("small", 2))

    assert take_all(turns) == ["large0", "small0", "large1", "small1", "large2", "large3"]


def test_who_comes_later_is_last_in_turn():
    turns = Turns(threads=4)
    turns.add("a", checks("a", 3))
    turns.take()
    turns.add("b", checks("b", 1))
    turns.add("c", checks("c", 1))

    assert take_all(turns) == ["a1", "b0", "c0", "a2"]


def test_it_tells_how_many_wait():
    turns = Turns(threads=4)
    assert not turns
    assert turns.take() is None
    turns.add("a", checks("a", 3))
    turns.take()

    assert len(turns) == 2


def test_it_tells_who_is_new():
    turns = Turns(threads=4)
    assert turns.add("a", checks("a", 1)).spare
    assert not turns.add("a", checks("a", 1)).spare
    first, second = take(turns), take(turns)

    turns.end(first)
    assert not turns.add("a", ()).spare
    assert take_all(turns) == []
    turns.end(second)
    assert turns.add("a", checks("a", 1)).spare


def test_no_more_threads_are_asked_to_come_than_there_are():
    turns = Turns(threads=3)

    assert [turns.add(tree, checks(tree, 2)).threads for tree in "abc"] == [2, 1, 0]


def test_a_thread_comes_again_as_long_as_nodes_wait():
    turns = Turns(threads=1)
    turns.add("a", checks("a", 2))
    assert turns.end(take(turns))
    assert not turns.end(take(turns))

    assert turns.add("a", checks("a", 1)).threads == 1


def test_a_thread_that_comes_in_vain_is_idle():
    turns = Turns(threads=1)
    turns.add("a", checks("a", 1))
    spare = turns.take_of("a")
    assert spare is not None
    assert turns.add("b", ()).threads == 0
    assert turns.take() is None

    assert turns.add("b", checks("b", 1)).threads == 1
    assert not turns.end(spare), "it is not for a spare thread to come"


def test_all_that_wait_can_be_taken_away():
    turns = Turns(threads=4)
    for tree in "ab":
        turns.add(tree, checks(tree, 2))
    turns.take()

    assert [(tree, check[2].resource_id) for tree, check in turns.take_all()] == [
        ("b", "b0"),
        ("b", "b1"),
        ("a", "a1"),
    ]
    assert not turns


def test_a_tree_can_be_taken_out_of_turn():
    turns = Turns(threads=4)
    turns.add("a", checks("a", 2))
    turns.add("b", checks("b", 2))

    assert turns.take_of("b") is not None
    assert turns.take_of("c") is None
    assert take_all(turns) == ["a0", "b1", "a1"]
    assert turns.take_of("b") is None


def test_a_tree_with_one_thread_may_keep_it_as_long_as_there_are_enough():
    few, enough = Turns(threads=3), Turns(threads=4)
    for turns in (few, enough):
        for tree in "abc":
            turns.add(tree, checks(tree, 3))
    take(few)
    turn = take(enough)

    assert not few.keeps("a")
    assert enough.keeps("a")
    enough.take_of("a")
    assert not enough.keeps("a")
    enough.end(turn)
    assert enough.keeps("a")
