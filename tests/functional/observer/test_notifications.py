# SPDX-License-Identifier: Apache-2.0
"""What was heard of is looked at and healed without waiting for the stack's turn."""

from __future__ import annotations

from datetime import timedelta
from functools import partial

import pytest

from heatconv.db.tables import resource_healing, stack_observed
from heatconv.rpc.context import RequestContext
from heatconv.testing.failures import FailureRule
from heatconv.testing.templates import Template, attr, thing
from tests.functional.core.world import CONTEXT, at_once
from tests.functional.observer.test_cost import counted

FIRST = Template(
    A=thing("a"),
    B=thing("b"),
    C=thing("c", uses=["A", "B"]),
    D=thing("d", uses=["C"]),
    E=thing(attr("C"), uses=["C"]),
)
SECOND = Template(
    A=thing("a2"),
    B=thing("b"),
    C=thing("c", uses=["A", "B"]),
    D=thing("d", uses=["C"]),
    E=thing(attr("C"), uses=["C"]),
)
DELETED = "object.delete.end"


def test_what_something_happened_to_is_looked_at_and_healed_at_once(world):
    world.create_with(FIRST, "heal")
    lost, changed = world.object_of("E"), world.object_of("A")
    world.cloud.vanish(lost)
    world.cloud.meddle(changed, {"value": "drifted"})

    world.hear(DELETED, lost, "unknown")
    world.run()
    world.hear("object.update.end", changed)
    world.run()

    assert world.differences(FIRST) == []
    assert world.state == "UPDATE_COMPLETE"


def test_only_what_was_heard_of_is_looked_at(world):
    world.create_with(FIRST, "detect")
    world.cloud.vanish(world.object_of("D"))
    world.cloud.vanish(world.object_of("E"))

    world.hear(DELETED, world.object_of("E"))

    assert world.drift() == {"E": "MISSING"}
    assert world.drift_status() == "DRIFTED"


def test_what_is_as_it_was_made_is_no_news(world):
    world.create_with(FIRST, "heal")

    world.hear(DELETED, world.object_of("E"))
    world.run()

    assert world.observations() == []
    assert world.state == "CREATE_COMPLETE"


@pytest.mark.parametrize("deleting", [False, True])
def test_who_waits_for_a_thing_is_woken_be_it_observed_or_not(world, deleting):
    world.create(Template(A=thing("a", wait=3), B=thing("b", wait=3)))
    if deleting:
        world.run()
        world.delete()
        world.check("stack+")
    world.check("A-" if deleting else "A+")
    world.check("B-" if deleting else "B+")

    row = world.row("A")
    world.hear("object.update.end", row.physical_id)

    assert world.bell.woken == [(row.id, world.worker.engine_id)]


def test_of_a_stack_that_nobody_observes_nothing_is_looked_at(world):
    world.create(FIRST)
    world.run()
    before = len(world.cloud.audit())

    world.hear(DELETED, world.object_of("E"))

    assert len(world.cloud.audit()) == before


def test_a_storm_about_the_things_of_others_costs_a_statement_for_a_thousand(world):
    world.create_with(FIRST, "heal")
    for number in range(2000):
        world.notifications.hear(DELETED, {"object_id": f"somebody's {number}"})

    with counted(world.observer) as statements:
        world.notifications.look()

    assert len([each for each in statements if each.lstrip().startswith("SELECT")]) == 2


def test_what_happens_while_a_traversal_runs_is_healed_after_it(world):
    world.create_with(FIRST, "heal")
    lost = world.object_of("D")
    world.update(SECOND)
    world.cloud.vanish(lost)

    world.hear(DELETED, lost)
    world.run()
    assert world.state == "UPDATE_COMPLETE"
    assert "D" not in {found["owner"].rpartition("/")[2] for found in world.cloud.owned()}

    world.now += 2
    world.notifications.look()
    world.run()

    assert world.differences(SECOND) == []


def test_what_happens_to_something_that_is_being_worked_on_is_found_after_that(world):
    world.create_with(FIRST, "heal")
    touched = world.object_of("A")
    world.update(SECOND)
    world.cloud.latency["update"] = 3
    world.check("A+")  # which begins to change it
    assert world.row("A").status == "IN_PROGRESS"
    world.hear("object.update.end", touched)
    world.run()
    world.cloud.meddle(touched, {"value": "drifted"})

    world.now += 2
    world.notifications.look()
    world.run()

    assert world.differences(SECOND) == []


def test_what_could_not_be_looked_at_is_looked_at_later(world):
    world.create_with(FIRST, "heal")
    lost = world.object_of("E")
    world.cloud.vanish(lost)
    world.cloud.fail(FailureRule(op="show_many", status=500))
    world.hear(DELETED, lost)
    world.cloud.stop_failing()
    assert world.drift() == {}

    world.observer._observing._failing.clear()  # the service is well again
    world.now += 2
    world.notifications.look()
    world.run()

    assert world.differences(FIRST) == []


def test_of_two_engines_that_hear_of_a_stack_at_the_same_time_one_heals_it(world):
    world.create_with(FIRST, "heal")
    lost = [world.object_of("D"), world.object_of("E")]
    for each in lost:
        world.cloud.vanish(each)
    first, second = world.observer, world.new_observer()

    class Late:
        def converge(self, *args, **kwargs):
            second.look_at(lost)
            return world.preparer.converge(*args, **kwargs)

    first._healing._preparer = Late()
    assert first.look_at(lost) == set(lost)  # once more: somebody is at work on the stack
    world.run()

    assert world.differences(FIRST) == []
    assert {row.resource_name: row.attempts for row in world.select(resource_healing)} == {"D": 1, "E": 1}
    assert [row.heals for row in world.select(stack_observed)] == [1]


def test_engines_that_hear_of_one_thing_each_get_in_nobodys_way(world):
    world.create_with(FIRST, "heal")
    lost = [world.object_of(name) for name in "ABDE"]
    for each in lost:
        world.cloud.vanish(each)
    engines = [world.observer, *(world.new_observer() for _ in lost[1:])]

    at_once(*(partial(engine.look_at, [each]) for engine, each in zip(engines, lost, strict=True)))
    world.run()
    for _ in range(3):
        world.tick()  # what could not be healed, since it uses what nobody had told of yet, is now

    assert world.differences(FIRST) == []
    assert world.state == "UPDATE_COMPLETE"


def test_of_a_stack_that_lost_something_all_is_looked_at_soon(world):
    world.create_with(FIRST, "detect")
    world.observer.tick()
    (before,) = world.select(stack_observed)
    world.hear(DELETED, world.object_of("D"))
    assert world.select(stack_observed) == [before]
    world.cloud.vanish(world.object_of("D"))

    world.hear(DELETED, world.object_of("D"))

    (after,) = world.select(stack_observed)
    assert before.due_at - after.due_at > timedelta(minutes=3)  # of the five that it is by default


# -- what users tell -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("context", "everywhere", "known"),
    [
        (CONTEXT, False, 1),
        (RequestContext(project_id="others"), False, 0),
        (RequestContext(project_id="others"), True, 1),
    ],
)
def test_users_tell_of_their_own_projects_things(world, context, everywhere, known):
    world.create_with(FIRST, "heal")
    lost = world.object_of("E")
    world.cloud.vanish(lost)

    assert world.user.note_change(context, [lost, "unknown"], all_projects=everywhere) == known
    world.notifications.look()
    world.run()

    assert (world.differences(FIRST) == []) is bool(known)
