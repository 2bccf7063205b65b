# SPDX-License-Identifier: Apache-2.0
"""What the services depend on, and no reference tells: in which order things are made and deleted."""

from __future__ import annotations

import pytest

from tests.cloud.world import servers_of


def resource(kind, **properties):
    return {"type": kind, "properties": properties}


@pytest.fixture(scope="module")
def outside(cloud):
    """Return the name of an external network."""
    found = [each.name for each in cloud.network.networks(is_router_external=True)]
    assert found, "the cloud has no external network"
    return found[0]


def reachable(smallest, outside):
    """Return the resources of a server with a floating address, not one ``depends_on`` among them."""
    ref = {name: {"get_resource": name} for name in ("net", "subnet", "router", "port", "group", "volume")}
    return {
        "net": {"type": "OS::Neutron::Net"},
        "subnet": resource("OS::Neutron::Subnet", network=ref["net"], cidr="10.9.0.0/24"),
        "router": resource("OS::Neutron::Router", external_gateway_info={"network": outside}),
        "interface": resource("OS::Neutron::RouterInterface", router=ref["router"], subnet=ref["subnet"]),
        "group": resource(
            "OS::Neutron::SecurityGroup",
            rules=[{"protocol": "tcp", "port_range_min": 22, "port_range_max": 22}],
        ),
        "port": resource("OS::Neutron::Port", network=ref["net"], security_groups=[ref["group"]]),
        "server": resource("OS::Nova::Server", **smallest, networks=[{"port": ref["port"]}]),
        "second": resource(
            "OS::Nova::Server", **smallest, networks=[{"network": {"get_attr": ["net", "name"]}}]
        ),
        "address": resource("OS::Neutron::FloatingIP", floating_network=outside, port_id=ref["port"]),
        "volume": resource("OS::Cinder::Volume", size=1),
        "disk": resource(
            "OS::Cinder::VolumeAttachment",
            instance_uuid={"get_resource": "server"},
            volume_id=ref["volume"],
        ),
    }


OUTPUTS = {
    "address": {"get_attr": ["port", "fixed_ips", 0, "ip_address"]},
    "addresses": {"get_attr": ["server", "addresses"]},
    "consoles": {"get_attr": ["server", "console_urls"]},
    "all": {"get_attr": ["server"]},
    "show": {"get_attr": ["server", "show"]},
}


def test_what_depends_is_made_after_and_deleted_before(stack, cloud, smallest, outside):
    stack.create(reachable(smallest, outside), {"reached": {"get_attr": ["address", "floating_ip_address"]}})

    made = stack.order("CREATE_COMPLETE")
    for first, then in [
        ("subnet", "port"),
        ("subnet", "second"),
        ("interface", "address"),
        ("port", "server"),
        ("server", "disk"),
    ]:
        assert made.index(first) < made.index(then)
    assert {each.status for each in servers_of(cloud)} == {"ACTIVE"}
    (volume,) = cloud.block_storage.volumes()
    assert [each["server_id"] for each in volume.attachments] == [stack.id_of("server")]
    reached = cloud.network.ips(floating_ip_address=stack.output("reached"))
    assert [each.port_id for each in reached] == [stack.id_of("port")]

    stack.delete()
    gone = stack.order("DELETE_COMPLETE")
    assert gone.index("address") < gone.index("interface") < gone.index("router")
    assert gone.index("port") < gone.index("subnet") < gone.index("net")


def test_attributes_are_plain_data_whatever_a_client_makes_of_them(stack, smallest, outside):
    """Consoles are asked for when they are read, and refused by a cloud that has none."""
    resources = reachable(smallest, outside)
    stack.create({name: resources[name] for name in ("net", "subnet", "group", "port", "server")}, OUTPUTS)
    addresses = [each for net in stack.output("addresses").values() for each in net]
    assert stack.output("address") in {each["addr"] for each in addresses}
    assert "novnc" in stack.output("consoles")
    assert stack.output("show")["status"] == "ACTIVE"
    assert stack.output("all")["name"] == stack.output("show")["name"]
