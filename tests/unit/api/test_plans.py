# SPDX-License-Identifier: Apache-2.0
"""Plans by pages: what an engine is asked, and how a client gets on."""

from __future__ import annotations

import pytest

TEMPLATE = {"heat_template_version": "2021-04-16"}


def page(api, url):
    """Return the orders of the resources on a page, and the URL of the next one."""
    found = api.simulate_get(url.removeprefix("http://falconframework.org")).json["plan"]
    following = [link["href"] for link in found["links"] if link["rel"] == "next"]
    assert "next" not in found
    return [each["order"] for each in found["resources"]], *following


def test_an_engine_is_asked_once_for_a_plan_that_is_made(api, engine):
    answer = api.simulate_post("/v1/default/plans", json={"stack_name": "new", "template": TEMPLATE})

    assert answer.status_code == 201
    assert len(engine.contexts) == 1
    assert answer.headers["location"].endswith("/v1/default/plans/made")
    plan = answer.json["plan"]
    assert [each["order"] for each in plan["resources"]] == [0, 1]
    (following,) = [link["href"] for link in plan["links"] if link["rel"] == "next"]
    assert page(api, following) == ([2, 3, 4],)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("", ([0, 1, 2, 3, 4],)),
        ("?limit=0", ([0, 1, 2, 3, 4],)),
        ("?limit=5", ([0, 1, 2, 3, 4],)),
        ("?limit=2", ([0, 1], "http://falconframework.org/v1/default/plans/it?limit=2&marker=2")),
        ("?limit=2&marker=2", ([2, 3], "http://falconframework.org/v1/default/plans/it?limit=2&marker=4")),
        ("?limit=2&marker=4", ([4],)),
        ("?marker=9", ([],)),
    ],
)
def test_a_page_of_a_plan(api, engine, query, found):
    engine.plans["it"] = "update"

    assert page(api, f"/v1/default/plans/it{query}") == found


@pytest.mark.parametrize("query", ["marker=a", "limit=-1"])
def test_what_is_no_page(api, engine, query):
    engine.plans["it"] = "update"

    assert api.simulate_get(f"/v1/default/plans/it?{query}").status_code == 400
