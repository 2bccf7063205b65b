# SPDX-License-Identifier: Apache-2.0
"""SIGHUP: a daemon reads its configuration again and goes on as it was."""

from __future__ import annotations

import signal
from contextlib import closing

from heatconv.testing.templates import Template, thing
from tests.chaos.trial import Trial


def test_daemons_take_up_a_changed_option_without_a_restart_and_survive_a_broken_file(
    run_daemons, fresh_database, rabbit_url
):
    daemons = run_daemons(
        database_url=fresh_database("postgresql"), transport_url=rabbit_url, engines=1, workers=1
    )
    daemons.config_file.write_text("[DEFAULT\n")
    for process in daemons.processes.values():
        process.send(signal.SIGHUP)
    for process in daemons.processes.values():
        process.wait_for(r"the configuration cannot be read: .*Invalid section")
    daemons.configure(debug=True)
    for process in daemons.processes.values():
        process.send(signal.SIGHUP)
    for process in daemons.processes.values():
        process.wait_for(r"Option DEFAULT.debug changed from \[\w+\] to \[True\]")

    with closing(Trial(daemons, "reloaded", Template(A=thing("a")))) as trial:
        trial.create()
        trial.arrive()
    assert all(process.running for process in daemons.processes.values())
