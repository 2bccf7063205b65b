# SPDX-License-Identifier: Apache-2.0
"""What comes after a node is looked at, locked and claimed along with its end."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
import sqlalchemy as sa

from heatconv.db.convergence import ahead, sync_points
from heatconv.db.plumbing.session import reading
from heatconv.db.plumbing.together import Together
from heatconv.db.tables import resource, sync_point
from heatconv.testing.templates import Template, thing
from tests.functional.core.test_races import WAITING
from tests.functional.waiting import until

CHAIN = Template(A=thing("a"), B=thing("b", uses=["A"]), C=thing("c", uses=["B"]))
FAN = Template(A=thing("a"), **{name: thing(name, uses=["A"]) for name in "BCD"})
POSTGRESQL = pytest.mark.parametrize("database_kind", ["postgresql"])


@pytest.fixture
def sent(world):
    """Return the statements that the worker sends."""
    statements: list[str] = []
    sa.event.listen(
        world.worker.database.engine,
        "after_cursor_execute",
        lambda _connection, _cursor, statement, *_rest: statements.append(statement),
    )
    return statements


def look(world, label, rows_too):
    """Look ahead of a node, as its end does; return the rows that are locked by name, if any was sought."""
    key = world.stack.current_traversal, world.node(label).resource_id, True

    @reading
    def find(connection):
        found = ahead.look(Together(connection), {key}, rows_too=rows_too).free
        return found and {row.name: row for row in found.values()}

    return find(world.worker.database)


@POSTGRESQL
def test_the_next_rows_are_locked_by_the_statement_that_ends_a_node(world, sent):
    world.worker.spare_capacity = 1
    world.create(CHAIN)
    world.check("A+")
    assert set(world.rows().values()) == {"CREATE_COMPLETE v0"}
    locking = ["sender_state" in statement for statement in sent if "SKIP LOCKED" in statement]
    assert locking == [True] * len(CHAIN)


@pytest.mark.parametrize("capacity", [1, 2, 3, 9])
def test_as_many_are_claimed_as_there_is_capacity_for(world, capacity):
    world.worker.spare_capacity = capacity
    world.create(FAN)
    rung = world.check("A+") + world.come_back()
    assert len([name for name in "BCD" if world.rows()[name] != "INIT_COMPLETE v0"]) == min(3, capacity)
    assert len(rung) == max(0, 3 - capacity)


@POSTGRESQL
def test_rows_are_locked_of_no_more_than_were_asked_for(world):
    world.create(FAN)
    assert look(world, "A+", 2) is None
    assert look(world, "A+", 3).keys() == set("BCD")


@POSTGRESQL
def test_nor_of_what_waits_for_others_or_of_what_is_not_ready_itself(world):
    world.create(
        Template(A=thing("a"), X=thing("x"), B=thing("b", uses=["A", "X"]), C=thing("c", uses=["B"]))
    )
    assert look(world, "A+", 1) == {}
    assert look(world, "B+", 1) == {}


@POSTGRESQL
def test_a_row_that_another_transaction_has_locked_is_not_waited_for(world):
    world.create(CHAIN)
    with world.database.engine.begin() as holder:
        holder.execute(sa.select(resource).where(resource.c.id == world.row("B").id).with_for_update()).one()
        assert look(world, "A+", 1) == {}
    assert look(world, "A+", 1).keys() == {"B"}


@POSTGRESQL
def test_no_row_is_locked_before_all_sync_points_are(world):
    """Who waits for the last of them holds nothing that another may wait for."""
    world.create(FAN)
    node = world.node(max("BCD", key=lambda name: world.row(name).id) + "+")
    key = sync_points.key_of(world.stack.current_traversal, node)
    with ThreadPoolExecutor(1) as pool:
        with world.database.engine.begin() as other:
            other.execute(sa.update(sync_point).where(key).values(atomic_key=7))
            looking = pool.submit(partial(look, world, "A+", 3))
            until(lambda: looking.done() or other.scalar(sa.text(WAITING["postgresql"])))
            free = set(other.scalars(sa.select(resource.c.name).with_for_update(skip_locked=True)))
        assert free == set("ABCD")
        assert looking.result().keys() == set("BCD")


@POSTGRESQL
def test_a_row_is_read_as_it_is_when_its_sync_point_can_be_locked(world):
    """Another writes to both, while the statement that has begun already waits for it."""
    world.create(CHAIN)
    key = sync_points.key_of(world.stack.current_traversal, world.node("B+"))
    with ThreadPoolExecutor(1) as pool:
        with world.database.engine.begin() as other:
            other.execute(sa.update(sync_point).where(key).values(atomic_key=7))
            looking = pool.submit(partial(look, world, "A+", 1))
            until(lambda: looking.done() or other.scalar(sa.text(WAITING["postgresql"])))
            other.execute(sa.update(resource).where(resource.c.name == "B").values(atomic_key=42))
        assert looking.result()["B"].atomic_key == 42
