# SPDX-License-Identifier: Apache-2.0
"""Groups that signals scale: how far, how often, and what else goes on meanwhile."""

from __future__ import annotations

import threading
import time

import pytest
import requests

from heatconv.client.http import ClientError
from heatconv.testing.failures import FailureRule
from tests.functional.nested.conftest import SERVER, TICK, hot, server


def group(minimum=1, maximum=5, value="v", **properties):
    return {
        "type": "OS::Heat::AutoScalingGroup",
        "properties": {
            "min_size": minimum,
            "max_size": maximum,
            "resource": {"type": SERVER, "properties": {"value": value}},
            **properties,
        },
    }


def policy(adjustment=1, kind="change_in_capacity", **properties):
    return {
        "type": "OS::Heat::ScalingPolicy",
        "properties": {
            "auto_scaling_group_id": {"get_resource": "G"},
            "scaling_adjustment": adjustment,
            "adjustment_type": kind,
            **properties,
        },
    }


def attribute(*path):
    return {"value": {"get_attr": ["G", *path]}}


def signal(tree, name="P"):
    tree.client.signal_resource(tree.name, name, {})


def names(tree):
    """Return the members by name, those made first at the start."""
    return tree.client.show_metadata(tree.name, "G")["members"]


def await_size(tree, size):
    """Wait until the nested stack has so many members, and is done."""
    while len(tree.values()) != size or tree.nested_state("G").endswith("IN_PROGRESS"):
        time.sleep(TICK)


def test_a_signal_to_a_suspended_stack_is_refused_in_words_that_clients_look_for(tree):
    tree.create({"G": group(1), "P": policy()})
    tree.client.act(tree.name, "suspend")
    tree.await_state("SUSPEND_COMPLETE")

    with pytest.raises(ClientError, match=r"^Signal resource during SUSPEND is not supported: resource P"):
        signal(tree)

    events = [each for each in tree.client.list_events(tree.name) if each["resource_name"] == "P"]
    states = [(each["resource_status"], each["resource_status_reason"]) for each in events]
    assert ("SUSPEND_COMPLETE", "Cannot signal resource during SUSPEND") in states
    assert tree.values() == ["v"]


def test_a_group_begins_with_what_is_desired(tree):
    tree.create({"G": group(1, desired_capacity=2), "H": group(1)})

    assert tree.values() == ["v", "v", "v"]


def test_what_is_told_of_members(tree):
    tree.create(
        {"G": group(2)},
        outputs={
            "size": attribute("current_size"),
            "refs": attribute("refs"),
            "map": attribute("refs_map"),
            "list": attribute("outputs_list", "value"),
            "by_name": attribute("outputs", "value"),
            "one": attribute("resource.0.value"),
            "nobody": attribute("resource.9.value"),
        },
    )

    members = names(tree)
    outputs = tree.outputs()
    assert outputs == {
        "size": 2,
        "refs": [outputs["map"][name] for name in members],
        "map": outputs["map"],
        "list": ["v", "v"],
        "by_name": dict.fromkeys(members, "v"),
        "one": "v",
        "nobody": None,
    }
    assert sorted(outputs["refs"]) == sorted(each["id"] for each in tree.owned())


def test_a_signal_adds_members_and_one_takes_the_oldest_away(tree):
    tree.create({"G": group(2), "P": policy(2), "Q": policy(-1)})
    first = names(tree)

    signal(tree)
    await_size(tree, 4)
    grown = names(tree)
    signal(tree, "Q")
    await_size(tree, 3)

    assert grown[:2] == first
    assert names(tree) == grown[1:]


def test_what_a_group_tells_follows_its_scaling(tree):
    resources = {"G": group(1), "P": policy()}
    outputs = {"size": attribute("current_size"), "list": attribute("outputs_list", "value")}
    tree.create(resources, outputs=outputs)

    signal(tree)
    await_size(tree, 2)

    assert tree.outputs() == {"size": 2, "list": ["v", "v"]}
    counts = server({"list_join": [",", {"get_attr": ["G", "outputs_list", "value"]}]})
    tree.update({**resources, "C": counts}, outputs=outputs)
    signal(tree)
    await_size(tree, 4)  # with C
    tree.update({**resources, "C": counts, "D": server("d")}, outputs=outputs)
    assert tree.values() == ["d", "v", "v", "v", "v,v,v"]


def test_a_signal_needs_no_more_than_the_url(tree):
    tree.create({"G": group(1), "P": policy()}, outputs={"url": {"value": {"get_attr": ["P", "alarm_url"]}}})

    assert requests.post(tree.outputs()["url"], json={}, timeout=30).ok

    await_size(tree, 2)


@pytest.mark.parametrize(
    ("adjustment", "kind", "more", "size"),
    [
        (9, "change_in_capacity", {}, 5),
        (-9, "change_in_capacity", {}, 1),
        (4, "exact_capacity", {}, 4),
        (50, "percent_change_in_capacity", {}, 3),
        (10, "percent_change_in_capacity", {"min_adjustment_step": 2}, 4),
    ],
)
def test_how_far_a_policy_goes(tree, adjustment, kind, more, size):
    tree.create({"G": group(1, desired_capacity=2), "P": policy(adjustment, kind, **more)})

    signal(tree)

    await_size(tree, size)


def test_signals_that_overlap_count_on_top_of_each_other(tree):
    tree.create({"G": group(1, 9), "P": policy()})
    senders = [threading.Thread(target=signal, args=(tree,)) for _ in range(6)]

    for sender in senders:
        sender.start()
    for sender in senders:
        sender.join()

    await_size(tree, 7)


def test_a_group_is_left_alone_while_it_cools_down(tree):
    tree.create({"G": group(1), "P": policy(cooldown=3600)})

    signal(tree)
    await_size(tree, 2)
    signal(tree)

    assert len(names(tree)) == 2
    assert len(tree.values()) == 2


def test_an_update_keeps_what_signals_have_made(tree):
    tree.create({"G": group(1), "P": policy()})
    signal(tree)
    await_size(tree, 2)

    tree.update(
        {"G": group(1, value="w"), "P": policy(), "C": server("c")}, outputs={"n": attribute("current_size")}
    )

    assert tree.values() == ["c", "w", "w"]
    assert tree.outputs() == {"n": 2}


def test_an_update_keeps_to_the_bounds_and_may_say_how_many(tree):
    tree.create({"G": group(1)})

    tree.update({"G": group(3)})
    assert len(tree.values()) == 3
    tree.update({"G": group(1, 2)})
    assert len(tree.values()) == 2
    tree.update({"G": group(1, 9, desired_capacity=4)})

    assert len(tree.values()) == 4


def test_members_are_changed_one_after_another(tree):
    tree.create({"G": group(3)})
    members = names(tree)
    tree.calls()

    tree.update({"G": group(3, value="w")})

    assert tree.calls() == [f"update {name}" for name in members]


def test_a_signal_in_the_middle_of_an_update_counts(tree):
    paced = {"rolling_updates": {"pause_time": 1}}
    tree.create({"G": group(2, **paced), "P": policy()})
    tree.client.update_stack(tree.name, {"template": hot({"G": group(2, value="w", **paced), "P": policy()})})
    while "w" not in tree.values():
        time.sleep(TICK)

    signal(tree)
    tree.await_state("UPDATE_COMPLETE")

    assert tree.values() == ["w", "w", "w"]


def test_what_failed_goes_first(tree):
    tree.create({"G": group(2), "P": policy(), "Q": policy(-1)})
    first = names(tree)
    tree.cloud.fail(FailureRule(op="create", owner="*", status=400))
    signal(tree)
    while tree.nested_state("G") != "UPDATE_FAILED":
        time.sleep(TICK)
    tree.cloud.stop_failing()

    signal(tree, "Q")
    await_size(tree, 2)

    assert names(tree) == first


def test_a_signal_says_what_came_of_it(tree):
    tree.create({"G": group(1), "P": policy()})

    signal(tree)

    events = [each["resource_status_reason"] for each in tree.client.list_events(tree.name)]
    assert "Signal: from 1 to 2 members" in events
    await_size(tree, 2)


@pytest.mark.parametrize(
    ("resources", "wrong"),
    [
        ({"G": group(3, 2)}, "resources.G.properties.min_size"),
        ({"G": group(1, desired_capacity=9)}, "resources.G.properties.desired_capacity"),
        ({"G": group(1, resource={"properties": {}})}, "resources.G.properties.resource"),
        ({"G": group(), "P": policy(kind="double")}, "adjustment_type"),
        ({"G": group(), "P": policy(min_adjustment_step=1)}, "min_adjustment_step"),
        ({"G": group(), "C": server({"get_attr": ["G", "nothing"]})}, "nothing"),
    ],
)
def test_mistakes_are_told_before_anything_is_made(tree, resources, wrong):
    with pytest.raises(ClientError) as caught:
        tree.begin(resources)

    assert caught.value.status == 400
    assert wrong in str(caught.value)
