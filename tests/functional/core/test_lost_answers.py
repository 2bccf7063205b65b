# SPDX-License-Identifier: Apache-2.0
"""A commit is done and the connection breaks before the answer is there: nobody knows; all goes on."""

from __future__ import annotations

import time
from datetime import datetime

import pytest
import sqlalchemy as sa
from oslo_db import exception as oslo_db_exception

from heatconv.db.convergence import claims
from heatconv.db.convergence.claimants import Ask, Claimant, Claimants
from heatconv.db.plumbing.session import Database
from heatconv.db.tables import resource, sync_point
from heatconv.engine.recovery import Recovery
from heatconv.model.outcomes import Busy, Claim, Claimed
from heatconv.testing.templates import Template, thing
from heatconv.worker.decide import decide
from tests.functional.core.world import HOUR

CHAIN = Template(A=thing("a"), B=thing("b", uses=["A"]), C=thing("c", uses=["B"]))
AFTER = CHAIN.but(A=thing("a", flavor="large"), B=thing("new", uses=["A"])).without("C")
LONG_AGO = datetime(2000, 1, 1)  # noqa: DTZ001 - as the tables have it: UTC, and they do not say so
LEAVES = Template(A=thing("a"), B=thing("b"), C=thing("c", uses=["A", "B"]), D=thing("d"))
LEAVES_AFTER = LEAVES.but(A=thing("a", flavor="large"), B=thing("new")).without("D")
MANY, FEW = 23, 20  #: more transactions than the story takes, and if each node goes on with the next
MORE = 26  #: the same of leaves


class Forgetful(Database):
    """A database that loses the answer to a commit, and to some after it."""

    lost = range(0)  #: the numbers of those commits, from 1

    def _write(self, function):
        self.count = getattr(self, "count", 0) + 1
        number = self.count
        result = super()._write(function)
        if number in self.lost:
            raise oslo_db_exception.DBConnectionError
        return result


class Interrupted(Database):
    """A database whose first transaction is rolled back after its last statement, and tried again."""

    groups_abreast = 2  # what happens meanwhile does not wait for it
    meanwhile = None  #: what happens before that, once

    def _write(self, function):
        meanwhile, self.meanwhile = self.meanwhile, None
        if meanwhile is None:
            return super()._write(function)

        def break_off(connection):
            function(connection)
            raise oslo_db_exception.DBConnectionError

        try:
            super()._write(break_off)
        finally:
            meanwhile()


def employ(world, lost, *, spare_capacity=0):
    """Let a worker take over whose database loses answers from now on."""
    world.worker = world.new_worker(Forgetful)
    world.worker.spare_capacity = spare_capacity
    world.worker.database.count, world.worker.database.lost = 0, lost


def settle(world):
    """Let everything happen, and the recovery tick find what was forgotten, until the stack has arrived."""
    recovery = Recovery(
        database=world.database,
        doorbell=world.bell,
        roll_back=world.engine.prepare_rollback,
        dead_after=HOUR,
        ready_grace=1,
    )
    for _ in range(len(CHAIN) * 4):
        world.run()
        if not world.state.endswith("IN_PROGRESS"):
            return
        with world.database.engine.begin() as connection:
            connection.execute(sa.update(sync_point).values(ready_at=LONG_AGO))
        recovery.tick()


@pytest.mark.parametrize(
    ("number", "spare_capacity"),
    [(number, 0) for number in range(1, MANY)] + [(number, 1) for number in range(1, FEW)],
)
def test_whichever_answer_is_lost_a_stack_arrives(world, number, spare_capacity):
    world.create(CHAIN)
    world.run()
    employ(world, range(number, number + 1), spare_capacity=spare_capacity)

    world.update(AFTER)
    settle(world)

    assert world.worker.database.count < (FEW if spare_capacity else MANY)
    assert world.state == "UPDATE_COMPLETE"
    assert world.differences(AFTER) == []
    assert {row.engine_id for row in world.select(resource)} == {None}


@pytest.mark.parametrize("number", range(1, MORE))
def test_whichever_answer_is_lost_a_stack_arrives_whose_nodes_are_claimed_together(world, number):
    world.together = 2
    world.create(LEAVES)
    world.run()
    employ(world, range(number, number + 1))

    world.update(LEAVES_AFTER)
    settle(world)

    assert world.worker.database.count < MORE
    assert world.state == "UPDATE_COMPLETE"
    assert world.differences(LEAVES_AFTER) == []
    assert {row.engine_id for row in world.select(resource)} == {None}


def test_a_claim_is_taken_up_though_nobody_heard_of_it_for_long(world, monkeypatch):
    monkeypatch.setattr(time, "sleep", lambda _seconds: None)
    world.create(CHAIN)
    employ(world, range(1, 60))

    settle(world)

    assert world.state == "CREATE_COMPLETE"
    assert world.calls() == ["create A", "create B", "create C"]


def test_a_lock_that_was_rolled_back_is_not_taken_for_that_of_the_message_s_copy(world):
    """The same worker's, of the same row, one step on: they look alike."""
    world.create(CHAIN)
    world.worker = world.new_worker(Interrupted)

    def claim():
        claimants.append(of_worker.claimant())
        ask = Ask(world.stack.current_traversal, world.node("A+"), claimants[-1], world.stack_id)
        outcomes.extend(claims.claim(world.worker.database, [ask]))

    of_worker = Claimants(world.worker.engine_id, dead_after=HOUR, decide=decide)
    claimants: list[Claimant] = []
    outcomes: list[Claim | Exception] = []
    world.worker.database.meanwhile = claim
    claim()

    of_copy, of_first = outcomes
    assert isinstance(of_copy, Claimed)
    assert of_first == Busy(world.worker.engine_id)
    first, copy = claimants
    assert (first.taken, copy.taken) == ([], [of_copy.job.resource])


def test_a_stack_whose_creation_was_not_answered_is_created_once(world):
    world.engine = world.new_engine(kind=Forgetful)
    world.engine._database.lost = range(1, 2)

    world.create(CHAIN)
    settle(world)

    assert world.state == "CREATE_COMPLETE"
    assert world.calls() == ["create A", "create B", "create C"]
