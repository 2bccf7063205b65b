# SPDX-License-Identifier: Apache-2.0
"""What is to be retained by now while it is being deleted, in stacks in stacks: nobody waits for it."""

from __future__ import annotations

import json
import time

import pytest

from heatconv.testing.failures import FailureRule, Outcome
from tests.functional.nested.conftest import TICK, hot, server

INNER = hot({"P": server("p"), "Q": server("q", uses=[{"get_resource": "P"}])})
FILES = {"inner.yaml": json.dumps(INNER)}
NESTED = {"type": "inner.yaml"}


def grouped(member, count):
    return {"type": "OS::Heat::ResourceGroup", "properties": {"count": count, "resource_def": member}}


KINDS = {
    "nested": NESTED,
    "group": grouped(server("m%index%"), 2),
    "group of nested": grouped(NESTED, 1),
}


@pytest.fixture(params=KINDS)
def owner(request):
    """Return a resource that is a stack of its own."""
    return KINDS[request.param]


def await_deletion(tree, count=1):
    """Wait until so many objects are being deleted."""
    while sum(found["status"] == "DELETING" for found in tree.owned()) < count:
        time.sleep(TICK)


def hang(tree):
    tree.cloud.fail(FailureRule(op="delete", owner=f"{tree.name}*", outcome=Outcome.HANG, times=None))


def retained(owner):
    return {**owner, "deletion_policy": "Retain"}


def deletions(tree):
    return [call for call in tree.calls() if call.startswith("delete")]


@pytest.mark.timeout(60)
def test_the_deletion_of_a_nested_stack_is_given_up(tree, owner):
    tree.create({"N": owner, "C": server("c")}, files=FILES)
    before, old = tree.owned(), tree.nested("N")
    hang(tree)
    tree.client.update_stack(tree.name, {"template": hot({"C": server("c")}), "files": FILES})
    await_deletion(tree, 2 if owner is KINDS["group"] else 1)
    tree.calls()
    tree.update({"N": retained(owner), "C": server("c")}, files=FILES)

    assert tree.nested("N") != old
    assert tree.client.show_stack(old)["stack_status"] == "DELETE_FAILED"
    tree.cloud.stop_failing()
    ids = {found["id"] for found in tree.owned()}
    assert {found["id"] for found in before} <= ids
    assert deletions(tree) == []
    while any(each["resource_status"] == "DELETE_IN_PROGRESS" for each in tree.client.list_resources(old)):
        time.sleep(TICK)


@pytest.mark.timeout(60)
def test_a_nested_stack_is_left_whole_whatever_the_next_one_says(tree):
    """The next one is there before anybody has given up the deletion in the one before it."""
    tree.create({"N": NESTED, "C": server("c")}, files=FILES)
    old = tree.nested("N")
    hang(tree)
    asked, _ = tree.cloud.counts()
    tree.cloud.hold_after(0)
    tree.client.update_stack(tree.name, {"template": hot({"C": server("c")}), "files": FILES})
    assert tree.cloud.wait_for(asked + 1, 30)
    wanted = hot({"N": retained(NESTED), "C": server("c")})
    tree.client.update_stack(tree.name, {"template": wanted, "files": FILES})
    while tree.nested("N") in ("", old):
        time.sleep(TICK)
    tree.cloud.release()
    tree.await_state("UPDATE_COMPLETE")

    while any(each["resource_status"] == "DELETE_IN_PROGRESS" for each in tree.client.list_resources(old)):
        time.sleep(TICK)
    assert tree.values() == ["c", "p", "p", "q", "q"]


@pytest.mark.timeout(60)
def test_a_nested_stack_that_could_not_be_deleted_goes_on(tree, owner):
    tree.create({"N": owner, "C": server("c")}, files=FILES)
    old = tree.nested("N")
    tree.cloud.fail(FailureRule(op="delete", owner=f"{tree.name}-*", status=400, times=1))
    tree.client.update_stack(tree.name, {"template": hot({"C": server("c")}), "files": FILES})
    tree.await_failure("UPDATE_FAILED")
    tree.update({"N": retained(owner), "C": server("c")}, files=FILES)

    assert tree.nested("N") == old
    assert tree.nested_state("N") == "UPDATE_COMPLETE"
    assert len(tree.owned()) == 3


@pytest.mark.timeout(60)
def test_a_deletion_in_a_nested_stack_is_given_up(tree):
    tree.create({"N": NESTED}, files=FILES)
    hang(tree)
    smaller = {"inner.yaml": json.dumps(hot({"P": server("p")}))}
    tree.client.update_stack(tree.name, {"template": hot({"N": NESTED}), "files": smaller})
    await_deletion(tree)
    tree.calls()
    inner = hot({"P": server("p"), "Q": {**server("q"), "deletion_policy": "Retain"}})
    tree.update({"N": NESTED}, files={"inner.yaml": json.dumps(inner)})

    assert tree.values() == ["p", "q", "q"]
    assert deletions(tree) == []
    (left,) = [found["id"] for found in tree.owned() if found["status"] == "DELETING"]
    tree.cloud.vanish(left)  # P is in use as long as it is there


@pytest.mark.timeout(60)
def test_what_a_nested_stack_says_counts_for_the_one_before_it(tree):
    """The outer resource is replaced, for it is being deleted; what is in it is to be retained."""
    tree.create({"N": NESTED, "C": server("c")}, files=FILES)
    hang(tree)
    tree.client.update_stack(tree.name, {"template": hot({"C": server("c")}), "files": FILES})
    await_deletion(tree)
    tree.calls()
    inner = hot({"P": retained(server("p")), "Q": retained(server("q", uses=[{"get_resource": "P"}]))})
    tree.update({"N": NESTED, "C": server("c")}, files={"inner.yaml": json.dumps(inner)})

    assert tree.values() == ["c", "p", "p", "q", "q"]
    assert deletions(tree) == []
    tree.cloud.stop_failing()
