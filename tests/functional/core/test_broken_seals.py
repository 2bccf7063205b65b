# SPDX-License-Identifier: Apache-2.0
"""A row that somebody has meddled with keeps none of the others from their ends."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from heatconv.db.tables import resource
from heatconv.testing.templates import Template, thing
from tests.functional.core.test_stretches import CHAIN, NAMES

FAN = Template(A=thing("a"), **{name: thing(name, uses=["A"]) for name in "BCD"})
PAIR = Template(A=thing("a"), B=thing("b"), C=thing("c", uses=["A", "B"]))


def states(world):
    """Return the state of each row, of which nothing that is sealed is read."""
    states = sa.select(resource.c.name, resource.c.action, resource.c.status, resource.c.engine_id)
    with world.database.engine.connect() as connection:
        return {
            name: f"{action}_{status}" + (" held" if engine_id else "")
            for name, action, status, engine_id in connection.execute(states)
        }


def meddle(world, column, table, found_by):
    """Write to a sealed column of a row what was sealed for another row."""
    with world.database.engine.begin() as connection:
        stolen = connection.scalar(sa.text("SELECT desired FROM resource WHERE name = 'A'"))
        write = sa.text(f"UPDATE {table} SET {column} = :stolen WHERE {found_by}")
        connection.execute(write, {"stolen": stolen})


def run(world):
    """Let everything happen; a node whose row is broken is left, for recovery to ring for again."""
    while rung := world.bell.take():
        for ring in rung:
            world.worker.checker.check(*ring)
        world.worker.come_back()


@pytest.mark.parametrize("spare_capacity", [0, 1, 5])
@pytest.mark.parametrize(
    ("template", "broken", "made"),
    [(FAN, "C", "ABD"), (CHAIN, "B", "A"), (CHAIN, "F", "ABCDE")],
    ids=["a fan", "the next", "in a stretch"],
)
def test_all_others_are_made_that_can_be(world, template, broken, made, spare_capacity):
    world.worker.spare_capacity = spare_capacity
    world.create(template)
    meddle(world, "desired", "resource", f"name = '{broken}'")
    run(world)

    names = template if template is FAN else NAMES
    assert states(world) == dict.fromkeys(names, "INIT_COMPLETE") | dict.fromkeys(made, "CREATE_COMPLETE")


def test_so_it_is_if_what_a_node_was_given_is_broken(world):
    world.create(PAIR)
    second = world.node("B+")
    world.check("A+")
    world.come_back()
    meddle(world, "data", "sync_point_input", f"sender_id = '{world.row('A').id}'")
    world.worker.spare_capacity = 1
    world.bell.ring(world.stack_id, world.stack.current_traversal, [second])
    run(world)
    assert states(world) == {"A": "CREATE_COMPLETE", "B": "CREATE_COMPLETE", "C": "INIT_COMPLETE"}
