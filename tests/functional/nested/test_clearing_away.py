# SPDX-License-Identifier: Apache-2.0
"""What is being cleared away is seen, and by what it was replaced; those who do not ask see unique names."""

from __future__ import annotations

import time

import pytest

from heatconv.testing.failures import FailureRule, Outcome
from tests.functional.nested.conftest import TICK, hot, server


def names(rows):
    return sorted(row["resource_name"] for row in rows)


@pytest.mark.timeout(60)
def test_what_hangs_while_it_is_deleted_is_seen(tree):
    tree.create({"A": server("a"), "B": server("b"), "C": server("c")})
    (old,) = [found["id"] for found in tree.owned() if found["properties"]["value"] == "a"]
    for going in "AB":
        rule = FailureRule(op="delete", owner=f"{tree.name}/{going}", outcome=Outcome.HANG, times=1)
        tree.cloud.fail(rule)
    wanted = hot({"A": server("a", flavor="large"), "C": server("c")})
    tree.client.update_stack(tree.name, {"template": wanted})
    while sum(found["status"] == "DELETING" for found in tree.owned()) < 2:
        time.sleep(TICK)

    assert names(tree.client.list_resources(tree.name)) == ["A", "B", "C"]
    rows = tree.client.list_resources(tree.name, {"all": "true"})
    assert names(rows) == ["A", "A", "B", "C"]
    (new,) = [row for row in rows if row["resource_name"] == "A" and row["wanted"]]
    (replaced,) = [row for row in rows if row["resource_name"] == "A" and not row["wanted"]]
    assert new["replaced_by"] is None
    assert replaced["physical_resource_id"] == old
    assert replaced["resource_status"] == "DELETE_IN_PROGRESS"
    assert replaced["replaced_by"] == {
        "version": new["version"],
        "physical_resource_id": new["physical_resource_id"],
        "resource_status": "CREATE_COMPLETE",
    }
    (dropped,) = [row for row in rows if row["resource_name"] == "B"]
    assert (dropped["wanted"], dropped["replaced_by"]) == (False, None)

    graph = tree.client.show_graph(tree.name)
    assert sorted(node["name"] for node in graph["nodes"]) == ["A", "B", "C"]
    (going,) = graph["clearing"]
    assert (going["name"], going["physical_id"], going["replaced_by"]["version"]) == (
        "A",
        old,
        new["version"],
    )

    for found in tree.owned():
        if found["status"] == "DELETING":
            tree.cloud.vanish(found["id"])
    tree.await_state("UPDATE_COMPLETE")
    assert names(tree.client.list_resources(tree.name, {"all": "true"})) == ["A", "C"]
    assert tree.client.show_graph(tree.name)["clearing"] == []
