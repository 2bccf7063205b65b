# SPDX-License-Identifier: Apache-2.0
"""What a database that was restored from a dump is made to say of what the dump does not know."""

from __future__ import annotations

from datetime import datetime

import pytest
import sqlalchemy as sa

from heatconv.db import restoring
from heatconv.db.tables import resource, restored_stack, stack
from heatconv.engine import orphans
from heatconv.model.states import Action, Status
from heatconv.resources.naming import physical_name
from heatconv.testing.templates import Template, attr, differences, thing

PAIR = Template(A=thing("a"), B=thing(attr("A"), uses=["A"]))
LONG_AGO = datetime(2000, 1, 1)  # noqa: DTZ001 - as the tables have it: UTC, and they do not say so
SERVER = "Fake::Cloud::Server"


@pytest.fixture
def half(world):
    """Return a world in which a dump was taken when A was made and B was yet to be."""
    world.create(PAIR)
    world.check("A+")
    world.come_back()
    return world


def marked(world):
    return [str(progress) for progress in restoring.mark(world.database)][-1]


def make(world, name, **properties):
    """Let an object of a row's be there, as if a worker had made it since the dump."""
    row = world.row(name)
    named = physical_name("web", name, row.id, None)
    return world.cloud.create(named, SERVER, f"web/{name}", {"value": "a", "flavor": "small", **properties})


def go_on(world):
    """Let a worker check B, and all that follows happen."""
    world.check("B+")
    world.run()


def of(world, name):
    return [each["id"] for each in world.cloud.owned(f"web/{name}")]


def test_what_was_not_begun_is_looked_for_before_it_is_made(half):
    assert marked(half) == (
        "1 resources are looked for before they are made;"
        " 1 stacks are looked at, and put right, once the daemons run."
    )
    there = make(half, "B", uses=of(half, "A"))

    go_on(half)

    assert of(half, "B") == [there["id"]]
    assert half.stack.status == Status.COMPLETE


def test_what_is_not_there_is_made(half):
    marked(half)
    go_on(half)
    assert differences(PAIR, half.cloud.owned("web/")) == []


def test_what_is_wanted_no_more_is_looked_for_and_removed(half):
    marked(half)
    make(half, "B", uses=of(half, "A"))

    half.update(PAIR.without("B"))
    half.run()

    assert differences(PAIR.without("B"), half.cloud.owned("web/")) == []


def test_what_could_not_be_made_is_looked_for_as_well(half):
    with half.database.engine.begin() as connection:
        failed = sa.update(resource).where(resource.c.name == "B")
        connection.execute(failed.values(action=Action.CREATE, status=Status.FAILED))
    assert marked(half).startswith("1 resources")
    there = make(half, "B", uses=of(half, "A"))

    go_on(half)

    assert of(half, "B") == [there["id"]]


def test_to_say_it_twice_changes_nothing(half):
    marked(half)
    before = half.everything()
    said = marked(half)
    assert half.everything() == before
    assert said == marked(half)


def test_what_is_under_way_gets_its_whole_time_anew(half):
    with half.database.engine.begin() as connection:
        connection.execute(sa.update(stack).values(created_at=LONG_AGO, deadline=LONG_AGO))
    marked(half)
    assert half.stack.deadline > half.stack.created_at

    go_on(half)
    assert half.stack.status == Status.COMPLETE


@pytest.mark.parametrize(
    ("state", "looked_at"),
    [
        ({"status": Status.COMPLETE}, 1),
        ({"status": Status.IN_PROGRESS}, 1),
        ({"status": Status.FAILED}, 0),
        ({"action": Action.DELETE}, 0),
        ({"owner_resource_id": "another"}, 0),
        ({"deleted_at": LONG_AGO}, 0),
    ],
)
def test_stacks_are_looked_at_that_are_wanted_and_had_not_failed(half, state, looked_at):
    with half.database.engine.begin() as connection:
        connection.execute(sa.update(stack).values(state))
    assert f"{looked_at} stacks" in marked(half)
    with half.database.engine.connect() as connection:
        assert len(connection.execute(sa.select(restored_stack)).all()) == looked_at


def test_one_engine_takes_a_turn_and_another_if_that_one_died(half):
    marked(half)
    assert restoring.try_take(half.database) == half.stack_id
    assert restoring.try_take(half.database) is None
    with half.database.engine.begin() as connection:
        connection.execute(sa.update(restored_stack).values(due_at=LONG_AGO))
    assert restoring.try_take(half.database) == half.stack_id


def test_what_no_row_stands_for_is_an_orphan_and_nothing_else_is(half, registry):
    kept = make(half, "A")  # a second one of a row that knows its own
    make(half, "B", uses=of(half, "A"))  # that row looks for it
    lost = half.cloud.create("web-C-abcdefgh2345", SERVER, "web/C", {})
    for name in ("mine", "web-applications", "web-C-abcdefgh234", "web-C-abcdefgh1890"):
        half.cloud.create(name, SERVER, "me", {})

    found = orphans.find(half.database, registry)

    assert {orphan.physical_id for orphan in found} == {kept["id"], lost["id"]}
    assert {(orphan.project_id, orphan.type) for orphan in found} == {("tests", SERVER)}
    assert orphans.find(half.database, registry, "nobody's") != []  # one login sees the same for all
