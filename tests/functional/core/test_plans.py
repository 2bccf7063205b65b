# SPDX-License-Identifier: Apache-2.0
"""How PostgreSQL finds what is ahead of a node, or done in a stack, whatever it last knew of the tables."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from heatconv.db.convergence import stacks
from heatconv.db.convergence.shown import show
from heatconv.db.plumbing import statistics
from heatconv.testing.templates import Template, attr, thing
from heatconv.testing.trees import Passed
from tests.functional.core.world import CONTEXT
from tests.functional.waiting import until

MANY = Template(**{f"R{number}": thing("1") for number in range(300)})
VALUES = Template(
    V0=Passed("1"), **{f"V{number}": Passed(attr(f"V{number - 1}")) for number in range(1, 300)}
)
FEW = Template(A=thing("1"))
MANY_DELETED = """
    INSERT INTO stack SELECT (jsonb_populate_record(stack, jsonb_build_object(
        'id', 'gone-' || number, 'live_name', NULL, 'deleted_at', stack.created_at))).*
    FROM stack, generate_series(1, 2000) AS number
"""
#: What PostgreSQL would look through for one of all stacks that a project ever had.
OF_ALL_STACKS = ("Seq Scan on stack ", "ix_stack_project_id_created_at_id", "ix_stack_owner_resource_id")


def plans(database, fragment):
    """Return a list that grows with the plan of each statement that has a fragment, when it is sent."""
    found = []

    def explain(connection, cursor, statement, parameters, *rest):
        if fragment in statement and not statement.startswith("EXPLAIN"):
            cursor.execute(f"EXPLAIN {statement}", parameters)
            found.append("\n".join(line for (line,) in cursor.fetchall()))

    sa.event.listen(database.engine, "before_cursor_execute", explain)
    return found


def begin_many(world, template=MANY):
    """Begin to create a stack, and have the server look at its tables while nothing is done yet."""
    world.create(template)
    with world.database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(sa.text("ANALYZE"))


@pytest.mark.parametrize("database_kind", ["postgresql"])
def test_what_is_ahead_is_looked_up_by_its_keys_in_a_traversal_that_is_new(world):
    """The stack's own node, which opens the way to all clean-up nodes, has as many edges as there are."""
    begin_many(world)
    world.worker.spare_capacity = 1
    found = plans(world.worker.database, "sender_state")
    world.run()
    world.delete()
    world.run()

    assert world.state == "DELETE_COMPLETE"
    assert found
    assert [plan for plan in found if "Join Filter" in plan or "Seq Scan on resource" in plan] == []


@pytest.mark.parametrize("database_kind", ["postgresql"])
def test_a_stretch_is_looked_up_by_its_keys(world):
    """The server looked at its tables when nothing was done yet, and none of the nodes had its turn."""
    begin_many(world, VALUES)
    world.worker.spare_capacity = 1
    found = plans(world.worker.database, "WITH RECURSIVE")
    world.run()

    assert world.state == "CREATE_COMPLETE"
    assert len(found) > len(VALUES) / 40
    scans = ("Seq Scan on graph_edge", "Seq Scan on sync_point", "Join Filter")
    assert [plan for plan in found if any(scan in plan for scan in scans)] == []


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


@pytest.mark.parametrize("database_kind", ["postgresql"])
def test_a_stack_is_found_and_stacks_are_counted_by_a_key_however_many_there_were(world):
    """PostgreSQL looked at the table when it was empty, and is told by the tick that it is not any more."""
    world.create(FEW)
    with world.database.engine.begin() as connection:
        connection.execute(sa.text(MANY_DELETED))
        connection.execute(sa.text("UPDATE pg_class SET reltuples = 0, relpages = 1 WHERE relname = 'stack'"))
    world.database.engine.dispose()  # a server process has counted what it wrote when it ends
    until(lambda: "stack" in statistics.correct(world.database))
    world.engine = world.new_engine(max_stacks=9)
    counting = plans(world.engine._database, "live_name >=")
    world.create(FEW, name="another")
    finding = plans(world.database, "stack.live_name =")
    for name_or_id in (world.stack_id, "web"):
        assert show(world.database, CONTEXT.project_id, name_or_id, with_outputs=True, with_progress=True)
        assert stacks.find(world.database, CONTEXT.project_id, name_or_id)

    assert len(counting) >= 2
    assert len(finding) == 4
    found = [plan for plan in counting + finding if any(scan in plan for scan in OF_ALL_STACKS)]
    assert found == []
