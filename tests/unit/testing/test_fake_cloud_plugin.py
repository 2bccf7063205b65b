# SPDX-License-Identifier: Apache-2.0
"""The fake cloud's resource types do to the cloud what their properties say, interrupted or not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from heatconv import testing
from heatconv.errors import PhysicalResourceGone
from heatconv.model.definition import Definition
from heatconv.model.states import Action, Status
from heatconv.resources.declared import implements
from heatconv.resources.exception import PollDelay, ResourceInError, UpdateReplace
from heatconv.resources.facts import Incarnation, StackFacts
from heatconv.resources.registry import Registry
from heatconv.testing.cloud import IN_PROCESS
from heatconv.testing.failures import FailureRule, Outcome, Refused
from heatconv.testing.templates import OPAQUE, SERVER, SNAPSHOT, STEPS
from tests.driving import drive

PLUGINS = str(Path(testing.__file__).parent / "plugins")
ROW = "0198f0c6-5a70-7c3e-8a55-3a4b7de0a001"


@pytest.fixture
def cloud(monkeypatch):
    monkeypatch.setenv("HEATCONV_FAKE_CLOUD", "memory:")
    IN_PROCESS.reset()
    return IN_PROCESS


@pytest.fixture(scope="module")
def registry():
    return Registry.load([PLUGINS])


class Row:
    """Where a resource keeps what it learns."""

    def __init__(self):
        self.physical_id = None
        self.data = {}

    def set_physical_id(self, physical_id):
        self.physical_id = physical_id

    def set_data(self, data):
        self.data = dict(data)

    def set_metadata(self, metadata):
        pass

    def get_metadata(self):
        return {}

    def forget_attributes(self):
        pass


@pytest.fixture
def row():
    return Row()


@pytest.fixture
def build(registry, row):
    def build(type=SERVER, **properties):
        definition = Definition(name="A", type=type, properties=properties)
        resource = registry.get(type)("A", definition, StackFacts(id="s", name="web", project_id="p"))
        state = Incarnation(id=ROW, physical_id=row.physical_id, data=row.data, action=Action.CREATE)
        drive(resource).attach(state, row)
        return resource

    return build


def carry_out(resource, action, *arguments):
    """Start an action and poll it to its end."""
    token = drive(resource).start(action, *arguments)
    for _ in range(20):
        if drive(resource).is_complete(action, token):
            return
    raise AssertionError(f"{action} never ends")


def update(resource, **properties):
    plan = drive(resource).plan_update(replace(resource.definition, properties=properties))
    carry_out(resource, Action.UPDATE, plan.json_snippet, plan.tmpl_diff, plan.prop_diff)


def mutations(cloud):
    return [entry.op for entry in cloud.audit() if entry.op not in ("show", "find")]


@pytest.mark.parametrize("type_name", [SERVER, STEPS, OPAQUE])
def test_every_type_is_made_changed_and_deleted(cloud, build, row, type_name):
    cloud.latency.update(create=2, update=2, delete=2)
    resource = build(type_name, value="a")
    carry_out(resource, Action.CREATE)
    update(resource, value="b")
    (found,) = cloud.owned("web/A")
    assert (found["properties"]["value"], found["status"], found["id"]) == ("b", "ACTIVE", row.physical_id)
    carry_out(build(type_name), Action.DELETE)
    assert cloud.owned() == []


def test_steps_are_taken_one_by_one(cloud, build):
    carry_out(build(STEPS), Action.CREATE)
    assert mutations(cloud) == ["create", "update", "update"]
    assert cloud.owned()[0]["properties"]["stage"] == "started"


def test_steps_go_on_where_they_were_when_somebody_else_takes_over(cloud, build):
    first = build(STEPS)
    token = drive(first).start(Action.CREATE)
    assert not drive(first).is_complete(Action.CREATE, dict(token))
    second = build(STEPS)
    while not drive(second).is_complete(Action.CREATE, dict(token)):
        pass
    assert mutations(cloud) == ["create", "update", "update"]


def test_a_flavor_takes_a_replacement(cloud, build):
    resource = build()
    carry_out(resource, Action.CREATE)
    with pytest.raises(UpdateReplace):
        update(resource, flavor="large")


def test_attributes_are_what_the_cloud_tells(cloud, build, row):
    resource = build(value="a")
    carry_out(resource, Action.CREATE)
    cloud.meddle(row.physical_id, {"value": "drifted"})
    assert resource.get_attribute("value") == "drifted"
    assert resource.get_attribute("id") == resource.get_reference_id() == row.physical_id
    assert resource.get_attribute("name") == resource.physical_resource_name()


@pytest.mark.parametrize("status", [429, 503])
def test_a_busy_cloud_is_asked_again(cloud, build, status):
    for op in ("create", "update", "delete"):
        cloud.fail(FailureRule(op=op, status=status, times=2))
    resource = build(value="a")
    carry_out(resource, Action.CREATE)
    update(resource, value="b")
    assert cloud.owned()[0]["properties"]["value"] == "b"
    carry_out(resource, Action.DELETE)
    assert cloud.owned() == []


def test_a_cloud_that_says_when_is_asked_then(cloud, build):
    cloud.fail(FailureRule(op="create", status=429, retry_after=7, times=2))
    resource = build()
    token = drive(resource).start(Action.CREATE)
    with pytest.raises(PollDelay) as later:
        drive(resource).is_complete(Action.CREATE, token)
    assert later.value.period == 7


def test_other_refusals_fail_the_action(cloud, build):
    cloud.fail(FailureRule(op="create"))
    with pytest.raises(Refused):
        drive(build()).start(Action.CREATE)


def test_a_cut_connection_leaves_one_object(cloud, build, row):
    for op in ("create", "update", "delete"):
        cloud.fail(FailureRule(op=op, outcome=Outcome.CUT))
    resource = build(value="a")
    carry_out(resource, Action.CREATE)
    update(resource, value="b")
    assert [found["properties"]["value"] for found in cloud.owned()] == ["b"]
    carry_out(resource, Action.DELETE)
    assert mutations(cloud) == ["create", "update", "delete"]


def test_what_cannot_be_searched_is_not_made_twice(cloud, build):
    cloud.fail(FailureRule(op="create", outcome=Outcome.CUT))
    resource = build(OPAQUE)
    token = drive(resource).start(Action.CREATE)
    with pytest.raises(Exception, match="Nobody knows whether A was made"):
        drive(resource).is_complete(Action.CREATE, token)
    assert len(cloud.owned()) == 1
    assert not implements(type(resource), "find_existing")


def test_a_broken_build_is_an_error_that_may_pass(cloud, build):
    cloud.fail(FailureRule(op="create", outcome=Outcome.BREAK))
    resource = build()
    token = drive(resource).start(Action.CREATE)
    with pytest.raises(ResourceInError) as error:
        drive(resource).is_complete(Action.CREATE, token)
    assert error.value.retryable


def test_what_an_unfinished_creation_left_is_found(cloud, build, row):
    drive(build()).start(Action.CREATE)
    row.physical_id = None
    row.physical_id = build().find_existing()
    carry_out(build(), Action.DELETE)
    assert cloud.owned() == []


def test_deleting_what_is_gone_or_was_never_made_is_fine(cloud, build, row):
    carry_out(build(), Action.DELETE)
    carry_out(build(), Action.CREATE)
    cloud.vanish(row.physical_id)
    carry_out(build(), Action.DELETE)
    assert cloud.owned() == []


@pytest.mark.parametrize(
    ("fate", "expected"), [("well", False), ("broken", True), ("gone", True), ("never made", True)]
)
def test_a_failed_resource_is_replaced_unless_it_is_well(cloud, build, row, fate, expected):
    if fate == "broken":
        cloud.fail(FailureRule(op="create", outcome=Outcome.BREAK))
    if fate != "never made":
        drive(build()).start(Action.CREATE)
    if fate == "gone":
        cloud.vanish(row.physical_id)
    assert build().needs_replace_failed() is expected


def test_observation_reads_what_is_there(cloud, build, row):
    resource = build(value="a")
    carry_out(resource, Action.CREATE)
    cloud.meddle(row.physical_id, {"value": "drifted"})
    live: dict[str, object] = {"value": "drifted", "flavor": "small", "uses": [], "tags": None}
    assert drive(resource).observe() == live
    assert type(resource).observe_many([resource]) == {ROW: live}
    cloud.vanish(row.physical_id)
    assert type(resource).observe_many([resource]) == {ROW: None}
    with pytest.raises(PhysicalResourceGone):
        drive(resource).observe()


def test_a_check_fails_when_the_object_is_not_well(cloud, build, row):
    resource = build()
    carry_out(resource, Action.CREATE)
    carry_out(resource, Action.CHECK)
    cloud.vanish(row.physical_id)
    with pytest.raises(Refused):
        drive(resource).start(Action.CHECK)
    assert resource.status is Status.COMPLETE


# -- suspend, resume, snapshot, restore, adopt ------------------------------------------------


@pytest.mark.parametrize("type_name", [SERVER, OPAQUE])
def test_a_suspended_object_says_so_until_it_is_resumed(cloud, build, type_name):
    cloud.latency.update(update=2)
    resource = build(type_name)
    carry_out(resource, Action.CREATE)
    for action, expected in ((Action.SUSPEND, True), (Action.RESUME, False)):
        cloud.fail(FailureRule(op="update", status=503))
        carry_out(resource, action)
        (found,) = cloud.owned()
        assert (found["properties"]["suspended"], found["status"]) == (expected, "ACTIVE")


def test_a_check_tells_what_is_wrong(cloud, build):
    cloud.fail(FailureRule(op="create", outcome=Outcome.BREAK))
    resource = build()
    drive(resource).start(Action.CREATE)
    with pytest.raises(Exception, match="'status': expected 'ACTIVE', got 'ERROR'"):
        drive(resource).start(Action.CHECK)


def snapshots(cloud):
    return [found for found in cloud.owned() if found["kind"] == SNAPSHOT]


def part(resource):
    """Return a resource's part of a snapshot of its stack."""
    return {"resource_id": resource.resource_id, "resource_data": resource.data()}


def test_a_snapshot_is_a_copy_that_a_restore_brings_back(cloud, build, row):
    cloud.latency.update(create=2)
    resource = build(value="old", flavor="small")
    carry_out(resource, Action.CREATE)
    carry_out(resource, Action.SNAPSHOT)
    taken = part(resource)
    update(resource, value="new")
    assert [found["properties"] for found in snapshots(cloud)] == [{"value": "old", "flavor": "small"}]

    assert resource.properties["value"] == "new"
    restored = resource.handle_restore(resource.t, taken).definition
    assert restored.properties == {"value": "old", "flavor": "small"}

    token = resource.handle_delete_snapshot(taken)
    while not resource.check_delete_snapshot_complete(token):
        pass
    assert snapshots(cloud) == []
    with pytest.raises(Refused):
        resource.handle_restore(resource.t, taken)


def test_each_snapshot_is_another_object_and_one_taken_over_is_the_same(cloud, build, row):
    carry_out(build(), Action.CREATE)
    carry_out(build(), Action.SNAPSHOT)
    first = row.data
    drive(build()).start(Action.SNAPSHOT)
    carry_out(build(), Action.SNAPSHOT)
    assert len(snapshots(cloud)) == 2
    assert row.data != first


def test_a_cut_connection_leaves_one_snapshot(cloud, build):
    carry_out(build(), Action.CREATE)
    cloud.fail(FailureRule(op="create", outcome=Outcome.CUT))
    carry_out(build(), Action.SNAPSHOT)
    assert len(snapshots(cloud)) == 1


def test_what_was_never_copied_has_nothing_to_delete_or_restore(cloud, build):
    resource = build()
    assert resource.check_delete_snapshot_complete(resource.handle_delete_snapshot({}))
    assert resource.handle_restore(resource.t, {}) is resource.t


def test_what_is_there_is_adopted_and_what_is_not_is_not(cloud, build, row):
    made = cloud.create("theirs", SERVER, "others/B", {"value": "v"})
    carry_out(build(), Action.ADOPT, {"resource_id": made["id"]})
    assert row.physical_id == made["id"]
    row.physical_id = None
    for data in ({"resource_id": "lost"}, {}):
        with pytest.raises(Exception, match=r"there is no object lost|no resource_id"):
            carry_out(build(), Action.ADOPT, data)
    assert row.physical_id is None
