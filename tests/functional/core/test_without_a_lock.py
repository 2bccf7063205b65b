# SPDX-License-Identifier: Apache-2.0
"""A worker makes something although its lock has been broken: that goes, be it later."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from heatconv import errors
from heatconv.db.plumbing.session import Database
from heatconv.db.tables import resource
from heatconv.resources.registry import Registry
from heatconv.resources.resource import Resource
from heatconv.testing.simulated import PLUGIN_DIR
from heatconv.testing.templates import SERVER, Template, thing

TYPE = "Test::Robbed"


class Robbed(Resource):
    """Of a server that nobody finds again: its first create goes on after its lock was broken."""

    rob = staticmethod(lambda: None)  #: breaks the lock, once

    def handle_create(self):
        Robbed.rob()
        return super().handle_create()

    def find_existing(self):
        return None


class Away(Database):
    """A database that does not answer so many reads."""

    away = 0

    def _read(self, function):
        if Away.away:
            Away.away -= 1
            raise errors.StorageError(reason="it is away")
        return super()._read(function)


@pytest.fixture(scope="module")
def registry():
    made = Registry.load([PLUGIN_DIR])
    made.promise({TYPE: lambda: type("Server", (Robbed, made.get(SERVER)), {})})
    return made


@pytest.mark.parametrize("away", [0, 2], ids=["the database is there", "the database is away"])
def test_it_goes(world, monkeypatch, away):
    def rob():
        with world.database.engine.begin() as connection:
            connection.execute(
                sa.update(resource).values(engine_id=None, atomic_key=resource.c.atomic_key + 1)
            )
        monkeypatch.setattr(Robbed, "rob", lambda: None)
        monkeypatch.setattr(Away, "away", away)

    monkeypatch.setattr(Robbed, "rob", rob)
    world.create(Template(A=thing("a", type=TYPE)))
    world.check("A+", world.new_worker(Away))
    assert len(world.cloud.owned()) == 1  # of which nobody knows

    world.run()

    assert world.state == "CREATE_COMPLETE"
    assert [each["id"] for each in world.cloud.owned()] == [world.row("A").physical_id]
