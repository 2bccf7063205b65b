# SPDX-License-Identifier: Apache-2.0
"""Many threads of a worker share transactions; the world comes out as if each had its own."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
import sqlalchemy as sa

from heatconv.db.tables import graph_edge, resource, sync_point, sync_point_input
from heatconv.testing.templates import Template, thing

THREADS = 16
LEAVES = [f"L{number}" for number in range(48)]  # more than one node waits for without joins
PAIRS = [f"P{number}" for number in range(24)]


def wide(value, *, replaced=()):
    """Return a template with leaves, pairs of them that something depends on, and one that waits for all."""
    leaves = {name: thing(value, flavor="large" if name in replaced else "small") for name in LEAVES}
    pairs = {
        name: thing(value, uses=[LEAVES[2 * number], LEAVES[2 * number + 1]])
        for number, name in enumerate(PAIRS)
    }
    return Template(**leaves, **pairs, J=thing(value, uses=[*LEAVES, *PAIRS]))


def commits_of(world):
    """Return a list that grows with each transaction of the worker."""
    commits: list[object] = []
    sa.event.listen(world.worker.database.engine, "commit", commits.append)
    return commits


@contextmanager
def checking(world):
    """Check all that was rung for meanwhile, in a thread each."""
    rung = world.bell.take()
    with ThreadPoolExecutor(len(rung)) as pool:
        checked = [pool.submit(world.worker.checker.check, *ring) for ring in rung]
        yield
    for future in checked:
        future.result()


def is_at_rest(world):
    assert world.select(sync_point) == world.select(sync_point_input) == world.select(graph_edge) == []
    assert [row.name for row in world.select(resource) if row.engine_id or row.progress] == []


@pytest.mark.parametrize("copies", [1, 2])
def test_all_of_a_stacks_life(world, copies):
    """Twice: each message comes twice, and both may be in one group."""
    before = wide("a")
    after = wide("b", replaced=LEAVES[::4]).without(PAIRS[-1]).but(J=thing("b", uses=LEAVES))
    world.create(before)
    commits = commits_of(world)
    world.run(threads=THREADS, copies=copies)

    assert (world.state, world.differences(before)) == ("CREATE_COMPLETE", [])
    assert len(commits) < (2 + copies) * len(before)  # alone: three for each, and one for each other copy
    assert Counter(world.calls()).most_common(1)[0][1] == 1
    is_at_rest(world)

    world.update(after)
    world.run(threads=THREADS, copies=copies)
    assert (world.state, world.differences(after)) == ("UPDATE_COMPLETE", [])
    is_at_rest(world)

    world.delete()
    world.run(threads=THREADS, copies=copies)
    assert world.state == "DELETE_COMPLETE"
    assert world.differences(Template()) == []
    is_at_rest(world)


def test_who_changes_his_mind_in_the_middle(world):
    """What is locked, or gone, when its group comes to it is seen to alone."""
    before, after = wide("a"), wide("b").without(*LEAVES[-2:], PAIRS[-1]).but(J=thing("b", uses=PAIRS[:-1]))
    world.create(before)
    world.cloud.gate.hold_after(20)
    with checking(world):
        assert world.cloud.gate.wait_for(len(LEAVES) - 20, 60)
        world.update(after)
        world.cloud.gate.release()
    world.run(threads=THREADS)

    assert (world.state, world.differences(after)) == ("UPDATE_COMPLETE", [])
    is_at_rest(world)


def test_one_whose_lock_was_broken_changes_nothing_in_a_group(world):
    before = wide("a")
    world.create(before)
    world.cloud.gate.hold_after(0)
    with checking(world):
        assert world.cloud.gate.wait_for(len(LEAVES), 60)
        lost = world.row("L7")
        with world.database.engine.begin() as connection:
            taken = sa.update(resource).where(resource.c.id == lost.id)
            connection.execute(taken.values(engine_id=None, atomic_key=lost.atomic_key + 1))
        world.cloud.gate.release()

    assert world.points()["L7+"] == "READY 0/0"
    assert world.row("L7").physical_id is None
    assert world.points()["L8+"] == "DONE 0/0"
    world.bell.ring(world.stack_id, world.stack.current_traversal, [world.node("L7+")])
    world.run(threads=THREADS)
    assert (world.state, world.differences(before)) == ("CREATE_COMPLETE", [])
    is_at_rest(world)
