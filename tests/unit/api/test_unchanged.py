# SPDX-License-Identifier: Apache-2.0
"""Who has an answer already is not sent it again."""

from __future__ import annotations

import pytest


@pytest.fixture
def stack(engine):
    return f"/v1/default/stacks/web/{engine.add_stack('web')}"


def asked_again(api, path, tag):
    return api.simulate_get(path, headers={"If-None-Match": tag})


@pytest.mark.parametrize("path", ["{stack}", "{stack}/resources", "/v1/default/stacks"])
def test_an_answer_that_holds_is_not_sent_again(api, stack, path):
    first = api.simulate_get(path.format(stack=stack))
    again = asked_again(api, path.format(stack=stack), first.headers["etag"])
    assert (again.status_code, again.text) == (304, "")
    assert again.headers["etag"] == first.headers["etag"]


def test_one_that_does_not_is(api, engine, stack):
    tag = api.simulate_get(stack).headers["etag"]
    (row,) = engine.stacks.values()
    for change in ({"status": "FAILED"}, {"progress": {"done": 1, "total": 2}}, {"tags": ["blue"]}):
        row |= change
        answer = asked_again(api, stack, tag)
        assert answer.status_code == 200
        assert answer.json["stack"]["id"] == row["id"]
        assert answer.headers["etag"] != tag
        tag = answer.headers["etag"]


def test_a_tag_of_something_else_is_no_reason_to_keep_silent(api, engine, stack):
    other = api.simulate_get(f"/v1/default/stacks/db/{engine.add_stack('db')}").headers["etag"]
    assert asked_again(api, stack, other).status_code == 200
    both = f"{other}, {api.simulate_get(stack).headers['etag']}"
    assert asked_again(api, stack, both).status_code == 304


def test_nobody_keeps_an_answer_for_somebody_else(api, stack):
    assert api.simulate_get(stack).headers["cache-control"] == "private, no-cache"


def test_what_changes_something_and_what_is_refused_has_no_tag(api, stack):
    assert "etag" not in api.simulate_post(f"{stack}/actions", json={"check": None}).headers
    assert "etag" not in api.simulate_get("/v1/default/stacks/web/another").headers
    assert api.simulate_delete(stack, headers={"If-None-Match": "*"}).status_code == 204
