# SPDX-License-Identifier: Apache-2.0
"""What a recovery tick costs: that follows what was lost, whatever is in progress."""

from __future__ import annotations

from contextlib import contextmanager

import pytest
import sqlalchemy as sa

from heatconv.db.tables import resource
from heatconv.engine.recovery import Recovery
from heatconv.model.ids import new_id
from heatconv.model.states import Action, Status
from heatconv.testing.templates import Template, thing
from tests.functional.core.world import HOUR

MANY = 1000


@contextmanager
def statements(engine):
    """Yield a list to which each statement is added that reaches the database."""
    sent = []

    def note(_connection, _cursor, statement, *_rest):
        if statement != "BEGIN":  # which SQLite's driver has to be told
            sent.append(statement)

    sa.event.listen(engine, "after_cursor_execute", note)
    yield sent
    sa.event.remove(engine, "after_cursor_execute", note)


@pytest.fixture
def cost(world):
    """Return a function that lets an engine tick, and returns how many statements that took."""
    recovery = Recovery(
        database=world.database,
        doorbell=world.bell,
        roll_back=world.engine.prepare_rollback,
        dead_after=HOUR,
        ready_grace=60,
    )

    def tick():
        with statements(world.database.engine) as sent:
            recovery.tick()
        return len(sent)

    return tick


def hold(world, engine_id, *where):
    with world.database.engine.begin() as connection:
        held = {"engine_id": engine_id, "action": Action.CREATE, "status": Status.IN_PROGRESS}
        connection.execute(sa.update(resource).where(*where).values(**held))


def test_a_tick_costs_what_was_lost_and_nothing_for_what_is_in_progress(world, cost):
    idle = cost()
    world.create(Template(**{f"r{number}": thing() for number in range(MANY)}))
    hold(world, world.worker.engine_id)
    world.bell.take()

    in_progress = cost()
    hold(world, new_id(), resource.c.name == "r0")
    one_lost = cost() - idle
    ten = [f"r{number}" for number in range(1, 11)]
    hold(world, new_id(), resource.c.name.in_(ten))
    ten_lost = cost() - idle

    assert world.rung() == sorted(f"{name}+" for name in ["r0", *ten])
    assert in_progress == idle <= 11
    assert one_lost <= 4
    assert ten_lost == one_lost + 9, "of each more, nothing but that its lock is broken"
