# SPDX-License-Identifier: Apache-2.0
"""What healing leaves to users, however often it comes by."""

from __future__ import annotations

from heatconv.testing.failures import FailureRule
from heatconv.testing.templates import Template, thing

THINGS = Template(A=thing("a"), B=thing("b"))


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
