# SPDX-License-Identifier: Apache-2.0
"""What is stuck in a nested stack gives way to a change that replaces it, however deep it is."""

from __future__ import annotations

import json
import time

import pytest

from heatconv.testing.failures import FailureRule, Outcome
from tests.functional.nested.conftest import TICK, hot, server

FLAVOR = {"flavor": {"type": "string"}}
INNER = json.dumps(hot({"P": server("p", flavor={"get_param": "flavor"})}, parameters=FLAVOR))


def of_one(member):
    return {"type": "OS::Heat::ResourceGroup", "properties": {"count": 1, "resource_def": member}}


def nested(flavor):
    return {"type": "inner.yaml", "properties": {"flavor": flavor}}


KINDS = {
    "nested": nested,
    "group": lambda flavor: of_one(server("p", flavor=flavor)),
    "group of nested": lambda flavor: of_one(nested(flavor)),
}


@pytest.mark.timeout(60)
@pytest.mark.parametrize("op", ["create", "update"])
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_stuck_is_replaced(tree, kind, op):
    owner, files = KINDS[kind], {"inner.yaml": INNER}
    if op == "update":
        tree.create({"N": owner("small")}, files=files)
    tree.cloud.fail(FailureRule(op="create", owner=f"{tree.name}-*", outcome=Outcome.HANG, times=1))
    resources = {"N": owner("medium")}
    if op == "create":
        tree.begin(resources, files=files)
    else:
        tree.client.update_stack(tree.name, {"template": hot(resources), "files": files})
    while not any(found["status"] == "BUILD" for found in tree.owned()):
        time.sleep(TICK)
    tree.update({"N": owner("large")}, files=files)

    assert [found["properties"]["flavor"] for found in tree.owned()] == ["large"]
