# SPDX-License-Identifier: Apache-2.0
"""How long a plan should take is the median of what it took before, along the longest way through it."""

from __future__ import annotations

from datetime import timedelta

import sqlalchemy as sa

from heatconv.db.tables import event
from heatconv.testing.templates import Template, thing


def let_each_have_taken(world, seconds):
    """Let the events that say that an action has ended come so many seconds after those that it began."""
    with world.database.engine.begin() as connection:
        begun = {}
        for row in connection.execute(sa.select(event).order_by(event.c.id)).all():
            key = (row.resource_id, row.action)
            if row.status == "IN_PROGRESS":
                begun[key] = row.created_at
            elif key in begun:
                ended = begun[key] + timedelta(seconds=seconds[row.resource_name])
                statement = sa.update(event).where(event.c.id == row.id)
                connection.execute(statement.values(created_at=ended))


def test_medians_along_the_longest_way(world):
    world.create(Template(A=thing("a"), B=thing("b"), C=thing("c")))
    let_each_have_taken(world, {"A": 10, "B": 20, "C": 60, "web": 0})

    grown = Template(A=thing("a"), B=thing("b"), C=thing("c"), D=thing("d"), E=thing("e", uses=["D"]))
    plan = world.plan(grown.but(F=thing("f")))

    assert {(each["name"], each["seconds"], each["history"]) for each in plan["resources"]} == {
        ("D", 20.0, 3),
        ("E", 20.0, 3),
        ("F", 20.0, 3),
    }
    assert (plan["summary"]["seconds"], plan["summary"]["history"]) == (40.0, 3)


def test_of_what_was_never_done_before_nothing_is_said(world):
    world.create(Template(A=thing("a")))

    plan = world.plan(Template(A=thing("a2")))

    assert plan["resources"][0]["seconds"] is None
    assert (plan["summary"]["seconds"], plan["summary"]["history"]) == (None, 0)
