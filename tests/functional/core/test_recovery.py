# SPDX-License-Identifier: Apache-2.0
"""What falls between two processes is found again: the recovery tick, on every database."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
import sqlalchemy as sa

from heatconv import errors
from heatconv.db import rows
from heatconv.db.plumbing.session import clock
from heatconv.db.tables import stack, sync_point
from heatconv.engine.freezer import Freezer
from heatconv.model.states import Action, Phase
from heatconv.testing.failures import FailureRule
from heatconv.testing.templates import Template, attr, thing
from heatconv.worker import setbacks
from tests.chaos.mortal import Death
from tests.functional.core.world import interrupt

PAIR = Template(A=thing("a"), B=thing("b", uses=["A"]))
LONG_AGO = datetime(2000, 1, 1)  # noqa: DTZ001 - as the tables have it: UTC, and they do not say so


def tick(world, *engines):
    """Let engines look for what was lost; return what they ring for."""
    world.bell.take()
    for engine in engines:
        engine.tick()
    return world.rung()


def pass_time(world, table, **columns):
    with world.database.engine.begin() as connection:
        connection.execute(sa.update(table).values(**columns))


def test_where_nothing_was_lost_nothing_is_done(world, engines):
    world.create(PAIR)
    before = world.everything()

    assert tick(world, *engines) == []
    assert world.everything() == before


def test_a_message_that_was_lost_is_sent_again_by_one_engine(world, engines):
    world.create(PAIR)
    pass_time(world, sync_point, ready_at=LONG_AGO)

    assert tick(world, *engines) == ["A+"]
    assert world.point("A+").ready_at > LONG_AGO
    assert tick(world, *engines) == []
    world.check("A+")
    assert world.rows()["A"] == "CREATE_COMPLETE v0"


def test_a_node_whose_action_goes_on_is_not_rung_for(world, engines):
    world.create(PAIR.but(A=thing("a", wait=3)))
    world.check("A+")
    pass_time(world, sync_point, ready_at=LONG_AGO)

    assert tick(world, *engines) == []


def test_a_deletion_that_goes_on_is_not_rung_for(world, engines):
    world.create(PAIR)
    world.run()
    world.delete()
    world.check("stack+")
    world.cloud.latency["delete"] = 3
    world.check("B-")
    assert world.rows()["B"] == "DELETE_IN_PROGRESS v0"
    pass_time(world, sync_point, ready_at=LONG_AGO)

    assert tick(world, *engines) == []


def test_the_lock_of_a_dead_worker_is_broken_and_its_action_taken_over(world, engines):
    world.create(PAIR.but(A=thing("a", wait=3)))
    world.check("A+")
    world.worker.die()

    assert tick(world, *engines) == ["A+"]
    assert world.row("A").engine_id is None
    assert world.rows()["A"] == "CREATE_IN_PROGRESS v0"

    world.worker = world.new_worker()
    world.check("A+")
    world.run()
    assert world.state == "CREATE_COMPLETE"
    assert world.calls() == ["create A", "create B"]


def test_a_traversal_that_is_past_its_deadline_fails_and_starts_nothing_more(world, engines):
    world.create(PAIR)
    world.check("A+")
    pass_time(world, stack, deadline=LONG_AGO)

    assert tick(world, *engines) == []
    assert world.state == "CREATE_FAILED"
    assert world.stack.status_reason == "Timed out"
    assert world.points() == {}
    assert world.events().count("web CREATE_FAILED") == 1


class AnHourAhead(datetime):
    """The clock of a host that is not set right."""

    @classmethod
    def now(cls, tz=None):
        return super().now(tz) + timedelta(hours=1)


@pytest.mark.parametrize(("minutes", "state"), [(1, "CREATE_IN_PROGRESS"), (-1, "CREATE_FAILED")])
def test_a_deadline_is_one_of_the_database_whatever_time_it_is_on_a_worker(
    world, monkeypatch, minutes, state
):
    for module in (rows, setbacks):
        monkeypatch.setattr(module, "datetime", AnHourAhead)
    world.create(PAIR.but(A=thing("a", wait=3)))
    with world.database.engine.begin() as connection:
        deadline = clock(connection) + timedelta(minutes=minutes)
        connection.execute(sa.update(stack).values(deadline=deadline))

    world.check("A+")
    world.come_back()

    assert world.state == state


def test_a_traversal_that_is_past_its_deadline_is_rolled_back_if_the_user_wants_that(world, engines):
    world.create(PAIR, rollback=True)
    world.check("A+")
    pass_time(world, stack, deadline=LONG_AGO)

    tick(world, *engines)
    world.run()

    assert world.state == "ROLLBACK_COMPLETE"
    assert world.cloud.owned() == []


def test_a_rollback_that_was_decided_on_and_lost_is_prepared(world, engines):
    world.cloud.fail(FailureRule(op="create", owner="*/A", status=400))
    world.create(PAIR, rollback=True)
    world.check("A+")
    assert world.stack.phase == Phase.PREPARE
    world.bell.rollbacks.clear()

    assert tick(world, *engines) == ["stack+"]
    world.run()
    assert world.state == "ROLLBACK_COMPLETE"
    assert world.events().count("web ROLLBACK_IN_PROGRESS") == 1


def test_a_rollback_is_not_late_before_it_is_prepared(world, engines):
    world.cloud.fail(FailureRule(op="create", owner="*/A", status=400))
    world.create(PAIR, rollback=True)
    world.check("A+")
    pass_time(world, stack, deadline=LONG_AGO)

    tick(world, *engines)

    assert world.state == "ROLLBACK_IN_PROGRESS"
    world.run()
    assert world.state == "ROLLBACK_COMPLETE"


class Forgetful(Freezer):
    """Knows the types of old templates no more."""

    def freeze(self, stack, source, action):
        if action is Action.ROLLBACK:
            raise errors.Invalid(problems=[("resources.A.type", "There is no such type.")])
        return super().freeze(stack, source, action)


def failed_update(world):
    """Let an update fail that is to be rolled back."""
    world.create(PAIR)
    world.run()
    world.cloud.fail(FailureRule(op="update", owner="*/A", status=400))
    world.update(PAIR.but(A=thing("other")), rollback=True)
    world.check("A+")
    assert world.stack.phase == Phase.PREPARE
    world.cloud.stop_failing()


def test_a_rollback_to_what_cannot_be_any_more_fails_and_says_why(world, recovery):
    failed_update(world)

    tick(world, recovery(world.new_engine(Forgetful).prepare_rollback))

    assert world.state == "ROLLBACK_FAILED"
    reason = "The rollback could not begin: resources.A.type: There is no such type."
    assert world.stack.status_reason == reason
    world.update(PAIR.but(A=thing("a third")))
    world.run()
    assert world.state == "UPDATE_COMPLETE"


def test_a_rollback_that_cannot_be_prepared_for_now_does_not_keep_the_others(world, recovery):
    failed_update(world)
    first = world.stack_id
    world.cloud.fail(FailureRule(op="create", owner="*/A", status=400))
    world.create(PAIR, rollback=True, name="other")
    world.check("A'+")
    world.bell.rollbacks.clear()

    def prepare(stack_id):
        if stack_id == first:
            raise errors.NotJudged(what="a flavor", reason="Nova does not answer")
        world.engine.prepare_rollback(stack_id)

    tick(world, recovery(prepare))

    world.run()
    assert world.state == "ROLLBACK_COMPLETE"
    world.stack_id = first
    assert (world.state, world.stack.phase) == ("ROLLBACK_IN_PROGRESS", Phase.PREPARE)
    tick(world, recovery())
    world.run()
    assert world.state == "ROLLBACK_COMPLETE"


def test_what_was_not_told_of_a_change_is_told_by_the_next_update(world, engines):
    """A worker dies when it has claimed what depends on that; before another one does, the same is wanted."""
    template = Template(A=thing("a"), B=thing(attr("A")))
    world.create(template)
    world.run()
    after = template.but(A=thing("b"))
    world.update(after)
    world.check("A+")
    interrupt(world.worker.database, 1, die)
    with pytest.raises(Death):
        world.check("B+")
    world.worker.die()
    engines[0].tick()
    world.worker = world.new_worker()
    world.bell.take()
    world.update(after)
    world.run()
    assert world.state == "UPDATE_COMPLETE"
    assert world.differences(after) == []


def die():
    raise Death
