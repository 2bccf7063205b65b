# SPDX-License-Identifier: Apache-2.0
"""What drifted is not put right if a rule is against that: neither by a user, nor by itself."""

from __future__ import annotations

import pytest

from heatconv import errors
from heatconv.db.tables import event
from heatconv.testing.templates import Template, thing
from tests.functional.core.world import CONTEXT

THINGS = Template(db=thing("a"), web=thing("b"))
RULES = {"guards": {"keep": {"forbid": ["replace"], "names": ["db"]}}}
FORBIDDEN = "keep: it forbids to replace db"


def created(world, policy):
    options = {"convergence": {"policy": policy}}
    source = {"template": THINGS.hot(), "environment": RULES}
    world.stack_id = world.engine.create_stack(CONTEXT, "web", source, options)
    world.run()
    for name in ("db", "web"):
        world.cloud.vanish(world.object_of(name))
    return len(world.cloud.audit())


def test_a_user_is_refused(world):
    before = created(world, "detect")

    with pytest.raises(errors.GuardBroken, match=FORBIDDEN):
        world.converge()

    assert world.calls(before) == []
    assert world.state == "CREATE_COMPLETE"
    world.update(THINGS)  # which drops the rule
    world.converge()
    assert world.differences(THINGS) == []


def test_what_no_rule_is_about_can_be_put_right_by_its_name(world):
    before = created(world, "detect")
    world.observe()

    world.converge("web")

    assert world.calls(before) == ["create web", "delete "]  # of what had vanished
    assert world.drift() == {"db": "MISSING"}


def test_what_a_rule_is_about_is_left_alone_and_the_rest_is_healed(world):
    before = created(world, "heal")

    for _ in range(4):
        world.tick()

    assert world.calls(before) == ["create web", "delete "]  # of what had vanished
    assert world.drift() == {"db": "MISSING"}
    reasons = [row.status_reason for row in world.select(event, event.c.resource_name == "db")]
    assert len([each for each in reasons if FORBIDDEN in each and "it is left alone" in each]) == 1


def test_once_the_rule_is_dropped_it_is_healed(world):
    created(world, "heal")
    world.tick()

    world.update(THINGS)
    world.run()
    world.tick()

    assert world.differences(THINGS) == []
