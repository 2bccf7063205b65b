# SPDX-License-Identifier: Apache-2.0
"""What it costs the services that many are waited for, and looked at: their calls are counted on the way."""

from __future__ import annotations

import time

import pytest

from tests.cloud.counting_proxy import CountingProxy
from tests.cloud.test_observing import looked_at

HUNDRED = 100
SHOWS = "GET nova servers"
LISTS = "GET nova servers/detail"


@pytest.fixture(scope="module")
def way(login, admin):
    """Return a way to the cloud that counts what goes by it."""
    made = CountingProxy()
    auth = login.auth | {"auth_url": made.leading_to(login.auth["auth_url"])}
    login.write(counted={"auth": auth, "region_name": admin.config.region_name})
    yield made
    made.close()


@pytest.fixture(scope="module")
def service(way, run):
    """Return a heatconv-all that goes by that way."""
    process = run("counted")
    process.endpoint = process.wait_for(r"heatconv is up: (\S+)")[1]
    yield process
    assert "Traceback" not in process.output


def test_servers_that_build_are_polled_together(stack, way, smallest):
    number = 8
    alone = {"networks": [{"allocate_network": "none"}]}
    template = {
        f"server-{place}": {"type": "OS::Nova::Server", "properties": {**smallest, **alone}}
        for place in range(number)
    }
    for act in (lambda: stack.create(template), stack.delete):
        began = time.monotonic()
        act()
        took, calls = time.monotonic() - began, way.counted(began)
        # Each is shown when it is seen to be done, and the last one is waited for by itself.
        assert calls[SHOWS] <= 3 * number + 10 + took / 10
        assert calls[LISTS] <= took + 2


def networks(number):
    """Return so many networks, each with a subnet and a port."""
    template: dict[str, dict] = {}
    for place in range(number):
        net = {"get_resource": f"net-{place}"}
        template |= {
            f"net-{place}": {"type": "OS::Neutron::Net", "properties": {"name": f"net-{place}"}},
            f"subnet-{place}": {
                "type": "OS::Neutron::Subnet",
                "properties": {"network": net, "cidr": f"10.20.{place}.0/24", "enable_dhcp": False},
            },
            f"port-{place}": {
                "type": "OS::Neutron::Port",
                "properties": {"network": net, "name": f"port-{place}"},
            },
        }
    return template


def test_a_look_at_many_costs_one_listing_of_each_kind(stack, way, cloud):
    stack.create(networks(12))
    began = time.monotonic()
    assert looked_at(stack) == set()
    assert way.counted(began) == {f"GET neutron {kind}": 1 for kind in ("networks", "subnets", "ports")}

    cloud.network.delete_port(stack.id_of("port-3"))
    cloud.network.update_port(stack.id_of("port-4"), name="altered")
    cloud.network.update_subnet(stack.id_of("subnet-5"), is_dhcp_enabled=True)
    assert looked_at(stack) == {"port-3", "port-4", "subnet-5"}

    stack.client.converge(stack.name)
    stack.wait_for("UPDATE_COMPLETE")
    assert looked_at(stack) == set()
    ports = cloud.network.ports(project_id=cloud.current_project_id)
    assert sorted(port.name for port in ports if port.name) == sorted(f"port-{place}" for place in range(12))
    assert cloud.network.get_subnet(stack.id_of("subnet-5")).is_dhcp_enabled is False


@pytest.mark.long
@pytest.mark.timeout(900)
def test_sixty_of_three_hundred_that_drifted_are_found_and_healed(stack, way, cloud, admin, login, add_line):
    admin.set_network_quotas(login.project.id, networks=-1, subnets=-1, ports=-1)
    stack.create(networks(HUNDRED))
    for place in range(20):
        cloud.network.delete_port(stack.id_of(f"port-{place}"))
        cloud.network.update_subnet(stack.id_of(f"subnet-{place + 20}"), is_dhcp_enabled=True)
        cloud.network.update_network(stack.id_of(f"net-{place + 40}"), name="altered")
    drifted = {
        *(f"port-{place}" for place in range(20)),
        *(f"subnet-{place + 20}" for place in range(20)),
        *(f"net-{place + 40}" for place in range(20)),
    }

    began = time.monotonic()
    assert looked_at(stack) == drifted
    calls = way.counted(began)
    add_line(f"a look at {3 * HUNDRED} objects, {len(drifted)} of which had drifted: {dict(calls)}")
    assert calls == {f"GET neutron {kind}": 1 for kind in ("networks", "subnets", "ports")}

    stack.client.converge(stack.name)
    stack.wait_for("UPDATE_COMPLETE")
    began = time.monotonic()
    assert looked_at(stack) == set()
    assert way.counted(began) == {f"GET neutron {kind}": 1 for kind in ("networks", "subnets", "ports")}
    project = cloud.current_project_id
    ports = [port.name for port in cloud.network.ports(project_id=project) if port.name]
    assert sorted(ports) == sorted(f"port-{place}" for place in range(HUNDRED))
    assert not any(subnet.is_dhcp_enabled for subnet in cloud.network.subnets(project_id=project))
    assert "altered" not in {net.name for net in cloud.network.networks(project_id=project)}
