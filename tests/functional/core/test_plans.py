# SPDX-License-Identifier: Apache-2.0
"""How PostgreSQL finds what is ahead of a node, or done in a stack, whatever it last knew of the tables."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from heatconv.db.convergence.shown import show
from heatconv.testing.templates import Template, thing
from tests.functional.core.world import CONTEXT

MANY = Template(**{f"R{number}": thing("1") for number in range(300)})


def plans(database, fragment):
    """Return a list that grows with the plan of each statement that has a fragment, when it is sent."""
    found = []

    def explain(connection, cursor, statement, parameters, *rest):
        if fragment in statement and not statement.startswith("EXPLAIN"):
            cursor.execute(f"EXPLAIN {statement}", parameters)
            found.append("\n".join(line for (line,) in cursor.fetchall()))

    sa.event.listen(database.engine, "before_cursor_execute", explain)
    return found


def begin_many(world):
    """Begin to create a stack, and have the server look at its tables while nothing is done yet."""
    world.create(MANY)
    with world.database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(sa.text("ANALYZE"))


@pytest.mark.parametrize("database_kind", ["postgresql"])
def test_what_is_ahead_is_looked_up_by_its_keys_in_a_traversal_that_is_new(world):
    """The stack's own node, which opens the way to all clean-up nodes, has as many edges as there are."""
    begin_many(world)
    world.run()
    found = plans(world.worker.database, "sender_state")
    world.delete()
    world.run()

    assert world.state == "DELETE_COMPLETE"
    assert found
    assert [plan for plan in found if "Join Filter" in plan] == []


@pytest.mark.parametrize("database_kind", ["postgresql"])
def test_a_few_rows_that_are_given_are_looked_up_by_their_keys(world):
    """Of what is given as one text, PostgreSQL does not know how many rows it is."""
    begin_many(world)
    found = plans(world.worker.database, "json_to_recordset")
    world.check("R7+")

    assert found
    assert [plan for plan in found if "Seq Scan" in plan] == []


@pytest.mark.parametrize("database_kind", ["postgresql"])
def test_how_far_a_stack_is_does_not_depend_on_how_many_nodes_of_others_are_done(world):
    """When the server last looked none was done, as in a stack that has just begun."""
    begin_many(world)
    found = plans(world.database, "AS done")
    shown = show(world.database, CONTEXT.project_id, world.stack_id, with_outputs=True, with_progress=True)

    assert shown is not None
    assert (shown.done, shown.total) == (0, len(MANY))
    assert found
    assert [plan for plan in found if "ix_sync_point_state_ready_at" in plan] == []
