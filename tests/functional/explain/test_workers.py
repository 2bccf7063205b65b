# SPDX-License-Identifier: Apache-2.0
"""What is said of stacks that wait for workers: for the first one, for another one, for a free one."""

from __future__ import annotations

import json
import subprocess
from contextlib import closing

import pytest

from heatconv.testing.templates import Template, thing
from tests.chaos.trial import Trial, layered
from tests.functional.servers.processes import program
from tests.functional.waiting import until


def waits_of(trial):
    return trial.client.explain_stack(trial.name)["waits"]


def is_worker(service):
    return service["binary"] == "heatconv-worker" and service["status"] == "up"


def the_wait(trial, cause, path):
    """Return what a resource waits for, once that is the first wait of a stack and has a cause."""

    def look():
        waits = waits_of(trial)
        return waits and (waits[0]["cause"], waits[0]["path"]) == (cause, path) and waits[0]

    return until(look, lambda: waits_of(trial))


@pytest.mark.parametrize("kind", ["postgresql", "mariadb"])
def test_no_worker_then_a_busy_one_then_a_dead_one(run_daemons, fresh_database, rabbit_url, kind):
    """The worker that dies is believed in for longer than the test looks: then a lock is as it left it."""
    daemons = run_daemons(
        database_url=fresh_database(kind),
        transport_url=rabbit_url,
        engines=1,
        workers=1,
        options={"DEFAULT": {"recovery_interval": 600}, "worker": {"threads": 1}},
    )
    first = Trial(daemons, "first", Template(A=thing("a")))
    with closing(first), closing(Trial(daemons, "second", layered(60, 1, wait=1))) as second:
        daemons.kill("worker-1")
        until(lambda: not [each for each in first.client.list_services() if is_worker(each)])
        first.create()
        wait = the_wait(first, "NO_WORKER", "A")
        assert "heatconv-worker" in wait["advice"]

        first.cloud.hold_after(0)
        daemons.start("worker-2")
        assert first.cloud.wait_for(1, timeout=60)
        assert the_wait(first, "BEGINNING", "A")["worker"] == daemons.engine_id("worker-2")
        second.create()
        waits = until(
            lambda: [w for w in waits_of(second) if w["cause"] == "QUEUE"], lambda: waits_of(second)
        )
        assert "the workers (1)" in waits[0]["sentence"]
        assert waits[0]["worker"] is None

        daemons.kill("worker-2")
        wait = the_wait(first, "DEAD_WORKER", "A")
        assert wait["worker"] == daemons.engine_id("worker-2")
        assert "heatconv-worker" in wait["advice"]
        command = [program("heatconv-manage"), "--config-file", daemons.config_file, "explain"]
        stack_id = first.client.show_stack("first")["id"]
        printed = subprocess.run([*command, stack_id], capture_output=True, text=True, check=True).stdout
        assert [(each["path"], each["cause"]) for each in json.loads(printed)["waits"]] == [
            ("A", "DEAD_WORKER")
        ]
