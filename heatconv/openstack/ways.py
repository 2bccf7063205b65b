# SPDX-License-Identifier: Apache-2.0
"""Which types of a cloud can be searched, and by what: a table, and how the services list."""

from __future__ import annotations

import re  # noqa: TID251 - it only escapes, for a regular expression that Nova reads
from collections.abc import Callable, Collection, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from heatconv.openstack.existing import (
    ByMark,
    ByName,
    ByWhatItIs,
    Lists,
    Searchable,
    Thing,
    Way,
    first,
    is_free,
    mark,
)
from heatconv.openstack.stand_ins.resource import Resource


def searchable(type_name: str, plain: type[Resource]) -> type[Resource]:
    """Return a type whose objects of interrupted creates are found again, if there is a way."""
    way = WAYS.get(type_name)
    if way is None:
        return plain
    members = {"way": way, "__doc__": plain.__doc__, "__module__": plain.__module__}
    return type(plain.__name__, (Searchable, plain), members)


# -- values given, and objects there -----------------------------------------------------------


def _properties(plugin: Resource) -> Mapping[str, Any]:
    """Return the properties, with ids for names as far as the named things are there."""
    return dict(plugin.parse_properties(plugin.definition, lenient=True))


def _is_since(plugin: Resource, created: str | None) -> bool:
    """Tell whether a service made an object after a resource was begun, as far as seconds tell."""
    begun = plugin.created_time
    if created is None or begun is None:
        return False
    at = datetime.fromisoformat(created)
    at = at if at.tzinfo is None else at.astimezone(UTC).replace(tzinfo=None)
    return at >= begun.replace(microsecond=0, tzinfo=None)


# -- how services list -------------------------------------------------------------------------


def _neutron(plugin: Resource, collection: str, **filters: Any) -> list[dict[str, Any]]:
    answer: dict[str, list[dict[str, Any]]] = getattr(plugin.neutron(), f"list_{collection}")(**filters)
    return [thing for things in answer.values() for thing in things]


def _neutron_by(key: str, collection: str) -> Lists:
    def things(plugin: Resource, value: str | None) -> Iterator[Thing]:
        for each in _neutron(plugin, collection, **({} if value is None else {key: value})):
            yield Thing(each["id"], each.get("name"), each.get("description"))

    return things


def _managed(manager: str, filters: Callable[[str | None], dict[str, Any]]) -> Lists:
    """List by a manager of the client of Nova, Cinder or Keystone."""

    def things(plugin: Resource, name: str | None) -> Iterator[Thing]:
        for each in getattr(plugin.client(), manager).list(**filters(name)):
            yield Thing(str(each.id), getattr(each, "name", None), getattr(each, "description", None))

    return things


def _searching(name: str | None) -> dict[str, Any]:
    return {} if name is None else {"search_opts": {"name": name}}


def _matching(name: str | None) -> dict[str, Any]:
    """Search as Nova does: by a regular expression; its client lists no more than a page, unless asked to."""
    return {"limit": -1} if name is None else {"search_opts": {"name": f"^{re.escape(name)}$"}}


def _named(name: str | None) -> dict[str, Any]:
    return {} if name is None else {"name": name}


def _whether_public(_name: str | None) -> dict[str, Any]:
    return {"is_public": None}


def _everything(_name: str | None) -> dict[str, Any]:
    return {}


def _stacks(plugin: Resource, name: str | None) -> Iterator[Thing]:
    """List the stacks of a name where a remote one is."""
    for each in plugin.client().stacks.list(filters={} if name is None else {"name": name}):
        yield Thing(each.id, each.stack_name)


# -- objects that are one of a kind ------------------------------------------------------------


def _key_pair(plugin: Resource) -> str | None:
    """Find the key pair of a name, of which a user has but one, if it was not there before."""
    wanted = _properties(plugin)
    user = {"user_id": wanted["user"]} if wanted["user"] else {}
    for each in plugin.client().keypairs.list(**user):
        if each.name == wanted["name"]:
            # Only the answer about a single one has the time since which it is there.
            pair = plugin.client().keypairs.get(each.name, **user)
            same = wanted["public_key"] in (None, "", pair.public_key)
            return str(pair.id) if same and _is_since(plugin, pair.created_at) else None
    return None


def _rule(plugin: Resource) -> str | None:
    """Find a rule: by its mark, or as the one in its group that says the same, if it is new."""
    wanted = _properties(plugin)
    marked = is_free(plugin)
    description = mark(plugin) if marked else wanted["description"]
    rules = _neutron(
        plugin, "security_group_rules", security_group_id=wanted["security_group"], description=description
    )
    return first(
        Thing(each["id"])
        for each in rules
        if _is_since(plugin, each.get("created_at")) and (marked or _says(each, wanted))
    )


def _says(rule: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    theirs = {"remote_group": "remote_group_id"}
    same = ("direction", "ethertype", "protocol", "port_range_min", "port_range_max")
    compared = (*same, "remote_group", "remote_ip_prefix")
    return all(_text(rule.get(theirs.get(name, name))) == _text(wanted[name]) for name in compared)


def _text(value: Any) -> str:
    return "" if value is None else str(value).lower()


def _router_interface(plugin: Resource) -> str | None:
    """Find the interface of a router that has a port, or is in a subnet."""
    wanted = _properties(plugin)
    router, subnet, port = (wanted[name] for name in ("router", "subnet", "port"))
    plugged = [
        each
        for each in _neutron(plugin, "ports", device_id=router)
        if each["device_owner"].startswith("network:") and "gateway" not in each["device_owner"]
    ]
    if subnet:
        there = any(
            address["subnet_id"] == subnet and _is_since(plugin, each.get("created_at"))
            for each in plugged
            for address in each["fixed_ips"]
        )
        return f"{router}:subnet_id={subnet}" if there else None
    return f"{router}:port_id={port}" if any(each["id"] == port for each in plugged) else None


def _router_gateway(plugin: Resource) -> str | None:
    """Find a router whose gateway is in the network."""
    wanted = _properties(plugin)
    router, network = wanted["router_id"], wanted["network"]
    routers = _neutron(plugin, "routers", id=router)
    there = any((each.get("external_gateway_info") or {}).get("network_id") == network for each in routers)
    return f"{router}:{network}" if there else None


def _floating_ip_association(plugin: Resource) -> str | None:
    """Find a floating IP that leads to the port."""
    wanted = _properties(plugin)
    floating_ips = _neutron(plugin, "floatingips", id=wanted["floatingip_id"])
    return plugin.id if any(each["port_id"] == wanted["port_id"] for each in floating_ips) else None


def _server_association(plugin: Resource) -> str | None:
    """Find a floating IP that leads to a port of the server."""
    wanted = _properties(plugin)
    ports = {each["id"] for each in _neutron(plugin, "ports", device_id=wanted["server_id"])}
    floating_ips = _neutron(plugin, "floatingips", id=wanted["floating_ip"])
    return plugin.id if any(each["port_id"] in ports for each in floating_ips) else None


def _volume_attachment(plugin: Resource) -> str | None:
    """Find a volume at a server."""
    wanted = _properties(plugin)
    attached = plugin.nova().volumes.get_server_volumes(wanted["instance_uuid"])
    volume: str = wanted["volume_id"]
    return volume if any(each.volumeId == volume for each in attached) else None


def _in_neutron(kind: str, collection: str = "", more: Collection[str] = ("tags",)) -> ByName:
    """Return the way to objects of Neutron that have a name and a description."""
    return ByName(_neutron_by("name", collection or f"{kind}s"), creates=f"create_{kind}", more=more)


def _in_keystone(manager: str, more: Collection[str] = ()) -> ByName:
    """Return the way to objects of Keystone, which have no mark: a description that is not given is empty."""
    return ByName(_managed(manager, _named), more=more)


_FLOATING_IP = ByMark(_neutron_by("description", "floatingips"), creates="create_floatingip")

#: type -> how the object of an interrupted create is found again
WAYS: Mapping[str, Way] = {
    "OS::Cinder::Volume": ByName(
        _managed("volumes", _searching), creates="volumes.create", more=("backup_id",), waits_by="id"
    ),
    "OS::Cinder::VolumeAttachment": ByWhatItIs("server and volume", _volume_attachment, waits_by="volume_id"),
    "OS::Cinder::VolumeType": ByName(
        _managed("volume_types", _whether_public),
        creates="volume_types.create",
        more=("metadata", "projects"),
    ),
    "OS::Heat::Stack": ByName(_stacks),
    "OS::Keystone::Domain": _in_keystone("domains"),
    "OS::Keystone::Endpoint": ByName(_managed("endpoints", _everything)),
    "OS::Keystone::Group": _in_keystone("groups", more=("roles",)),
    "OS::Keystone::Project": _in_keystone("projects"),
    "OS::Keystone::Role": _in_keystone("roles"),
    "OS::Keystone::Service": _in_keystone("services"),
    "OS::Keystone::User": _in_keystone("users", more=("groups", "roles")),
    "OS::Neutron::AddressScope": ByName(_neutron_by("name", "address_scopes")),
    "OS::Neutron::FloatingIP": _FLOATING_IP,
    "OS::Neutron::FloatingIPAssociation": ByWhatItIs("floating IP and port", _floating_ip_association),
    "OS::Neutron::Net": _in_neutron("network", more=("tags", "dhcp_agent_ids")),
    "OS::Neutron::Port": _in_neutron("port"),
    "OS::Neutron::ProviderNet": _in_neutron("network"),
    "OS::Neutron::QoSPolicy": _in_neutron("qos_policy", "qos_policies"),
    "OS::Neutron::Router": _in_neutron("router", more=("tags", "l3_agent_id", "l3_agent_ids")),
    "OS::Neutron::RouterGateway": ByWhatItIs("router and network", _router_gateway),
    "OS::Neutron::RouterInterface": ByWhatItIs("router and subnet, or router and port", _router_interface),
    "OS::Neutron::SecurityGroup": _in_neutron("security_group", more=("rules",)),
    "OS::Neutron::SecurityGroupRule": ByWhatItIs(
        "description, or group and all that it says", _rule, creates="create_security_group_rule"
    ),
    "OS::Neutron::Subnet": _in_neutron("subnet"),
    "OS::Neutron::SubnetPool": _in_neutron("subnetpool"),
    "OS::Neutron::Trunk": _in_neutron("trunk"),
    "OS::Nova::Flavor": ByName(
        _managed("flavors", _whether_public),
        creates="flavors.create",
        more=("extra_specs", "tenants", "is_public"),
    ),
    "OS::Nova::FloatingIP": _FLOATING_IP,
    "OS::Nova::FloatingIPAssociation": ByWhatItIs("floating IP and server", _server_association),
    "OS::Nova::KeyPair": ByWhatItIs(
        "name, and since when it is there", _key_pair, more=("save_private_key",)
    ),
    "OS::Nova::Server": ByName(_managed("servers", _matching), creates="servers.create", waits_by="id"),
    "OS::Nova::ServerGroup": ByName(_managed("server_groups", _everything)),
}
