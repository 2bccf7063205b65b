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


KNOWING = SimpleNamespace(is_not_found=lambda error: isinstance(error, Refused) and error.status == 404)


@pytest.fixture(params=[False, True], ids=["as the service says it", "told as None"])
def swallowed(request, world, monkeypatch):
    """Whether the type has a client that knows which errors say that a thing is not there."""
    if request.param:
        type_ = world.plugin_of(BEFORE["A"])
        monkeypatch.setattr(type_, "client_plugin", lambda self: KNOWING)
    return request.param


def made_of(world: World, template: Template) -> str:
    world.create(template)
    world.run()
    assert world.state == "CREATE_COMPLETE"
    return str(world.row("A").physical_id)


def test_a_resource_that_is_gone_fails_when_another_wants_what_it_tells(world, swallowed):
    world.cloud.vanish(made_of(world, BEFORE))

    world.update(AFTER)
    world.run()

    assert world.state == "UPDATE_FAILED"
    assert world.row("A").status_reason == "PhysicalResourceGone: resources.A: A does not exist any more."
    assert world.rows() == {"A": "UPDATE_FAILED v0", "B": "INIT_COMPLETE v0"}


def test_the_next_update_makes_another(world, swallowed):
    world.cloud.vanish(made_of(world, BEFORE))
    world.update(AFTER)
    world.run()

    world.update(AFTER)
    world.run()

    assert world.state == "UPDATE_COMPLETE"
    assert world.differences(AFTER) == []
