# SPDX-License-Identifier: Apache-2.0
"""Nodes that a worker was rung for together are claimed in one transaction, and go wrong each for itself."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from heatconv.db.tables import resource
from heatconv.testing.templates import Template, thing
from tests.functional.core.test_begun_with_the_claim import commits_of

LEAVES = Template(A=thing("a"), B=thing("b"), C=thing("c", uses=["A", "B"]), D=thing("d"))


def check(world, *labels, worker=None):
    """Let a worker check nodes together."""
    nodes = [world.node(label) for label in labels]
    (worker or world.worker).checker.check(world.stack_id, world.stack.current_traversal, *nodes)


def holders(world):
    """Return who holds which row."""
    return {row.name: row.engine_id for row in world.select(resource) if row.engine_id}


def test_one_transaction_claims_them(world, monkeypatch):
    type_ = world.plugin_of(LEAVES["A"])
    handle_create, found = type_.handle_create, {}
    committed = commits_of(world.worker)

    def watched(plugin):
        found[plugin.name] = (len(committed), holders(world))
        return handle_create(plugin)

    monkeypatch.setattr(type_, "handle_create", watched)
    world.create(LEAVES)
    check(world, "A+", "B+")

    mine = world.worker.engine_id
    assert found == {"A": (1, {"A": mine, "B": mine})}
    assert (world.rows()["A"], world.rows()["B"]) == ("CREATE_COMPLETE v0", "CREATE_IN_PROGRESS v0")
    world.run()
    assert world.state == "CREATE_COMPLETE"
    assert world.differences(LEAVES) == []
    assert sorted(world.calls()) == [f"create {name}" for name in "ABCD"]


def test_one_that_another_worker_holds_is_left_to_it(world):
    world.create(LEAVES)
    check(world, "A+", "B+")
    assert holders(world) == {"B": world.worker.engine_id}

    check(world, "B+", "D+", worker=world.new_worker())

    assert holders(world) == {"B": world.worker.engine_id}
    assert [row_id for _, row_id, _ in world.bell.preempted] == [world.row("B").id]
    assert world.rows()["D"] == "CREATE_COMPLETE v0"
    world.run()
    assert world.state == "CREATE_COMPLETE"
    assert sorted(world.calls()) == [f"create {name}" for name in "ABCD"]


@pytest.mark.parametrize("spoilt", "AB")
def test_one_that_cannot_be_read_keeps_no_other_from_being_made(world, spoilt):
    world.create(LEAVES)
    row = world.row(spoilt)
    of_row = sa.update(resource).where(resource.c.id == row.id)
    with world.database.engine.begin() as connection:
        connection.execute(of_row.values(action="NO_SUCH_ACTION"))

    check(world, "A+", "B+")

    (well,) = {"A", "B"} - {spoilt}
    assert world.rows()[well] == "CREATE_COMPLETE v0"
    assert holders(world) == {}
    with world.database.engine.begin() as connection:
        connection.execute(of_row.values(action=row.action))
    check(world, f"{spoilt}+")
    world.run()
    assert world.state == "CREATE_COMPLETE"
    assert world.differences(LEAVES) == []


def test_whatever_is_rung_for_together_is_checked(world):
    world.together = 5
    world.create(LEAVES)
    world.run()
    assert (world.state, world.differences(LEAVES)) == ("CREATE_COMPLETE", [])
    fewer = LEAVES.but(A=thing("other"), B=thing("b", flavor="large")).without("D")
    world.update(fewer)
    world.run()
    assert (world.state, world.differences(fewer)) == ("UPDATE_COMPLETE", [])
    world.delete()
    world.run()
    assert (world.state, world.differences(Template())) == ("DELETE_COMPLETE", [])
