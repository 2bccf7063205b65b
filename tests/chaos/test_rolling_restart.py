# SPDX-License-Identifier: Apache-2.0
"""An operator restarts every daemon, one after the other, and no user notices."""

from __future__ import annotations

import time

import pytest

from tests.chaos.users import Users

ROUNDS = 2
REQUESTS = 10  #: that are answered between two restarts


@pytest.mark.timeout(0)
def test_nobody_notices_that_every_daemon_is_restarted(run_daemons, fresh_database, rabbit_url, add_line):
    url = fresh_database("postgresql")
    daemons = run_daemons(database_url=url, transport_url=rabbit_url, pace={})
    users = Users(daemons)
    seconds: dict[str, float] = {}
    with users.at_work():
        for name in [*daemons.processes] * ROUNDS:
            users.wait_for(REQUESTS)
            begun = time.monotonic()
            assert daemons.processes[name].stop() == 0, f"{name} had to be killed"
            kind = name.partition("-")[0]
            seconds[kind] = max(seconds.get(kind, 0.0), time.monotonic() - begun)
            daemons.start(name)
            daemons.await_up(name)
        users.wait_for(REQUESTS)
    problems = users.problems()
    add_line(
        f"{len(daemons.processes) * ROUNDS} restarts during {users.counts['answered']} requests for"
        f" {len(users.trials)} stacks ({users.counts['not answered']} found no API): {len(problems)} wrong;"
        f" the longest until SIGTERM had ended a daemon: "
        + ", ".join(f"{kind} {longest:.1f} s" for kind, longest in seconds.items())
    )
    assert problems == []
