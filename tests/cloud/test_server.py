# SPDX-License-Identifier: Apache-2.0
"""A network, a subnet, a port and a server by Heat's own plugins, through their lives."""

from __future__ import annotations


def web(smallest, *, port=None, **server):
    """Return the resources of a server with a port of its own."""
    return {
        "net": {"type": "OS::Neutron::Net"},
        "subnet": {
            "type": "OS::Neutron::Subnet",
            "properties": {"network": {"get_resource": "net"}, "cidr": "10.9.0.0/24"},
        },
        "port": {
            "type": "OS::Neutron::Port",
            "depends_on": "subnet",
            "properties": {"network": {"get_resource": "net"}, **(port or {})},
        },
        "server": {
            "type": "OS::Nova::Server",
            "properties": {**smallest, "networks": [{"port": {"get_resource": "port"}}], **server},
        },
    }


OUTPUTS = {
    "id": {"get_resource": "server"},
    "address": {"get_attr": ["port", "fixed_ips", 0, "ip_address"]},
    "first": {"get_attr": ["server", "first_address"]},
    "project": {"get_param": "OS::project_id"},
}


def test_a_server_is_made_changed_and_deleted(stack, cloud, smallest, larger):
    stack.create(web(smallest), OUTPUTS)
    server = cloud.compute.get_server(stack.output("id"))
    (port,) = cloud.network.ports(device_id=server.id)
    assert server.status == "ACTIVE"
    assert port.id == stack.id_of("port")
    assert port.fixed_ips[0]["ip_address"] == stack.output("address") == stack.output("first")
    assert stack.output("project") == cloud.current_project_id

    changed = web(smallest, port={"name": "renamed"}, flavor=larger, metadata={"role": "web"})
    stack.update(changed, OUTPUTS)
    after = cloud.compute.get_server(server.id)
    assert (after.status, after.flavor["original_name"], after.metadata) == (
        "ACTIVE",
        larger,
        {"role": "web"},
    )
    assert cloud.network.get_port(port.id).name == "renamed"
    assert stack.id_of("server") == server.id

    stack.delete()
    assert cloud.compute.find_server(server.id) is None


def test_a_mistake_is_told_before_anything_is_made(stack, smallest):
    said = stack.refusal(web(smallest | {"image": "no-such-image"}))
    assert "resources.server.properties.image" in said
    assert "no-such-image" in said


def test_what_a_service_refuses_is_told_in_its_words(stack):
    subnet = web({})["subnet"]
    overlapping = {"net": {"type": "OS::Neutron::Net"}, "subnet": subnet, "twin": subnet}
    stack.create(overlapping, until="CREATE_FAILED")
    assert "overlaps" in stack.reason()
