# SPDX-License-Identifier: Apache-2.0
"""What Heat's plugins get wrong is right here, by what stands beside them."""

from __future__ import annotations

import pytest

from tests.cloud.conftest import Stack
from tests.cloud.test_server import web
from tests.cloud.world import servers_of

SUBNET = {name: each for name, each in web({}).items() if name in ("net", "subnet")}


@pytest.fixture(scope="module")
def of_administrators(login, run):
    """Return a heatconv-all that acts for an administrator."""
    auth = login.auth | {"user_id": login.operator.id}
    login.write(administrators={"auth": auth, "region_name": login.admin.config.region_name})
    process = run("administrators")
    yield process.wait_for(r"heatconv is up: (\S+)")[1]
    assert "Traceback" not in process.output


def test_an_instance_on_a_subnet_is_deleted_by_an_ordinary_user(stack, cloud, smallest):
    instance = {
        "type": "AWS::EC2::Instance",
        "properties": {
            "ImageId": smallest["image"],
            "InstanceType": smallest["flavor"],
            "SubnetId": {"get_resource": "subnet"},
        },
    }
    stack.create(SUBNET | {"instance": instance})
    assert [server.id for server in servers_of(cloud)] == [stack.id_of("instance")]
    stack.update(SUBNET)
    assert servers_of(cloud) == []
    assert [each.device_owner for each in cloud.network.ports(network_id=stack.id_of("net"))] in (
        [],
        ["network:dhcp"],
    )


def test_a_domain_is_deleted_though_it_is_enabled(of_administrators, admin):
    stack = Stack(of_administrators)
    stack.create({"domain": {"type": "OS::Keystone::Domain"}})
    made = stack.id_of("domain")
    assert admin.identity.get_domain(made).is_enabled
    stack.delete()
    assert made not in [domain.id for domain in admin.identity.domains()]


def test_the_image_of_a_snapshot_goes_with_it(stack, cloud, smallest):
    stack.create(web(smallest))
    own = {"owner": cloud.current_project_id, "visibility": "private"}
    stack.client.create_snapshot(stack.name)
    stack.wait_for("SNAPSHOT_COMPLETE")
    (image,) = cloud.image.images(**own)
    assert image.status == "active"
    (snapshot,) = stack.client.list_snapshots(stack.name)
    stack.client.delete_snapshot(stack.name, snapshot["id"])
    assert list(cloud.image.images(**own)) == []


def test_a_server_that_names_no_network_gets_the_only_one(stack, cloud, smallest):
    server = {"type": "OS::Nova::Server", "depends_on": "subnet", "properties": smallest}
    stack.create(SUBNET | {"server": server})
    (made,) = servers_of(cloud)
    assert (made.id, made.status) == (stack.id_of("server"), "ACTIVE")
    (port,) = cloud.network.ports(device_id=made.id)
    assert port.network_id == stack.id_of("net")


def test_a_server_that_names_no_network_gets_none_where_there_is_none(stack, cloud, smallest):
    stack.create({"server": {"type": "OS::Nova::Server", "properties": smallest}})
    (made,) = servers_of(cloud)
    assert (made.id, made.status) == (stack.id_of("server"), "ACTIVE")
    assert list(cloud.network.ports(device_id=made.id)) == []
