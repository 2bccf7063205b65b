# SPDX-License-Identifier: Apache-2.0
"""What it costs to look, and to heal: statements and calls are counted, the world is compared."""

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager

import pytest
import sqlalchemy as sa

from heatconv.db.purging import leftovers
from heatconv.testing.templates import Template, attr, thing
from tests.functional.observer.world import ObservedWorld


def template(size):
    """Return so many things, every tenth of which refers to the one before it."""
    things = {}
    for number in range(size):
        before = f"R{number - 1:04}"
        refers = number % 10 == 9
        value = attr(before, "id") if refers else str(number)
        things[f"R{number:04}"] = thing(value, uses=[before] if refers else [])
    return Template(**things)


@contextmanager
def counted(observer):
    """Count the statements that an observer sends."""
    statements: list[str] = []

    def note(_connection, _cursor, statement, *_rest):
        statements.append(statement)

    engine = observer._database.engine
    sa.event.listen(engine, "before_cursor_execute", note)
    yield statements
    sa.event.remove(engine, "before_cursor_execute", note)


def of_a_round(world, size):
    """Return the statements and the calls of a round in which there is no news, of a stack of some size."""
    world.create_with(template(size), "detect")
    world.tick()
    world.time_passes()
    before = len(world.cloud.audit())
    with counted(world.observer) as statements:
        world.observer.tick()
    assert world.drift_status() == "IN_SYNC"
    return len(statements), len(world.cloud.audit()) - before


def test_a_round_without_news_costs_the_same_however_many_resources_there_are(world):
    few = of_a_round(world, 20)
    world.delete()
    world.run()
    assert any(map(dict, leftovers.sweep(world.database)))
    many = of_a_round(world, 300)

    assert many == few
    assert many[1] == 1


@pytest.mark.parametrize("database_kind", ["sqlite", "postgresql"])
def test_every_fifth_of_many_is_healed_once(world):
    wanted = template(200)
    world.create_with(wanted, "heal")
    before = {found["owner"].rpartition("/")[2]: found["id"] for found in world.cloud.owned()}
    drifted = [f"R{number:04}" for number in range(0, 200, 5)]
    for number, name in enumerate(drifted):
        match number % 3:
            case 0:
                world.cloud.vanish(before[name])
            case 1:
                world.cloud.meddle(before[name], {"value": "drifted"})
            case _:
                world.cloud.spoil(before[name])
    asked = len(world.cloud.audit())

    for _ in range(3):
        world.tick()

    assert world.differences(wanted) == []
    assert world.drift_status() == "IN_SYNC"
    done = Counter(call for call in world.calls(asked) if not call.startswith("delete"))
    assert set(done.values()) == {1}
    touched = {call.split()[1] for call in done}
    # Who refers to something that was made anew is told; nobody else is touched.
    assert touched - set(drifted) <= {f"R{number:04}" for number in range(9, 200, 10)}


def test_nothing_is_asked_and_nothing_written_for_stacks_that_are_off(database_url, registry, monkeypatch):
    monkeypatch.setenv("HEATCONV_FAKE_CLOUD", "memory:")
    world = ObservedWorld(database_url, registry)
    world.create(template(10))
    world.run()
    before = len(world.cloud.audit())
    with counted(world.observer) as statements:
        for _ in range(3):
            world.observer.tick()

    asked = [
        each for each in statements if each.lstrip().startswith(("SELECT", "INSERT", "UPDATE", "DELETE"))
    ]
    assert len(world.cloud.audit()) == before
    assert len(asked) == 3
    assert all("FROM stack_observed" in each for each in asked)
    world.close()
