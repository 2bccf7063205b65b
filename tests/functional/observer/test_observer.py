# SPDX-License-Identifier: Apache-2.0
"""The observer looks by itself, in turns, and does with what it finds what the policy says."""

from __future__ import annotations

import sqlalchemy as sa

from heatconv.db.tables import resource_observed, stack_observed
from heatconv.model.drift import Mode
from heatconv.observer.healing import Limits
from heatconv.testing.failures import FailureRule
from heatconv.testing.templates import Template, attr, thing
from tests.functional.core.world import CONTEXT, at_once

#: D and E need C, which needs A and B.
FIRST = Template(
    A=thing("a"),
    B=thing("b"),
    C=thing("c", uses=["A", "B"]),
    D=thing("d", uses=["C"]),
    E=thing(attr("C"), uses=["C"]),
)
MANY = Template(**{f"R{number:02}": thing(str(number)) for number in range(25)})


class Worded:
    """A template some of whose resources say more than their properties."""

    def __init__(self, template, **more):
        self._template = template
        self._more = more

    def hot(self):
        hot = self._template.hot()
        for name, said in self._more.items():
            hot["resources"][name] |= said
        return hot


def asked(world, since=0):
    """Return what was asked of the cloud by who looked, in order."""
    return [entry.op for entry in world.cloud.audit(since) if entry.op in ("show_many", "show")]


# -- off, detect, heal ---------------------------------------------------------------------


def test_off_looks_at_nothing_and_writes_nothing(world):
    world.create(FIRST)
    world.run()
    before = len(world.cloud.audit())

    world.tick()

    assert len(world.cloud.audit()) == before
    assert world.select(stack_observed) == []


def test_a_policy_that_is_turned_off_ends_it(world):
    world.create_with(FIRST, "detect")
    world.tick()
    options = {"convergence": {"policy": "off"}}
    world.engine.update_stack(CONTEXT, world.stack_id, {"template": FIRST.hot()}, options, existing=False)
    world.run()
    before = len(world.cloud.audit())
    world.cloud.vanish(world.object_of("E"))

    world.tick()

    assert asked(world, before) == []
    assert world.drift() == {}


def test_detect_tells_and_leaves_the_world_alone(world):
    world.create_with(FIRST, "detect")
    world.cloud.vanish(world.object_of("E"))
    before = len(world.cloud.audit())

    world.tick()

    assert world.drift() == {"E": "MISSING"}
    assert world.drift_status() == "DRIFTED"
    assert world.calls(before) == []
    assert world.state == "CREATE_COMPLETE"


def test_heal_puts_everything_right_and_each_thing_once(world):
    world.create_with(FIRST, "heal")
    world.cloud.meddle(world.object_of("A"), {"value": "drifted"})
    world.cloud.vanish(world.object_of("D"))
    world.cloud.spoil(world.object_of("E"))

    world.tick()
    assert world.differences(FIRST) == []
    world.tick()

    assert world.state == "UPDATE_COMPLETE"
    assert world.differences(FIRST) == []
    assert world.drift_status() == "IN_SYNC"


def test_what_the_operator_says_holds_for_stacks_that_say_nothing(world):
    world.create(FIRST)
    world.run()
    world.cloud.vanish(world.object_of("E"))

    world.new_observer(mode=Mode.DETECT)
    world.tick()  # gets to know the stack
    world.tick()

    assert world.drift() == {"E": "MISSING"}


def test_a_resource_may_say_otherwise_in_its_metadata(world):
    template = Worded(
        Template(A=thing("a"), B=thing("b"), C=thing("c")),
        A={"metadata": {"convergence": {"policy": "off"}}},
        B={"metadata": {"convergence": {"policy": "detect"}}},
    )
    world.create_with(template, "heal")
    for name in "ABC":
        world.cloud.meddle(world.object_of(name), {"value": "drifted"})
    before = len(world.cloud.audit())

    world.tick()

    assert world.calls(before) == ["update C"]
    assert world.drift() == {"B": "CHANGED"}


def test_what_is_to_outlive_its_resource_is_looked_at_and_not_healed(world):
    world.create_with(Worded(Template(A=thing("a")), A={"deletion_policy": "Retain"}), "heal")
    world.cloud.meddle(world.object_of("A"), {"value": "drifted"})
    before = len(world.cloud.audit())

    world.tick()

    assert world.calls(before) == []
    assert world.drift() == {"A": "CHANGED"}


def test_somebody_elses_thing_is_looked_at_and_never_touched(world):
    theirs = world.cloud.create("theirs", "Fake::Cloud::Server", "them", {"value": "theirs"})["id"]
    world.create_with(Worded(Template(A=thing("a")), A={"external_id": theirs}), "heal")
    before = len(world.cloud.audit())

    world.tick()
    assert world.drift() == {"A": "CHANGED"}
    world.converge()

    assert world.calls(before) == []


# -- users go first ------------------------------------------------------------------------------


def test_nothing_is_healed_while_a_user_changes_the_stack(world):
    world.create_with(FIRST, "heal")
    world.cloud.vanish(world.object_of("E"))
    second = FIRST.but(B=thing("new"))
    world.update(second)
    mine = world.stack.current_traversal

    world.time_passes()
    world.observer.tick()

    assert world.stack.current_traversal == mine
    world.run()
    world.tick()
    assert world.differences(second) == []


def test_an_update_overtakes_a_heal(world):
    world.create_with(FIRST, "heal")
    world.cloud.meddle(world.object_of("A"), {"value": "drifted"})
    world.cloud.vanish(world.object_of("E"))
    world.time_passes()
    world.observer.tick()
    assert world.state == "UPDATE_IN_PROGRESS"
    second = FIRST.without("E").but(A=thing("newest"))

    world.update(second)
    world.run()

    assert world.state == "UPDATE_COMPLETE"
    assert world.differences(second) == []


def test_a_delete_overtakes_a_heal(world):
    world.create_with(FIRST, "heal")
    world.cloud.vanish(world.object_of("E"))
    world.time_passes()
    world.observer.tick()

    world.delete()
    world.run()

    assert world.state == "DELETE_COMPLETE"
    assert world.cloud.owned() == []


def test_a_resource_under_an_action_is_not_looked_at(world):
    world.create_with(FIRST, "detect")
    world.update(FIRST.but(A=thing("new", wait=3)))
    world.check("A+")
    assert world.row("A").engine_id is not None

    world.time_passes()
    world.observer.tick()

    assert world.row("A").id not in [row.resource_id for row in world.select(resource_observed)]


# -- limits ------------------------------------------------------------------------------------------


def test_what_does_not_stay_healed_is_left_alone_until_a_user_acts(world):
    world.new_observer(limits=Limits(per_resource=2))
    world.create_with(FIRST, "heal")
    healed = []
    for _ in range(5):
        world.cloud.meddle(world.object_of("A"), {"value": "flapping"})
        world.cloud.vanish(world.object_of("E"))
        before = len(world.cloud.audit())
        world.tick()
        healed.append("update A" in world.calls(before))
        if not healed[-1]:
            break

    assert healed == [True, True, False]
    assert world.drift() == {"A": "CHANGED", "E": "MISSING"}
    assert [each.partition(": ")[2][:23] for each in world.observations()[-2:]] == [
        "it does not stay healed"
    ] * 2
    before = len(world.cloud.audit())
    world.tick()
    assert world.calls(before) == []

    world.converge()

    assert world.differences(FIRST) == []


def test_a_stack_is_healed_so_often_within_an_hour(world):
    world.new_observer(limits=Limits(per_hour=1))
    world.create_with(FIRST, "heal")
    world.cloud.vanish(world.object_of("E"))
    world.tick()
    assert world.differences(FIRST) == []
    world.cloud.vanish(world.object_of("D"))

    world.tick()

    assert world.drift() == {"D": "MISSING"}


def test_only_so_much_of_a_stack_is_healed_at_a_time(world):
    world.new_observer(limits=Limits(percent=20))
    world.create_with(MANY, "heal")
    for number in range(12):
        world.cloud.vanish(world.object_of(f"R{number:02}"))
    left = []
    for _ in range(3):
        world.tick()
        left.append(len(world.differences(MANY)))

    assert left == [7, 2, 0]


def test_a_heal_that_fails_is_not_rolled_back_and_tried_again(world):
    world.create_with(FIRST, "heal", rollback=True)
    world.cloud.vanish(world.object_of("E"))
    world.cloud.fail(FailureRule(op="create", status=400))

    world.tick()
    assert world.state == "UPDATE_FAILED"
    world.tick()

    assert world.state == "UPDATE_COMPLETE"
    assert world.differences(FIRST) == []


# -- turns ----------------------------------------------------------------------------------------------


def test_a_large_stack_is_looked_at_portion_by_portion(world):
    world.new_observer(portion=10)
    world.create_with(MANY, "detect")
    world.cloud.vanish(world.object_of("R24"))
    before = len(world.cloud.audit())

    statuses = []
    for _ in range(3):
        world.time_passes()
        world.observer.tick()
        statuses.append(world.select(stack_observed)[0].observed_at is not None)

    assert statuses == [False, False, True]
    assert asked(world, before) == ["show_many"] * 3
    assert world.drift() == {"R24": "MISSING"}
    assert len(world.select(resource_observed)) == 25


def test_many_stacks_are_looked_at_with_one_call(world):
    for number in range(8):
        options = {"convergence": {"policy": "detect"}}
        source = {"template": Template(A=thing("a")).hot()}
        world.engine.create_stack(CONTEXT, f"s{number}", source, options)
    world.run()
    before = len(world.cloud.audit())

    world.time_passes()
    world.observer.tick()

    assert asked(world, before) == ["show_many"]
    assert len(world.select(resource_observed)) == 8


def test_two_engines_share_the_turns(world):
    world.create_with(FIRST, "detect")
    one, two = world.observer, world.new_observer()
    before = len(world.cloud.audit())
    world.time_passes()

    at_once(one.tick, two.tick)

    assert asked(world, before) == ["show_many"]


def test_the_turn_of_an_engine_that_died_comes_again(world, monkeypatch):
    world.create_with(FIRST, "detect")
    world.time_passes()
    monkeypatch.setattr(world.observer, "_look_together", lambda *_: None)
    world.observer.tick()
    world.new_observer()
    world.cloud.vanish(world.object_of("E"))

    world.observer.tick()
    assert world.drift() == {}  # it still may be at it
    world.tick()

    assert world.drift() == {"E": "MISSING"}


def test_a_turn_that_came_too_late_changes_nothing(world):
    world.create_with(FIRST, "detect")
    late = world.new_observer()
    seen = late._observe

    def slowly(*args, **kwargs):
        found = seen(*args, **kwargs)
        late._observe = seen
        world.new_observer()
        world.cloud.vanish(world.object_of("E"))
        world.time_passes()
        world.observer.tick()
        return found

    late._observe = slowly
    world.time_passes()
    late.tick()

    assert world.select(stack_observed)[0].status == "DRIFTED"


def test_a_cloud_that_fails_is_not_asked_again_at_once(world):
    world.create_with(FIRST, "detect")
    world.cloud.fail(FailureRule(op="show_many", status=503, times=None))
    before = len(world.cloud.audit())

    for _ in range(10):
        world.tick()

    assert asked(world, before) == ["show_many"]
    assert world.drift_status() == "UNKNOWN"
    world.cloud.stop_failing()
    world.new_observer()
    world.tick()
    assert world.drift_status() == "IN_SYNC"


def test_what_is_gone_is_forgotten(world):
    world.create_with(FIRST, "detect")
    world.cloud.vanish(world.object_of("E"))
    world.tick()
    world.delete()
    world.run()

    world.purging.tick()

    assert (world.select(stack_observed), world.select(resource_observed)) == ([], [])


def test_an_observation_of_a_resource_that_was_touched_meanwhile_is_void(world):
    world.create_with(FIRST, "detect")
    world.cloud.vanish(world.object_of("A"))
    looking = world.observer._observing._look

    def and_meanwhile(*args, **kwargs):
        found = looking(*args, **kwargs)
        with world.database.engine.begin() as connection:
            connection.execute(sa.text("UPDATE resource SET atomic_key = atomic_key + 1 WHERE name = 'A'"))
        return found

    world.observer._observing._look = and_meanwhile
    world.tick()

    assert world.drift() == {}
    assert world.observations() == []
