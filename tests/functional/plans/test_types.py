# SPDX-License-Identifier: Apache-2.0
"""Engines are started with other plugins between a plan and its application."""

from __future__ import annotations

import pytest

from heatconv import errors
from heatconv.resources.properties import Schema
from heatconv.resources.registry import Registry
from heatconv.testing.cloud import IN_PROCESS
from heatconv.testing.simulated import PLUGIN_DIR
from heatconv.testing.templates import SERVER, STEPS, Template, thing
from heatconv.testing.trees import differences
from tests.functional.plans.simulated import NAME

BEFORE = Template(A=thing("a"), S=thing("s", type=STEPS))
AFTER = BEFORE.but(A=thing("a2"))


def with_schemas_of(name, **schemas):
    """Return the types, of which one has other schemas of some properties."""
    loaded = Registry.load([PLUGIN_DIR])
    types = {each: loaded.get(each) for each in loaded.names()}
    plain = types[name]
    others = {"properties_schema": {**plain.properties_schema, **schemas}, "__module__": plain.__module__}
    types[name] = type(plain.__name__, (plain,), others)
    return Registry(types)


def refusal(world, plan):
    """Apply a plan; return the sentence that it is refused with, after which nothing of it was done."""
    with pytest.raises(errors.PlanStale) as refused:
        world.call("apply_plan", plan=plan["id"])
    world.stage.run()
    assert differences(BEFORE, IN_PROCESS.owned(NAME)) == []
    assert world.call("show_plan", plan=plan["id"])["state"] == "refused"
    return str(refused.value)


@pytest.mark.parametrize(
    "schema",
    [
        Schema(Schema.STRING, default="small", update_allowed=True),
        Schema(Schema.STRING, default="small", immutable=True),
        Schema(Schema.STRING, default="large"),
        Schema(Schema.ANY, default="small"),
    ],
    ids=["updatable", "immutable", "default", "kind"],
)
def test_a_type_that_declares_its_properties_otherwise_refuses_a_plan_that_touches_it(world, schema):
    world.create(BEFORE)
    plan = world.plan(AFTER)
    world.start(with_schemas_of(SERVER, flavor=schema))

    assert f"the type {SERVER} is another by now: its properties" in refusal(world, plan)

    world.apply(world.plan(AFTER)["id"])
    assert differences(AFTER, IN_PROCESS.owned(NAME)) == []


def test_one_that_is_not_there_any_more_does_as_well(world):
    world.create(BEFORE)
    plan = world.plan(AFTER)
    loaded = Registry.load([PLUGIN_DIR])
    world.start(Registry({each: loaded.get(each) for each in loaded.names() if each != SERVER}))

    assert f"the type {SERVER} is not there any more" in refusal(world, plan)


def test_what_a_plan_does_not_touch_may_be_of_another_type(world):
    world.create(BEFORE)
    plan = world.plan(AFTER)
    world.start(with_schemas_of(STEPS, flavor=Schema(Schema.STRING, default="large")))

    world.apply(plan["id"])

    assert differences(AFTER, IN_PROCESS.owned(NAME)) == []


def test_another_description_is_no_other_type(world):
    world.create(BEFORE)
    plan = world.plan(AFTER)
    world.start(
        with_schemas_of(SERVER, flavor=Schema(Schema.STRING, "Said in other words.", default="small"))
    )

    world.apply(plan["id"])

    assert differences(AFTER, IN_PROCESS.owned(NAME)) == []
