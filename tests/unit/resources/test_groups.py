# SPDX-License-Identifier: Apache-2.0
"""Groups step by step, each by another worker: a token, a row and the nested stack are all they share."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from heatconv.model.definition import Definition
from heatconv.model.records import Child, Member
from heatconv.model.states import Action, Status
from heatconv.resources.facts import Incarnation
from heatconv.resources.heat.autoscaling_group import AutoScalingResourceGroup
from heatconv.resources.heat.resource_group import ResourceGroup
from heatconv.resources.nested import Inherited
from heatconv.resources.resource import NoActionRequired, PollDelay
from heatconv.resources.rsrc_defn import ResourceDefinition
from tests.driving import drive

OWNER = "3f1c0d5e-0000-4000-8000-000000000001"


class Nested:
    """One nested stack, which is as it is wanted as soon as ``end`` is called."""

    def __init__(self):
        self.sources = []
        self.status = Status.COMPLETE

    def inherited(self, name, type_):
        return Inherited()

    def find(self, owner):
        if not self.sources:
            return None
        return Child(
            id="nested",
            name="nested",
            project_id="p",
            action=Action.UPDATE,
            status=self.status,
            reason="",
            deleted=False,
            abandoned=False,
        )

    def members(self, stack_id):
        found = self.sources[-1]["template"]["resources"]
        return [
            Member(
                name=name,
                definition=Definition(name=name, type=each["type"], properties=each["properties"]),
                physical_id=f"id-{name}",
                reference_id=f"ref-{name}",
                action=Action.CREATE,
                status=Status.COMPLETE,
                created_at=None,
            )
            for name, each in found.items()
        ]

    def create(self, name, source, timeout_mins):
        self.update("nested", source, timeout_mins)
        return "nested"

    def update(self, stack_id, source, timeout_mins):
        self.sources.append(source)
        self.status = Status.IN_PROGRESS

    def check_tree_quota(self, stack_id, size):
        pass

    def end(self):
        self.status = Status.COMPLETE

    def values(self):
        """Return what each member has, as wanted by now."""
        found = self.sources[-1]["template"]["resources"]
        return {name: each["properties"]["value"] for name, each in found.items()}


@pytest.fixture
def nested():
    return Nested()


@pytest.fixture
def row(stack, keeper, nested):
    """Return a function that gives the plugin of the row to a worker that knows nothing else."""

    def look(class_, definition, status=Status.COMPLETE, wanted=()):
        plugin = class_("G", definition, replace(stack, nested=nested))
        incarnation = Incarnation(
            id=OWNER,
            physical_id=keeper.physical_id,
            action=Action.UPDATE,
            status=status,
            metadata=dict(keeper.metadata),
            data=dict(keeper.data),
            wanted_attributes=tuple(map(json.dumps, wanted)),
        )
        drive(plugin).attach(incarnation, keeper)
        return plugin

    return look


def group(count, value, policy=None, **properties):
    member = {"type": "T", "properties": {"value": value}}
    return Definition(
        name="G",
        type="OS::Heat::ResourceGroup",
        properties={"count": count, "resource_def": member, **properties},
        update_policy=policy or {},
    )


def scaled(minimum, maximum, value="v", **properties):
    member = {"type": "T", "properties": {"value": value}}
    return Definition(
        name="G",
        type="OS::Heat::AutoScalingGroup",
        properties={"min_size": minimum, "max_size": maximum, "resource": member, **properties},
    )


def update(row, class_, before, after, changed):
    plugin = row(class_, before)
    wanted = ResourceDefinition.of(after)
    return plugin.handle_update(wanted, wanted - ResourceDefinition.of(before), changed)


def test_each_batch_may_be_another_workers(row, nested):
    policy = {"rolling_update": {"max_batch_size": 1}}
    row(ResourceGroup, group(2, "v")).handle_create()
    after = group(2, "w", policy)
    token = update(row, ResourceGroup, group(2, "v"), after, {"resource_def": {}})
    seen = []
    while True:
        seen.append(nested.values())
        nested.end()
        token = json.loads(json.dumps(token))
        try:
            assert row(ResourceGroup, after).check_update_complete(token)
            break
        except PollDelay:
            pass

    assert seen == [{"0": "w", "1": "v"}, {"0": "w", "1": "w"}]


def test_a_step_that_was_begun_but_not_noted_is_repeated(row, nested):
    policy = {"rolling_update": {"max_batch_size": 1}}
    row(ResourceGroup, group(3, "v")).handle_create()
    after = group(3, "w", policy)
    token = update(row, ResourceGroup, group(3, "v"), after, {"resource_def": {}})
    nested.end()
    with pytest.raises(PollDelay):
        row(ResourceGroup, after).check_update_complete(json.loads(json.dumps(token)))
    assert nested.values() == {"0": "w", "1": "w", "2": "v"}
    nested.end()

    with pytest.raises(PollDelay):
        row(ResourceGroup, after).check_update_complete(token)

    assert nested.values() == {"0": "w", "1": "w", "2": "v"}


def test_a_create_that_was_begun_and_lost_its_token_is_finished(row, nested):
    definition = group(3, "v", {"batch_create": {"max_batch_size": 2}})
    row(ResourceGroup, definition).handle_create()
    assert list(nested.values()) == ["0", "1"]
    nested.end()

    with pytest.raises(PollDelay):
        row(ResourceGroup, definition).check_create_complete(None)
    nested.end()

    assert list(nested.values()) == ["0", "1", "2"]
    assert row(ResourceGroup, definition).check_create_complete(None)


def test_what_a_create_has_made_that_came_late_is_known_from_then_on(row, nested, keeper):
    """Its call was given up, and when it was looked for, nothing was there yet."""
    definition = group(2, "v")
    nested.create("nested", row(ResourceGroup, definition).planned_source(None), None)
    assert keeper.physical_id is None

    row(ResourceGroup, definition).handle_create()

    assert keeper.physical_id == "nested"


def test_what_was_removed_by_reference_stays_away_however_often_it_is_decided(row, nested, keeper):
    row(ResourceGroup, group(2, "v")).handle_create()
    policies = {"removal_policies": [{"resource_list": ["ref-0"]}], "removal_policies_mode": "update"}
    for _ in range(3):
        update(row, ResourceGroup, group(2, "v"), group(2, "v", **policies), {})

        assert list(nested.values()) == ["1", "2"]


def test_what_is_referred_to_are_the_outputs(row, nested):
    wanted = (["refs"], ["attributes", "ip"], ["ip"], ["resource.1.ip"], ["resource.5"])
    row(ResourceGroup, group(2, "v"), wanted=wanted).handle_create()

    assert nested.sources[-1]["template"]["outputs"] == {
        "refs": {"value": [{"get_resource": "0"}, {"get_resource": "1"}]},
        "attributes, ip": {"value": {"0": {"get_attr": ["0", "ip"]}, "1": {"get_attr": ["1", "ip"]}}},
        "ip": {"value": [{"get_attr": ["0", "ip"]}, {"get_attr": ["1", "ip"]}]},
        "resource.1.ip": {"value": {"get_attr": ["1", "ip"]}},
    }


# -- scaling ------------------------------------------------------------------------------------------


def test_a_signal_counts_though_a_worker_is_in_the_middle_of_an_update(row, nested, keeper):
    before, after = scaled(2, 5), scaled(2, 5, "w")
    row(AutoScalingResourceGroup, before).handle_create()
    nested.end()
    token = update(row, AutoScalingResourceGroup, before, after, {"resource": {}})
    assert sorted(nested.values().values()) == ["v", "w"]

    signalled = row(AutoScalingResourceGroup, after, Status.IN_PROGRESS)
    signalled.adjust(1, "change_in_capacity", None, None)
    signalled.follow()
    assert sorted(nested.values().values()) == ["v", "w", "w"]
    nested.end()
    with pytest.raises(PollDelay):
        row(AutoScalingResourceGroup, after).check_update_complete(token)
    nested.end()

    assert row(AutoScalingResourceGroup, after).check_update_complete(token)
    assert list(nested.values().values()) == ["w", "w", "w"]


def test_a_worker_finds_what_a_signal_wrote_and_could_not_carry_out(row, nested):
    definition = scaled(1, 5)
    token = row(AutoScalingResourceGroup, definition).handle_create()
    row(AutoScalingResourceGroup, definition).adjust(2, "change_in_capacity", None, None)
    nested.end()

    with pytest.raises(PollDelay):
        row(AutoScalingResourceGroup, definition).check_create_complete(token)

    assert len(nested.values()) == 3


def test_what_a_late_signal_undid_is_mended(row, nested):
    at_once = {"rolling_updates": {"max_batch_size": 5}}
    before, after = scaled(1, 5, **at_once), scaled(1, 5, "w", **at_once)
    row(AutoScalingResourceGroup, before).handle_create()
    nested.end()
    late = row(AutoScalingResourceGroup, before)
    late.adjust(1, "change_in_capacity", None, None)
    token = update(row, AutoScalingResourceGroup, before, after, {"resource": {}})
    late.follow()
    assert set(nested.values().values()) == {"v"}
    nested.end()

    with pytest.raises(PollDelay):
        row(AutoScalingResourceGroup, after).check_update_complete(token)

    assert set(nested.values().values()) == {"w"}


def test_metadata_of_a_template_leave_the_members_alone(row, keeper):
    plugin = row(AutoScalingResourceGroup, scaled(1, 5))
    plugin.handle_create()
    members = keeper.metadata["members"]

    plugin.metadata_update({"a": 1})

    assert (keeper.metadata["a"], keeper.metadata["members"]) == (1, members)


@pytest.mark.parametrize("adjustment", [0, -1])
def test_a_signal_that_changes_nothing_says_so(row, adjustment):
    row(AutoScalingResourceGroup, scaled(1, 5)).handle_create()

    with pytest.raises(NoActionRequired):
        row(AutoScalingResourceGroup, scaled(1, 5)).adjust(adjustment, "change_in_capacity", None, None)
