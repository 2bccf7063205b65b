# SPDX-License-Identifier: Apache-2.0
"""What a killed worker held moves again within seconds, with the options that heatconv comes with."""

from __future__ import annotations

import random
import threading
from contextlib import closing

import pytest
import sqlalchemy as sa

from tests.chaos.takeovers import Takeovers
from tests.chaos.trial import Trial, layered

DEATHS = 6
#: What the options promise, and not how fast the machine is: a death shows when 3 heartbeats of
#: 4 s are missing, and whichever of two engines ticks first, each every 3 s give or take half of
#: that, breaks the locks: 16.5 s at the most.  The rest is for the ring to be answered.
PROMISED = 20.0


@pytest.mark.timeout(0)
def test_what_a_killed_worker_held_moves_again_within_seconds(
    run_daemons, fresh_database, rabbit_url, add_line, request
):
    url = fresh_database("postgresql")
    daemons = run_daemons(database_url=url, transport_url=rabbit_url, pace={})
    database = sa.create_engine(url, poolclass=sa.NullPool, isolation_level="AUTOCOMMIT")
    takeovers = Takeovers(database)
    choice = random.Random(request.config.getoption("--seed") or 1)
    trial = Trial(daemons, "takeover", layered(40, 8, wait=3))
    with closing(trial):
        trial.create()
        trial.wait_until_made(20)
        for _ in range(DEATHS):
            threading.Event().wait(choice.uniform(2, 10))
            victim = choice.choice(daemons.names("worker"))
            engine_id = daemons.engine_id(victim)
            daemons.kill(victim)
            takeovers.watch(engine_id)
            daemons.start(victim)
            daemons.await_up(victim)
        took = trial.arrive()
        takeovers.settle()
        add_line(f"{DEATHS} workers killed, default options: {takeovers.summary()}")
        add_line(f"the stack of {len(trial.template)} arrived {took:.0f} s after the last death")
        assert takeovers.seconds
        assert max(takeovers.seconds) < PROMISED
        assert trial.problems() == []
