# SPDX-License-Identifier: Apache-2.0
"""How somebody gets at their cloud."""

from __future__ import annotations

import subprocess

from tests.cloud.conftest import Stack
from tests.functional.servers.processes import program


def test_an_application_credential_will_do(login, cloud, run):
    credential = cloud.identity.create_application_credential(user=login.user.id, name="heatconv")
    login.write(
        credential={
            "auth_type": "v3applicationcredential",
            "auth": {
                "auth_url": login.admin.config.auth["auth_url"],
                "application_credential_id": credential.id,
                "application_credential_secret": credential.secret,
            },
            "region_name": login.admin.config.region_name,
        }
    )
    process = run("credential")
    stack = Stack(process.wait_for(r"heatconv is up: (\S+)")[1])
    stack.create({"net": {"type": "OS::Neutron::Net"}})
    assert cloud.network.get_network(stack.id_of("net")).project_id == login.project.id
    stack.delete()
    assert credential.secret not in process.output


def refusal_of(login, name, tmp_path):
    """Return what heatconv-all says of a cloud, instead of starting."""
    ended = subprocess.run(
        [program("heatconv-all"), "--port", "0", "--state-dir", str(tmp_path), "--os-cloud", name],
        env={"OS_CLIENT_CONFIG_FILE": str(login.clouds)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 1
    return ended.stderr


def test_a_cloud_that_is_not_described_is_told_at_the_start(login, tmp_path):
    said = refusal_of(login, "nowhere", tmp_path)
    assert said.startswith("heatconv-all: the cloud nowhere of clouds.yaml cannot be logged in to: ")
    assert len(said.splitlines()) == 1


def test_a_wrong_password_is_told_at_the_start(login, tmp_path):
    login.write(
        wrong={
            "auth": {
                "auth_url": login.admin.config.auth["auth_url"],
                "user_id": login.user.id,
                "password": "not-the-password",
                "project_id": login.project.id,
            }
        }
    )
    said = refusal_of(login, "wrong", tmp_path)
    assert said.startswith("heatconv-all: the cloud wrong of clouds.yaml cannot be logged in to: ")
    assert "not-the-password" not in said
    assert len(said.splitlines()) == 1
