# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from heatconv.model.nodes import Direction, Node
from heatconv.worker.fair_queue import Check, FairQueue


def checks(stack, count):
    return [
        Check(stack, "traversal", (Node(f"{stack}{number}", Direction.UPDATE),)) for number in range(count)
    ]


def take(queue):
    turn = queue.take()
    assert turn is not None
    return turn


def take_all(queue):
    taken = []
    while (turn := queue.take()) is not None:
        taken += [node.resource_id for node in turn.check.nodes]
    return taken


def test_a_small_stack_does_not_wait_for_all_of_a_large_one():
    queue = FairQueue(threads=4)
    queue.add("large", checks("large", 4))
    queue.add("small", checks("small", 2))

    assert take_all(queue) == ["large0", "small0", "large1", "small1", "large2", "large3"]


def test_who_comes_later_is_last_in_turn():
    queue = FairQueue(threads=4)
    queue.add("a", checks("a", 3))
    queue.take()
    queue.add("b", checks("b", 1))
    queue.add("c", checks("c", 1))

    assert take_all(queue) == ["a1", "b0", "c0", "a2"]


def test_it_tells_how_many_wait():
    queue = FairQueue(threads=4)
    assert not queue
    assert queue.take() is None
    queue.add("a", checks("a", 3))
    queue.take()
    queue.add("b", [Check("b", "traversal", (Node("b0", Direction.UPDATE), Node("b1", Direction.UPDATE)))])

    assert len(queue) == 4


def test_it_tells_who_is_new():
    queue = FairQueue(threads=4)
    assert queue.add("a", checks("a", 1)).spare
    assert not queue.add("a", checks("a", 1)).spare
    first, second = take(queue), take(queue)

    queue.end(first)
    assert not queue.add("a", ()).spare
    assert take_all(queue) == []
    queue.end(second)
    assert queue.add("a", checks("a", 1)).spare


def test_no_more_threads_are_asked_to_come_than_there_are():
    queue = FairQueue(threads=3)

    assert [queue.add(tree, checks(tree, 2)).threads for tree in "abc"] == [2, 1, 0]


def test_a_thread_comes_again_as_long_as_nodes_wait():
    queue = FairQueue(threads=1)
    queue.add("a", checks("a", 2))
    assert queue.end(take(queue))
    assert not queue.end(take(queue))

    assert queue.add("a", checks("a", 1)).threads == 1


def test_a_thread_that_comes_in_vain_is_idle():
    queue = FairQueue(threads=1)
    queue.add("a", checks("a", 1))
    spare = queue.take_of("a")
    assert spare is not None
    assert queue.add("b", ()).threads == 0
    assert queue.take() is None

    assert queue.add("b", checks("b", 1)).threads == 1
    assert not queue.end(spare), "it is not for a spare thread to come"


def test_all_that_wait_can_be_taken_away():
    queue = FairQueue(threads=4)
    for tree in "ab":
        queue.add(tree, checks(tree, 2))
    queue.take()

    assert [(tree, check.nodes[0].resource_id) for tree, check in queue.take_all()] == [
        ("b", "b0"),
        ("b", "b1"),
        ("a", "a1"),
    ]
    assert not queue


def test_a_tree_can_be_taken_out_of_turn():
    queue = FairQueue(threads=4)
    queue.add("a", checks("a", 2))
    queue.add("b", checks("b", 2))

    assert queue.take_of("b") is not None
    assert queue.take_of("c") is None
    assert take_all(queue) == ["a0", "b1", "a1"]
    assert queue.take_of("b") is None


def test_a_tree_with_one_thread_may_keep_it_as_long_as_there_are_enough():
    few, enough = FairQueue(threads=3), FairQueue(threads=4)
    for queue in (few, enough):
        for tree in "abc":
            queue.add(tree, checks(tree, 3))
    take(few)
    turn = take(enough)

    assert not few.keeps("a")
    assert enough.keeps("a")
    enough.take_of("a")
    assert not enough.keeps("a")
    enough.end(turn)
    assert enough.keeps("a")


def test_a_tree_that_waits_for_nobody_else_keeps_all_its_threads():
    queue = FairQueue(threads=3)
    queue.add("a", checks("a", 5))
    take(queue)
    take(queue)

    assert queue.keeps("a")
    queue.add("b", checks("b", 1))
    assert not queue.keeps("a")
    assert queue.take_of("b")
    assert queue.keeps("a")
