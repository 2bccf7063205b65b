# SPDX-License-Identifier: Apache-2.0
"""What healing leaves to users, however often it comes by."""

from __future__ import annotations

import pytest

from heatconv.testing.failures import FailureRule
from heatconv.testing.templates import Template, thing

THINGS = Template(A=thing("a"), B=thing("b"))


class Died(Exception):
    """What ends an engine in the middle."""


def test_what_a_user_left_failed_is_left_to_the_user_at_every_look(world):
    world.create_with(THINGS, "heal")
    world.cloud.fail(FailureRule(op="update", name="*-B-*", status=400, times=None))
    world.update(THINGS.but(B=thing("new")))
    world.run()
    assert world.state == "UPDATE_FAILED"
    world.cloud.stop_failing()
    world.cloud.vanish(world.object_of("A"))
    before = len(world.cloud.audit())

    for _ in range(3):
        world.tick()

    assert world.calls(before) == []
    assert world.state == "UPDATE_FAILED"
    assert world.drift() == {"A": "MISSING"}
    world.converge()
    assert world.differences(THINGS.but(B=thing("new"))) == []


def test_a_heal_that_fails_is_tried_again_though_its_engine_died_once_it_had_begun(world, monkeypatch):
    world.create_with(Template(A=thing("a")), "heal")
    world.cloud.vanish(world.object_of("A"))
    world.cloud.fail(FailureRule(op="create", status=400))
    converge = world.preparer.converge

    def die(*arguments, **options):
        started = converge(*arguments, **options)
        world.bell.ring(started.stack_id, started.traversal_id, started.leaves)  # what recovery does
        raise Died

    world.time_passes()
    with monkeypatch.context() as dying:
        dying.setattr(world.preparer, "converge", die)
        with pytest.raises(Died):
            world.observer.tick()
    world.run()
    assert world.state == "UPDATE_FAILED"

    world.tick()

    assert world.state == "UPDATE_COMPLETE"
