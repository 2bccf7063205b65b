# SPDX-License-Identifier: Apache-2.0
"""A worker whose machine stops for a while comes back to a world in which it counted as dead."""

from __future__ import annotations

import signal
import threading
from contextlib import closing

import pytest
import sqlalchemy as sa

from heatconv.db.plumbing.session import Database
from heatconv.db.tables import metadata
from heatconv.testing.keys import KEYRING
from heatconv.testing.templates import Template, thing
from tests.chaos.trial import Trial
from tests.functional.on_disk import on_disk

ONE_WAITS_ONE_IS_SENT = Template(A=thing("a", wait=2), B=thing("b", wait=2))


def everything(url):
    """Return the rows of the database, but for those of the heartbeats and of the purge's turn."""
    by_clock = {"service", "purge_turn"}
    with closing(Database.from_url(url, KEYRING)) as database, database.engine.connect() as connection:
        return {
            table.name: [
                tuple(row)
                for row in connection.execute(sa.select(on_disk(table)).order_by(*table.primary_key))
            ]
            for table in metadata.sorted_tables
            if table.name not in by_clock
        }


def is_alive(client, engine_id):
    return any(each["engine_id"] == engine_id and each["status"] == "up" for each in client.list_services())


@pytest.mark.parametrize("kind", ["postgresql", "mariadb"])
def test_a_worker_that_was_stopped_past_its_death_changes_nothing(
    run_daemons, fresh_database, rabbit_url, kind
):
    """It stops with one creation begun, and another asked of the cloud and not yet answered."""
    url = fresh_database(kind)
    daemons = run_daemons(database_url=url, transport_url=rabbit_url, engines=1, workers=1)
    trial = Trial(daemons, "paused", ONE_WAITS_ONE_IS_SENT)
    with closing(trial), closing(Trial(daemons, "next", Template(C=thing("c")))) as following:
        trial.cloud.hold_after(1)
        trial.create()
        assert trial.cloud.wait_for(2, timeout=60)
        paused = daemons.processes["worker-1"]
        paused.send(signal.SIGSTOP)
        trial.cloud.release()
        trial.wait_until_made(2)
        daemons.start("worker-2")
        trial.arrive()
        events = trial.client.list_events("paused")
        taken_over = {e["resource_name"] for e in events if "taken over" in e["resource_status_reason"]}
        assert taken_over == {"A", "B"}
        assert trial.problems() == []
        before = everything(url)

        daemons.kill("worker-2")
        paused.send(signal.SIGCONT)
        while not is_alive(trial.client, daemons.engine_id("worker-1")):
            threading.Event().wait(0.1)
        # It ends when whatever it was doing has ended.
        assert paused.stop() == 0

        assert everything(url) == before
        assert trial.problems() == []

        daemons.start("worker-1")
        following.create()
        following.arrive()
