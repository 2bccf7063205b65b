# SPDX-License-Identifier: Apache-2.0
"""All of heatconv dies at once, and is started again: as after a power failure of the whole site."""

from __future__ import annotations

import signal
import time
from contextlib import closing

import pytest

from tests.chaos.trial import Trial, layered

WIDTH, DEPTH = 100, 3


@pytest.mark.timeout(0)
@pytest.mark.parametrize("kind", ["postgresql", "mariadb"])
def test_a_create_survives_the_death_of_everything(run_daemons, fresh_database, rabbit_url, add_line, kind):
    daemons = run_daemons(database_url=fresh_database(kind), transport_url=rabbit_url, pace={})
    with closing(Trial(daemons, "all", layered(WIDTH, DEPTH, wait=3))) as trial:
        trial.create()
        trial.wait_until_made(WIDTH * DEPTH // 2)
        names = [*daemons.processes]
        for name in names:
            daemons.processes[name].send(signal.SIGKILL)
        for name in names:
            daemons.kill(name)
        died = time.monotonic()
        done = trial.created().total()
        for name in names:
            daemons.start(name)
        trial.arrive()
        add_line(
            f"{kind}: everything killed when {done} of {len(trial.template)} were made:"
            f" CREATE_COMPLETE {time.monotonic() - died:.0f} s later, {trial.created().total()} made in all"
        )
        assert done < len(trial.template)
        assert trial.problems() == []
        assert trial.created().total() == len(trial.template)
