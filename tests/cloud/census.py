# SPDX-License-Identifier: Apache-2.0
"""What a project really has, by the services' own listings, beside what stacks were to have.

Every object's name begins with those of its stack and its resource, ``STACK-RESOURCE-``; an
interface has no name, and goes by that of its router.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.cloud.wishes import Resources
from tests.cloud.world import servers_of

Place = tuple[str, str]  #: the names of a stack and of a resource in it

INTERFACE = "network:router_interface"  #: whose port it is


@dataclass(frozen=True)
class Found:
    """An object as its service lists it; ``looks`` are shaped as the properties of a template."""

    kind: str
    id: str
    name: str
    looks: Mapping[str, Any]

    @property
    def place(self) -> Place:
        """The stack and the resource whose object it says that it is."""
        stack, _, rest = self.name.partition("-")
        return stack, rest.partition("-")[0]

    def __str__(self) -> str:
        return f"{self.kind} {self.name} ({self.id})"


def found(cloud: Any) -> list[Found]:
    """Return all that the project of a connection has, its default security group apart."""
    return [*_in_neutron(cloud), *_volumes(cloud), *_servers(cloud)]


def _in_neutron(cloud: Any) -> Iterator[Found]:
    project = {"project_id": cloud.current_project_id}
    for each in cloud.network.networks(**project):
        yield Found("OS::Neutron::Net", each.id, each.name, {"admin_state_up": each.is_admin_state_up})
    for each in cloud.network.subnets(**project):
        looks = {"network": each.network_id, "cidr": each.cidr, "enable_dhcp": each.is_dhcp_enabled}
        yield Found("OS::Neutron::Subnet", each.id, each.name, looks)
    for each in cloud.network.security_groups(**project):
        if each.name != "default":
            looks = {"description": each.description, "rules": [*_rules(each)]}
            yield Found("OS::Neutron::SecurityGroup", each.id, each.name, looks)
    routers = [*cloud.network.routers(**project)]
    for each in routers:
        yield Found("OS::Neutron::Router", each.id, each.name, {"admin_state_up": each.is_admin_state_up})
    names = {each.id: each.name for each in routers}
    for each in cloud.network.ports(**project):
        subnets = [{"subnet": address["subnet_id"]} for address in each.fixed_ips]
        if each.device_owner == INTERFACE:
            router = each.device_id
            stack = names.get(router, "").partition("-")[0]
            looks = {"router": router, "subnet": subnets[0]["subnet"]}
            yield Found("OS::Neutron::RouterInterface", each.id, f"{stack}-interface-", looks)
        else:
            looks = {
                "network": each.network_id,
                "fixed_ips": subnets,
                "security_groups": each.security_group_ids,
                "admin_state_up": each.is_admin_state_up,
            }
            yield Found("OS::Neutron::Port", each.id, each.name, looks)


def _rules(group: Any) -> Iterator[dict[str, Any]]:
    for each in group.security_group_rules:
        if each["direction"] == "ingress":
            yield {name: each[name] for name in ("protocol", "port_range_min", "port_range_max")}


def _volumes(cloud: Any) -> Iterator[Found]:
    for each in cloud.block_storage.volumes():
        looks = {"size": each.size, "metadata": each.metadata, "status": each.status}
        yield Found("OS::Cinder::Volume", each.id, each.name, looks)


def _servers(cloud: Any) -> Iterator[Found]:
    for each in servers_of(cloud):
        ports = cloud.network.ports(device_id=each.id)
        looks = {
            "flavor": each.flavor["original_name"],
            "metadata": each.metadata,
            "networks": [{"port": port.id} for port in ports],
            "status": each.status,
        }
        yield Found("OS::Nova::Server", each.id, each.name, looks)


# -- beside what was to be ------------------------------------------------------------------------

#: What is no property, and has to be so of everything that is there.
WELL = {"OS::Cinder::Volume": {"status": "available"}, "OS::Nova::Server": {"status": "ACTIVE"}}


def differences(wanted: Mapping[str, Resources], there: Sequence[Found]) -> Iterator[str]:
    """Yield what is wrong with a project, given what each stack is to have."""
    by_place: dict[tuple[str, Place], list[Found]] = defaultdict(list)
    for each in there:
        by_place[each.kind, each.place].append(each)
    for stack, resources in wanted.items():
        ids = {
            name: [each.id for each in by_place[resource["type"], (stack, name)]]
            for name, resource in resources.items()
        }
        for name, resource in resources.items():
            objects = by_place.pop((resource["type"], (stack, name)), [])
            if len(objects) != 1:
                yield f"{stack}/{name}: there are {len(objects)}: {', '.join(map(str, objects))}"
            for each in objects:
                yield from _compared(each, resource, ids)
    for left in by_place.values():
        for each in left:
            yield f"{each} is left behind"


def _compared(thing: Found, resource: Mapping[str, Any], ids: Mapping[str, list[str]]) -> Iterator[str]:
    properties = _resolved(resource["properties"], ids)
    if thing.name != properties.get("name", thing.name):
        yield f"{thing} was to be named {properties['name']}"
    for name, value in {**WELL.get(thing.kind, {}), **properties}.items():
        if name in thing.looks and thing.looks[name] != value:
            yield f"{thing} has {name} = {thing.looks[name]} and was to have {value}"


def _resolved(value: Any, ids: Mapping[str, list[str]]) -> Any:
    """Return a property with the ids of the objects that it refers to, if there is one of each."""
    match value:
        case {"get_resource": name}:
            return ids[name][0] if len(ids[name]) == 1 else f"one of {ids[name]}"
        case dict():
            return {key: _resolved(each, ids) for key, each in value.items()}
        case list():
            return [_resolved(each, ids) for each in value]
    return value
