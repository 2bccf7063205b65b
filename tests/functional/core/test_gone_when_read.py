# SPDX-License-Identifier: Apache-2.0
"""What is gone when its attributes are read is not told of as being there."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from heatconv.testing.failures import Refused
from heatconv.testing.templates import Template, attr, thing
from tests.functional.core.world import World

BEFORE = Template(A=thing("first"))
AFTER = BEFORE.but(B=thing(attr("A")))

#: A client of a type, which knows which errors say that a thing is not there: they are told as None.
KNOWING = SimpleNamespace(is_not_found=lambda error: isinstance(error, Refused) and error.status == 404)


@pytest.fixture(autouse=True, params=[False, True], ids=["as the service says it", "told as None"])
def with_or_without_a_client(request, world, monkeypatch):
    """Give the type a client, or none."""
    if request.param:
        monkeypatch.setattr(world.plugin_of(BEFORE["A"]), "client_plugin", lambda self: KNOWING)


def made_of(world: World, template: Template) -> str:
    world.create(template)
    world.run()
    assert world.state == "CREATE_COMPLETE"
    return str(world.row("A").physical_id)


def test_a_resource_that_is_gone_fails_when_another_wants_what_it_tells(world):
    world.cloud.vanish(made_of(world, BEFORE))

    world.update(AFTER)
    world.run()

    assert world.state == "UPDATE_FAILED"
    assert world.row("A").status_reason == "PhysicalResourceGone: resources.A: A does not exist any more."
    assert world.rows() == {"A": "UPDATE_FAILED v0", "B": "INIT_COMPLETE v0"}


def test_the_next_update_makes_another(world):
    world.cloud.vanish(made_of(world, BEFORE))
    world.update(AFTER)
    world.run()

    world.update(AFTER)
    world.run()

    assert world.state == "UPDATE_COMPLETE"
    assert world.differences(AFTER) == []


def test_a_resource_that_is_there_is_complete_though_an_attribute_is_not_found(world, monkeypatch):
    made_of(world, BEFORE)

    def not_found(_self, _name):
        raise Refused(404, "there is no such thing about it")

    monkeypatch.setattr(world.plugin_of(BEFORE["A"]), "_resolve_attribute", not_found)

    world.update(AFTER)
    world.run()

    assert world.rows()["A"] == "CREATE_COMPLETE v0"
