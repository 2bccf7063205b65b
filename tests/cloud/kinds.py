# SPDX-License-Identifier: Apache-2.0
"""The types that are made exactly once: how one is made, what may change of it, and who lists it.

``KINDS`` is by the names of the types; where one type is used in several manners,
what is meant follows the type.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from tests.cloud.world import LARGE, Listing, World, servers_of

Properties = Callable[[World], dict[str, Any]]

#: Public keys that nobody has the other half of.
KEY, OTHER_KEY = (
    f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKmxYj0eBRXuxwrqjOWLa8+gFKKUOCQSwsm0cTxS0{each}Z nobody"
    for each in ("PZ", "PY")
)


@dataclass(frozen=True, kw_only=True)
class Kind:
    """One type, in a world."""

    given: Properties  #: what it is made with
    listed: Listing  #: all of it that there is, as its service lists it
    removed: Callable[[World, str], object]  #: what somebody does who deletes one in the service
    changed: Properties | None = None  #: what an update gives that leaves it where it is
    replaced: Properties | None = None  #: what an update gives that needs another; None: being unhealthy does
    operators: bool = False  #: whether it takes an administrator
    is_seen: bool = True  #: whether a look at it finds that it is gone
    is_other: bool = True  #: whether one that replaces it has another id


def _nothing(_world: World) -> dict[str, Any]:
    return {}


def _always(**properties: Any) -> Properties:
    return lambda _world: dict(properties)


def _mine(world: World, things: Iterable[Any]) -> Iterable[Any]:
    """Return what has the world's name in its own: of what belongs to no project."""
    return [each for each in things if world.name in (each.name or "")]


def _plugged(world: World) -> Iterable[Any]:
    return list(world.cloud.network.ports(device_id=world.router))


def _gateways(world: World) -> Iterable[Any]:
    router = world.cloud.network.get_router(world.router)
    return [router] if router.external_gateway_info else []


def _led_to(world: World) -> Iterable[Any]:
    return [each for each in world.cloud.network.ips(**world.project) if each.port_id]


def _attached(world: World) -> Iterable[Any]:
    return [
        SimpleNamespace(id=f"{each['server_id']} {volume.id}")
        for volume in world.cloud.block_storage.volumes()
        for each in volume.attachments
    ]


def _rules(world: World) -> Iterable[Any]:
    return [
        each
        for each in world.cloud.network.security_group_rules(security_group_id=world.group)
        if each.direction == "ingress"
    ]


def _groups(world: World) -> Iterable[Any]:
    return [each for each in world.cloud.network.security_groups(**world.project) if each.name != "default"]


def _free_ports(world: World) -> Iterable[Any]:
    return [each for each in world.cloud.network.ports(**world.project) if not each.device_owner]


def _detach(world: World, attachment: str) -> None:
    server, volume = attachment.split()
    world.cloud.compute.delete_volume_attachment(server, volume)
    world.cloud.block_storage.wait_for_status(world.cloud.block_storage.get_volume(volume), "available")


def _delete_server(world: World, server: str) -> None:
    world.cloud.compute.delete_server(server)
    world.cloud.compute.wait_for_delete(world.cloud.compute.get_server(server))


def _delete_volume(world: World, volume: str) -> None:
    found = world.cloud.block_storage.get_volume(volume)
    world.cloud.block_storage.delete_volume(found)
    world.cloud.block_storage.wait_for_delete(found)


def _external(world: World) -> dict[str, Any]:
    return {"floating_network": world.outside}


def _server(world: World) -> dict[str, Any]:
    return {**world.smallest, "networks": [{"network": world.net}]}


def _in_default_domain(**more: Any) -> Properties:
    return _always(domain="default", **more)


KINDS: Mapping[str, Kind] = {
    "OS::Cinder::Volume": Kind(
        given=_always(size=1),
        changed=_always(size=2),
        listed=lambda world: world.cloud.block_storage.volumes(),
        removed=_delete_volume,
    ),
    "OS::Cinder::VolumeAttachment": Kind(
        given=lambda world: {"instance_uuid": world.servers[0], "volume_id": world.volumes[0]},
        changed=lambda world: {"volume_id": world.volumes[1]},
        listed=_attached,
        removed=_detach,
        is_other=False,
        is_seen=False,
    ),
    "OS::Cinder::VolumeType": Kind(
        given=lambda world: {"name": f"{world.name}-type"},
        changed=_always(metadata={"a": "b"}),
        listed=lambda world: _mine(world, world.admin.block_storage.types(is_public=None)),
        removed=lambda world, one: world.admin.block_storage.delete_type(one),
        operators=True,
    ),
    "OS::Keystone::Endpoint": Kind(
        given=lambda world: {
            "service": "placement",
            "interface": "public",
            "url": f"http://127.0.0.1:1/{world.name}",
        },
        changed=lambda world: {"url": f"http://127.0.0.1:2/{world.name}"},
        listed=lambda world: [each for each in world.admin.identity.endpoints() if world.name in each.url],
        removed=lambda world, one: world.admin.identity.delete_endpoint(one),
        operators=True,
    ),
    "OS::Keystone::Group": Kind(
        given=_in_default_domain(),
        changed=_always(description="changed"),
        listed=lambda world: _mine(world, world.admin.identity.groups()),
        removed=lambda world, one: world.admin.identity.delete_group(one),
        operators=True,
    ),
    "OS::Keystone::Project": Kind(
        given=_in_default_domain(),
        changed=_always(description="changed"),
        listed=lambda world: _mine(world, world.admin.identity.projects()),
        removed=lambda world, one: world.admin.identity.delete_project(one),
        operators=True,
    ),
    "OS::Keystone::Role": Kind(
        given=_nothing,
        changed=lambda world: {"name": f"{world.name}-renamed"},
        listed=lambda world: _mine(world, world.admin.identity.roles()),
        removed=lambda world, one: world.admin.identity.delete_role(one),
        operators=True,
    ),
    "OS::Keystone::User": Kind(
        given=_in_default_domain(password="no-secret"),
        changed=_always(description="changed"),
        listed=lambda world: _mine(world, world.admin.identity.users()),
        removed=lambda world, one: world.admin.identity.delete_user(one),
        operators=True,
    ),
    "OS::Neutron::AddressScope": Kind(
        given=_always(ip_version=4),
        changed=lambda world: {"name": f"{world.name}-renamed"},
        replaced=_always(ip_version=6),
        listed=lambda world: world.cloud.network.address_scopes(**world.project),
        removed=lambda world, one: world.cloud.network.delete_address_scope(one),
    ),
    "OS::Neutron::FloatingIP": Kind(
        given=_external,
        changed=lambda world: {"port_id": world.ports[0]},
        listed=lambda world: world.cloud.network.ips(**world.project),
        removed=lambda world, one: world.cloud.network.delete_ip(one),
    ),
    "OS::Neutron::FloatingIP with a port": Kind(
        given=lambda world: {**_external(world), "port_id": world.ports[0]},
        changed=lambda world: {"port_id": world.ports[1]},
        listed=lambda world: world.cloud.network.ips(**world.project),
        removed=lambda world, one: world.cloud.network.delete_ip(one),
    ),
    "OS::Neutron::FloatingIPAssociation": Kind(
        given=lambda world: {"floatingip_id": world.address, "port_id": world.ports[0]},
        changed=lambda world: {"port_id": world.ports[1]},
        listed=_led_to,
        removed=lambda world, one: world.cloud.network.update_ip(one, port_id=None),
        is_other=False,
        is_seen=False,
    ),
    "OS::Neutron::Net": Kind(
        given=_nothing,
        changed=_always(tags=["a"]),
        listed=lambda world: world.cloud.network.networks(**world.project),
        removed=lambda world, one: world.cloud.network.delete_network(one),
    ),
    "OS::Neutron::Port": Kind(
        given=lambda world: {"network": world.net, "fixed_ips": [{"subnet": world.subnets[0]}]},
        changed=_always(tags=["a"]),
        listed=_free_ports,
        removed=lambda world, one: world.cloud.network.delete_port(one),
    ),
    "OS::Neutron::ProviderNet": Kind(
        given=_always(network_type="vxlan"),
        changed=_always(admin_state_up=False),
        listed=lambda world: world.admin.network.networks(**world.project),
        removed=lambda world, one: world.admin.network.delete_network(one),
        operators=True,
    ),
    "OS::Neutron::QoSPolicy": Kind(
        given=_nothing,
        changed=_always(description="changed"),
        listed=lambda world: world.admin.network.qos_policies(**world.project),
        removed=lambda world, one: world.admin.network.delete_qos_policy(one),
        operators=True,
    ),
    "OS::Neutron::Router": Kind(
        given=_nothing,
        changed=lambda world: {"external_gateway_info": {"network": world.outside}},
        listed=lambda world: world.cloud.network.routers(**world.project),
        removed=lambda world, one: world.cloud.network.delete_router(one),
    ),
    "OS::Neutron::RouterGateway": Kind(
        given=lambda world: {"router_id": world.router, "network": world.outside},
        listed=_gateways,
        removed=lambda world, one: world.cloud.network.update_router(one, external_gateway_info={}),
        is_other=False,
        is_seen=False,
    ),
    "OS::Neutron::RouterInterface": Kind(
        given=lambda world: {"router": world.router, "port": {"get_resource": "own"}},
        listed=_plugged,
        removed=lambda world, one: world.cloud.network.remove_interface_from_router(
            world.router, port_id=one
        ),
        is_seen=False,
    ),
    "OS::Neutron::RouterInterface in a subnet": Kind(
        given=lambda world: {"router": world.router, "subnet": world.subnets[1]},
        listed=_plugged,
        removed=lambda world, one: world.cloud.network.remove_interface_from_router(
            world.router, port_id=one
        ),
        is_seen=False,
    ),
    "OS::Neutron::SecurityGroup": Kind(
        given=_always(rules=[{"protocol": "tcp", "port_range_min": 22, "port_range_max": 22}]),
        changed=_always(rules=[{"protocol": "tcp", "port_range_min": 23, "port_range_max": 23}]),
        listed=_groups,
        removed=lambda world, one: world.cloud.network.delete_security_group(one),
    ),
    "OS::Neutron::SecurityGroupRule": Kind(
        given=lambda world: {"security_group": world.group, "protocol": "icmp"},
        replaced=_always(protocol="udp"),
        listed=_rules,
        removed=lambda world, one: world.cloud.network.delete_security_group_rule(one),
    ),
    "OS::Neutron::Subnet": Kind(
        given=lambda world: {"network": world.net, "cidr": "10.30.0.0/24"},
        changed=_always(dns_nameservers=["10.30.0.9"]),
        replaced=_always(cidr="10.31.0.0/24"),
        listed=lambda world: world.cloud.network.subnets(**world.project),
        removed=lambda world, one: world.cloud.network.delete_subnet(one),
    ),
    "OS::Neutron::SubnetPool": Kind(
        given=_always(prefixes=["10.77.0.0/16"]),
        changed=_always(default_prefixlen=26),
        listed=lambda world: world.cloud.network.subnet_pools(**world.project),
        removed=lambda world, one: world.cloud.network.delete_subnet_pool(one),
    ),
    "OS::Neutron::Trunk": Kind(
        given=lambda world: {"port": world.ports[0]},
        changed=_always(description="changed"),
        listed=lambda world: world.cloud.network.trunks(**world.project),
        removed=lambda world, one: world.cloud.network.delete_trunk(one),
    ),
    "OS::Nova::Flavor": Kind(
        given=_always(ram=LARGE, vcpus=1, disk=1),
        changed=_always(extra_specs={"a": "b"}),
        replaced=_always(ram=LARGE + 1),
        listed=lambda world: _mine(world, world.admin.compute.flavors(is_public=None)),
        removed=lambda world, one: world.admin.compute.delete_flavor(one),
        operators=True,
    ),
    "OS::Nova::KeyPair": Kind(
        given=lambda world: {"name": f"{world.name}-key", "public_key": KEY},
        replaced=lambda world: {"name": f"{world.name}-other"},
        listed=lambda world: world.cloud.compute.keypairs(),
        removed=lambda world, one: world.cloud.compute.delete_keypair(one),
    ),
    "OS::Nova::Server": Kind(
        given=_server,
        changed=_always(metadata={"a": "b"}),
        listed=lambda world: servers_of(world.cloud),
        removed=_delete_server,
    ),
    "OS::Nova::Server that is resized": Kind(
        given=_server,
        changed=lambda world: {"flavor": world.flavors[1]},
        listed=lambda world: servers_of(world.cloud),
        removed=_delete_server,
    ),
    "OS::Nova::ServerGroup": Kind(
        given=_always(policies=["affinity"]),
        replaced=_always(policies=["anti-affinity"]),
        listed=lambda world: world.cloud.compute.server_groups(),
        removed=lambda world, one: world.cloud.compute.delete_server_group(one),
    ),
}


def resources(kind: str, world: World, change: Properties | None = None) -> dict[str, Any]:
    """Return the resources of a stack that has one of a kind, ``it``, with some of its properties changed."""
    properties = KINDS[kind].given(world) | (change(world) if change else {})
    made: dict[str, Any] = {"it": {"type": kind.split(maxsplit=1)[0], "properties": properties}}
    if {"get_resource": "own"} in properties.values():
        fixed = [{"subnet": world.subnets[1]}]
        port = {"network": world.net, "fixed_ips": fixed}
        made["own"] = {"type": "OS::Neutron::Port", "properties": port}
    return made
