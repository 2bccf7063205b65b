# SPDX-License-Identifier: Apache-2.0
"""A worker is killed in the middle of what a plugin does that was written for Heat, whose tokens are lost."""

from __future__ import annotations

from contextlib import closing

import pytest

from heatconv.testing.simulated import PLUGIN_DIR
from heatconv.testing.templates import Template, thing
from tests.chaos.trial import Trial
from tests.functional.plugins.conftest import HERE, port

SEALED = Template(A=thing("a", type="My::Cloud::Sealed"))
RELIC = Template(A=thing("a", wait=1, type="My::Cloud::Relic"))


@pytest.fixture
def begun(run_daemons, fresh_database, rabbit_url, tmp_path):
    """Return a function that lets a stack of a template be created by one worker."""
    ported = tmp_path / "ported"
    ported.mkdir()
    for name in ("cloud_client", "appliance"):
        port(HERE / "heat" / f"{name}.py", ported)
    options = {"DEFAULT": {"plugin_dirs": f"{PLUGIN_DIR},{ported}"}}

    def begin(kind, template):
        servers = {"database_url": fresh_database(kind), "transport_url": rabbit_url}
        daemons = run_daemons(**servers, engines=1, workers=1, options=options)
        return daemons, Trial(daemons, "foreign", template)

    return begin


def is_known(trial):
    """Tell whether the physical id of the resource is kept."""
    return any(
        each["resource_name"] == "A" and each["physical_resource_id"]
        for each in trial.client.list_resources(trial.name)
    )


@pytest.mark.parametrize("kind", ["postgresql", "mariadb"])
def test_what_nobody_can_know_is_told_by_name(begun, kind):
    """The cloud makes what the dead worker asked for; nobody can search for it."""
    daemons, trial = begun(kind, SEALED)
    with closing(trial):
        trial.cloud.hold_after(0)
        trial.create()
        assert trial.cloud.wait_for(1, timeout=60)
        daemons.kill("worker-1")
        trial.cloud.release()
        trial.wait_until_made(1)
        daemons.start("worker-2")
        trial.arrive()

        (known,) = trial.client.list_resources(trial.name)
        made = trial.cloud.owned("foreign/")
        assert len(made) == 2
        (orphan,) = [each for each in made if each["id"] != known["physical_resource_id"]]
        reasons = [each["resource_status_reason"] for each in trial.client.list_events(trial.name)]
        assert [f'"{orphan["name"]}"' in each for each in reasons].count(True) == 1
        assert not trial.client.list_events(trial.name, {"resource_status": "FAILED"})


@pytest.mark.parametrize("kind", ["postgresql", "mariadb"])
def test_a_token_that_no_json_holds_is_lost_and_nothing_fails(begun, kind):
    """What is half made is undone and made anew."""
    daemons, trial = begun(kind, RELIC)
    with closing(trial):
        trial.create()
        trial.wait_until_made(1)
        while not is_known(trial):
            pass
        daemons.kill("worker-1")
        daemons.start("worker-2")
        trial.arrive()

        (made,) = trial.cloud.owned("foreign/")
        (known,) = trial.client.list_resources(trial.name)
        assert made["id"] == known["physical_resource_id"]
        assert (made["status"], made["properties"]["step"]) == ("ACTIVE", "attached")
        assert not trial.client.list_events(trial.name, {"resource_status": "FAILED"})
