# SPDX-License-Identifier: Apache-2.0
"""Plans of many resources are stored and read by portions, and lists of plans by pages."""

from __future__ import annotations

import itertools

import pytest

from heatconv.db import plans as table
from heatconv.plans import plans
from heatconv.testing.cloud import IN_PROCESS
from heatconv.testing.templates import Template, thing
from heatconv.testing.trees import differences
from tests.functional.nested.conftest import server
from tests.functional.plans.simulated import NAME, World

MANY = Template(**{name: thing(name) for name in "ABCDEFG"})


@pytest.fixture
def small(world: World, monkeypatch: pytest.MonkeyPatch) -> World:
    """Return a world in which three resources of a plan are a page."""
    for module in (table, plans):
        monkeypatch.setattr(module, "PAGE", 3)
    world.create(Template())
    return world


def names(plan):
    return [each["name"] for each in plan["resources"]]


def test_whoever_has_a_plan_made_gets_the_first_page_and_applies_all_of_it(small):
    plan = small.plan(MANY)

    assert len(names(plan)) == 3
    assert plan["summary"]["create"] == {"certain": 7, "possible": 0}
    small.apply(plan["id"])
    assert differences(MANY, IN_PROCESS.owned(NAME)) == []


def test_any_page_can_be_asked_for(small):
    plan = small.plan(MANY)
    everything = names(small.call("show_plan", plan=plan["id"]))
    assert (sorted(everything), everything[:3]) == (sorted(MANY), names(plan))

    for start, limit in itertools.product((0, 1, 2, 3, 5, 6, 7, 9), (0, 1, 3, 4, 7, None)):
        page = small.call("show_plan", plan=plan["id"], start=start, limit=limit)
        stop = 7 if limit is None else min(start + limit, 7)
        assert names(page) == everything[start:stop], (start, limit)
        assert page["next"] == (stop if stop < 7 else None), (start, limit)
        assert page["summary"] == plan["summary"]


def test_a_list_of_plans_has_pages(planned):
    planned.create({"A": server("a")})
    made = [planned.plan({"A": server(value)})["id"] for value in "bcd"]

    for url in (f"{planned.place}/plans", "/plans"):
        first = planned.ask("GET", f"{url}?limit=2").json()
        assert [each["id"] for each in first["plans"]] == made[:0:-1]
        (following,) = [link["href"] for link in first["links"] if link["rel"] == "next"]
        second = planned.ask("GET", following.removeprefix(planned.base)).json()
        assert second["plans"][0]["id"] == made[0]
    assert [each["id"] for each in planned.client.list_plans(stack=planned.name)] == made[::-1]
    unknown = planned.ask("GET", f"{planned.place}/plans?marker=unknown")
    assert (unknown.status_code, unknown.json()["error"]["type"]) == (404, "EntityNotFound")
