# SPDX-License-Identifier: Apache-2.0
"""How many resources there may be in a stack, those of the stacks inside it among them."""

from __future__ import annotations

import json

import pytest

from heatconv.client.http import ClientError
from heatconv.testing.failures import FailureRule
from tests.functional.nested.conftest import SERVER, Tree, hot, server
from tests.functional.nested.test_scaling import await_size, policy, signal
from tests.functional.servers.one_process import heatconv_all

LIMIT = 10
TOO_MANY = "Maximum resources per stack exceeded"


def inner(count, *, plain=False):
    """Return a template of so many resources; unless it is plain, only evaluating it tells how many."""
    each = server("s") if plain else {**server("s"), "condition": {"equals": [1, 1]}}
    return json.dumps(hot({f"S{number}": each for number in range(count)}))


def group(count, member=None):
    properties = {"count": count, "resource_def": member or server("%index%")}
    return {"type": "OS::Heat::ResourceGroup", "properties": properties}


def scaled(**properties):
    bounds = {"min_size": 0, "max_size": 50, **properties}
    return {"type": "OS::Heat::AutoScalingGroup", "properties": {"resource": server("a"), **bounds}}


@pytest.fixture(scope="module")
def narrow(tmp_path_factory, cloud_url):
    directory = tmp_path_factory.mktemp("narrow")
    (directory / "heatconv.conf").write_text(f"[DEFAULT]\nmax_resources_per_stack = {LIMIT}\n")
    with heatconv_all(directory, cloud_url, "--config-file", str(directory / "heatconv.conf")) as url:
        yield url


@pytest.fixture
def tree(narrow, cloud_url):
    made = Tree(narrow, cloud_url)
    yield made
    made.close()


@pytest.mark.parametrize(
    "resources",
    [
        {f"S{number}": server("s") for number in range(LIMIT + 1)},
        {"G": group(LIMIT)},
        {"G": group("1000000000")},
        {"G": scaled(desired_capacity=LIMIT)},
        {"G": scaled(min_size=LIMIT)},
        {
            "C": {
                "type": "OS::Heat::ResourceChain",
                "properties": {"resources": ["OS::Heat::None"] * LIMIT},
            }
        },
        {name: {"type": "inner.yaml"} for name in "ABC"},
        {"G": group(3, {"type": "inner.yaml"})},
    ],
)
def test_what_is_plainly_too_much_is_refused_at_once(tree, resources):
    with pytest.raises(ClientError, match=TOO_MANY) as refused:
        tree.begin(resources, files={"inner.yaml": inner(3, plain=True)})

    assert refused.value.status == 400
    assert tree.state() is None


def test_as_many_as_may_be_are_made(tree):
    tree.create({"G": group(LIMIT - 1)})

    assert len(tree.owned()) == LIMIT - 1


def test_the_stacks_inside_count(tree):
    tree.begin({name: {"type": "inner.yaml"} for name in "ABC"}, files={"inner.yaml": inner(3)})
    tree.await_failure("CREATE_FAILED")

    assert TOO_MANY in tree.client.show_stack(tree.name)["stack_status_reason"]
    assert len(tree.owned()) <= LIMIT - 3


def test_a_stack_far_below_counts_for_the_whole(tree):
    files = {"inner.yaml": inner(8), "outer.yaml": json.dumps(hot({"I": {"type": "inner.yaml"}}))}

    tree.begin({"O": {"type": "outer.yaml"}, "S": server("s")}, files=files)
    tree.await_failure("CREATE_FAILED")

    assert TOO_MANY in tree.client.show_stack(tree.name)["stack_status_reason"]


def test_an_update_that_makes_it_too_much_is_undone(tree):
    resources = {name: {"type": f"{name}.yaml"} for name in "AB"}
    tree.create(resources, files={"A.yaml": inner(3), "B.yaml": inner(4)})

    grown = {"A.yaml": inner(5), "B.yaml": inner(4)}
    tree.client.update_stack(
        tree.name, {"template": hot(resources), "files": grown, "disable_rollback": False}
    )
    tree.await_state("ROLLBACK_COMPLETE")

    assert len(tree.owned()) == 7
    reasons = [each["resource_status_reason"] for each in tree.client.list_events(tree.name)]
    assert any(TOO_MANY in reason for reason in reasons)
    tree.update(resources, files={"A.yaml": inner(4), "B.yaml": inner(4)})


@pytest.fixture
def rolled_back(tree):
    """Return a tree whose last update was undone."""
    resources = {
        "G": scaled(desired_capacity=2),
        "P": policy(adjustment=4),
        **{f"S{number}": server("s") for number in range(4)},
    }
    tree.create(resources)
    tree.cloud.fail(FailureRule(op="create", owner=f"{tree.name}/bad", status=400))
    worse = hot({**resources, "bad": server("s")})
    tree.client.update_stack(tree.name, {"template": worse, "disable_rollback": False})
    tree.await_state("ROLLBACK_COMPLETE")
    return tree


def test_an_update_after_a_rollback_is_counted(rolled_back):
    resources = {f"S{number}": server("s") for number in range(LIMIT + 1)}

    with pytest.raises(ClientError, match=TOO_MANY):
        rolled_back.client.update_stack(rolled_back.name, {"template": hot(resources)})

    assert len(rolled_back.owned()) == 6


def test_a_signal_after_a_rollback_is_counted(rolled_back):
    with pytest.raises(ClientError, match=TOO_MANY):
        signal(rolled_back, "P")

    assert len(rolled_back.owned()) == 6


def test_an_update_in_the_midst_of_a_rollback_is_counted(tree):
    tree.create({"S": server("s")})
    tree.cloud.fail(FailureRule(op="create", owner=f"{tree.name}/bad", status=400))
    tree.cloud.hold_after(2)  # so that what was new is still to be deleted
    worse = hot({"S": server("s"), "new": server("s"), "bad": {**server("s"), "depends_on": "new"}})
    tree.client.update_stack(tree.name, {"template": worse, "disable_rollback": False})
    tree.await_failure("ROLLBACK_IN_PROGRESS")

    resources = {f"S{number}": server("s") for number in range(LIMIT + 1)}
    with pytest.raises(ClientError, match=TOO_MANY):
        tree.client.update_stack(tree.name, {"template": hot(resources)})


def servers(tree):
    """Return the objects there are, less what the snapshots of others are."""
    return [found for found in tree.owned() if found["kind"] == SERVER]


def test_what_a_snapshot_brings_back_is_counted(tree):
    many = {f"S{number}": server("s") for number in range(LIMIT - 1)}
    tree.create({**many, "G": group(0)})
    taken = tree.client.create_snapshot(tree.name, "before")["id"]
    tree.await_state("SNAPSHOT_COMPLETE")
    tree.update({"G": group(LIMIT - 1)})

    with pytest.raises(ClientError, match=TOO_MANY):
        tree.client.restore_snapshot(tree.name, taken)

    assert len(servers(tree)) == LIMIT - 1
    tree.update({"G": group(0)})
    tree.client.restore_snapshot(tree.name, taken)
    tree.await_state("RESTORE_COMPLETE")
    assert len(servers(tree)) == LIMIT - 1


def test_what_was_deleted_does_not_count(tree):
    for _ in range(3):
        tree.create({"G": group(LIMIT - 1)})
        tree.client.delete_stack(tree.name)
        tree.await_state(None)
    tree.create({"G": group(3, {"type": "inner.yaml"})}, files={"inner.yaml": inner(1)})
    for _ in range(3):
        tree.update({"G": group(0)})
        tree.update({"G": group(3, {"type": "inner.yaml"})}, files={"inner.yaml": inner(1)})


def test_a_signal_that_asks_for_too_much_is_refused_and_changes_nothing(tree):
    group_of_two = {"G": scaled(desired_capacity=2), "P": policy(), "M": policy(adjustment=-1)}
    tree.create({**group_of_two, "L": policy(adjustment=20)})

    with pytest.raises(ClientError, match=TOO_MANY):
        signal(tree, "L")

    assert len(tree.owned()) == 2
    signal(tree, "P")
    await_size(tree, 3)
    signal(tree, "M")
    await_size(tree, 2)


def test_a_preview_counts_the_whole(tree):
    body = {
        "template": hot({name: {"type": "inner.yaml"} for name in "ABC"}),
        "files": {"inner.yaml": inner(3)},
    }

    with pytest.raises(ClientError, match=TOO_MANY):
        tree.client.preview_create({"stack_name": tree.name, **body})
