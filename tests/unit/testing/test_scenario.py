# SPDX-License-Identifier: Apache-2.0
"""The verbs that judge: each of them fails when the world is not as they say."""

from __future__ import annotations

from pathlib import Path

import pytest

from heatconv.testing.cloud import Cloud
from heatconv.testing.scenario import GONE, World, load
from heatconv.testing.templates import SERVER, Template, thing

SCENARIOS = Path(__file__).parents[2] / "scenarios"
WANTED = Template(A=thing("a"))


class NoStacks:
    """Stacks that are complete whatever is asked of them."""

    create = update = delete = abandon = roll_back = staticmethod(lambda *arguments, **options: None)

    def state(self, name: str) -> str:
        return "CREATE_COMPLETE"


class StillWorld(World):
    def after(self, count):
        raise NotImplementedError

    def settle(self):
        raise NotImplementedError


@pytest.fixture
def cloud():
    return Cloud(clock=None)


@pytest.fixture
def world(cloud):
    return StillWorld(NoStacks(), cloud, prefix="x-")


def make(cloud, name="A", value="a"):
    properties = {"value": value, "flavor": "small"}
    return cloud.create(f"name-of-{name}", SERVER, f"x-web/{name}", properties)["id"]


def test_verify_accepts_what_is_as_wanted(cloud, world):
    make(cloud)
    world.verify("web", WANTED)
    world.verify("web", WANTED, "CREATE_COMPLETE")


def test_verify_refuses_another_state(cloud, world):
    make(cloud)
    with pytest.raises(AssertionError, match="web is CREATE_COMPLETE, wanted FAILED"):
        world.verify("web", WANTED, "FAILED")
    with pytest.raises(AssertionError, match=f"wanted {GONE}"):
        world.verify_gone("web")


def test_verify_refuses_another_reality_and_tells_the_story(cloud, world):
    make(cloud, value="b")
    with pytest.raises(AssertionError, match=r"A: value is 'b', wanted 'a'\n  0 create x-web/A"):
        world.verify("web", WANTED)


def test_verify_refuses_what_was_made_twice_even_if_one_is_gone(cloud, world):
    cloud.vanish(make(cloud))
    make(cloud)
    with pytest.raises(AssertionError, match="name-of-A was made twice"):
        world.verify("web", WANTED)


def test_untouched_and_idle_see_even_a_look(cloud, world):
    made = make(cloud)
    world.mark()
    world.untouched("web", "A")
    world.idle()
    cloud.show(made)
    with pytest.raises(AssertionError, match="left alone"):
        world.untouched("web", "A")
    with pytest.raises(AssertionError, match="left alone"):
        world.idle()
    world.mark()
    world.idle()


def test_kept_and_replaced_compare_with_the_mark(cloud, world):
    old = make(cloud)
    world.mark()
    world.kept("web", "A")
    with pytest.raises(AssertionError, match="another object"):
        world.replaced("web", "A")
    cloud.vanish(old)
    with pytest.raises(AssertionError, match="the object it was"):
        world.kept("web", "A")
    with pytest.raises(AssertionError, match="another object"):
        world.replaced("web", "A")
    make(cloud)
    world.replaced("web", "A")


def test_in_order_compares_the_order_of_operations(cloud, world):
    for name in "AXB":
        make(cloud, name)
    world.in_order("create", "web", "A", "B")
    with pytest.raises(AssertionError, match="create should go"):
        world.in_order("create", "web", "B", "A")


def test_once_counts_operations(cloud, world):
    made = make(cloud)
    world.once("create", "web", "A")
    with pytest.raises(AssertionError, match="happened 0 times"):
        world.once("update", "web", "A")
    cloud.update(made, {})
    cloud.update(made, {})
    with pytest.raises(AssertionError, match="happened 2 times"):
        world.once("update", "web", "A")
    world.rough = True
    world.once("update", "web", "A")


def test_every_scenario_tells_its_story():
    scenarios = load(SCENARIOS)
    assert {"walk_through", "basic_create"} <= set(scenarios)
    undocumented = [name for name, run in scenarios.items() if not run.__globals__["__doc__"]]
    assert undocumented == []
