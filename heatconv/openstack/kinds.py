# SPDX-License-Identifier: Apache-2.0
"""The properties that services list of many objects at once, kind by kind, and how each service lists.

Of each type of resource that is in it: how its objects are listed, in which
states an action on one goes on, and which properties have drifted if they are
not as they were given.  Volatile properties are not among these.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from heatconv.model.states import Action
from heatconv.openstack.listings import Found
from heatconv.openstack.stand_ins.resource import Resource

PAGE = 1000  #: objects in one answer, if the service gives as many
IDS = 150  #: ids in one question: more do not go into an address that every proxy takes

_NOT_LISTED = object()

Lists = Callable[[Resource, list[str], str | None], Iterator[list[Found]]]
"""Lists what there may be of some ids, for a resource's user: with a state, what is in that state."""


def _always(_token: Any) -> bool:
    return True


@dataclass(frozen=True)
class Going:
    """An action that goes on as long as its object is listed in one of some states."""

    states: Collection[str]
    only_waits: Callable[[Any], bool] = _always  #: by its token, whether nothing else is to be done
    takes_time: bool = True  #: whether it is no use to look as soon as it has begun


@dataclass(frozen=True)
class Kind:
    """Objects that a service lists."""

    name: str
    lists: Lists
    going: Mapping[str, Going] = field(default_factory=dict)
    #: property -> the key that it is listed under, or a function that finds its value
    comparable: Mapping[str, str | Callable[[Found], Any]] = field(default_factory=dict)
    thing: Callable[[Resource], str | None] = lambda plugin: plugin.resource_id  #: whose id is listed
    looks: Lists | None = None  #: lists what is compared, if that takes more than to see its state
    asks_by_id: bool = False  #: whether what its lists lack was asked for by its id, and so is not there

    def reads(self, found: Found) -> dict[str, Any]:
        """Return the properties as they are listed; one that is not, or not in full, is left out."""
        read = {
            name: key(found) if callable(key) else found.get(key, _NOT_LISTED)
            for name, key in self.comparable.items()
        }
        return {name: value for name, value in read.items() if value is not _NOT_LISTED}


@dataclass(frozen=True)
class Either:
    """A value that a user may give by any of some words, such as the id and the name of a flavor."""

    words: tuple[Any, ...]

    def fits(self, wanted: Any) -> bool:
        """Tell whether a value is one of the words."""
        return wanted in self.words


# -- how services list -------------------------------------------------------------------------


def _in_neutron(collection: str) -> Lists:
    def lists(plugin: Resource, ids: list[str], _state: str | None) -> Iterator[list[Found]]:
        """List some objects by their ids; of more, the objects of the project, and then those of others."""
        client, left = plugin.neutron(), set(ids)
        ask = getattr(client, f"list_{collection}")
        if len(ids) > IDS:
            for page in ask(retrieve_all=False, limit=PAGE, tenant_id=plugin.context.tenant_id):
                found = _values(page)
                left -= {each["id"] for each in found}
                yield found
        for some in _parts(sorted(left), IDS):
            yield _values(ask(id=some))

    return lists


def _parts(whole: list[Any], size: int) -> Iterator[list[Any]]:
    for start in range(0, len(whole), size):
        yield whole[start : start + size]


def _values(answer: Mapping[str, Any]) -> list[Found]:
    """Return the list in an answer, which may have links beside it."""
    return next(value for name, value in answer.items() if not name.endswith("_links"))


def _servers(plugin: Resource, _ids: list[str], state: str | None) -> Iterator[list[Found]]:
    """List the servers of the project; Nova's client would take a call more, to see that it ends."""
    query = f"/servers/detail?limit={PAGE}" + (f"&status={state}" if state else "")
    marker = ""
    while True:
        _, answer = plugin.nova().client.get(query + marker)
        yield answer["servers"]
        if not any(link["rel"] == "next" for link in answer.get("servers_links", ())):
            return
        marker = f"&marker={answer['servers'][-1]['id']}"


def _servers_and_flavors(plugin: Resource, ids: list[str], state: str | None) -> Iterator[list[Found]]:
    """List the servers, of which Nova lists the flavor's name alone, with the flavors' ids."""
    flavors: dict[str, str] = {}
    for page in _servers(plugin, ids, state):
        if not flavors and any("id" not in server["flavor"] for server in page):
            flavors = {each.name: each.id for each in plugin.nova().flavors.list(is_public=None)}
        yield [
            {
                **server,
                "flavor": {"id": flavors.get(server["flavor"].get("original_name")), **server["flavor"]},
            }
            for server in page
        ]


def _volumes(plugin: Resource, _ids: list[str], _state: str | None) -> Iterator[list[Found]]:
    """List the volumes of the project; Cinder's client goes on from page to page by itself."""
    volumes = [each.to_dict() for each in plugin.cinder().volumes.list(limit=None)]
    yield from _parts(volumes, PAGE)


def _managed(manager: str, key: str = "id") -> Lists:
    def lists(plugin: Resource, _ids: list[str], _state: str | None) -> Iterator[list[Found]]:
        yield [
            each.to_dict() | {"id": str(getattr(each, key))}
            for each in getattr(plugin.nova(), manager).list()
        ]

    return lists


# -- reading a listed object ---------------------------------------------------------------------


def _flavor(server: Found) -> Any:
    words = server["flavor"].get("id"), server["flavor"].get("original_name")
    return _NOT_LISTED if None in words else Either(words)


def _same(*names: str, **others: str) -> dict[str, str | Callable[[Found], Any]]:
    return {**{name: name for name in names}, **others}


_BUILD = Going({"BUILD"}, takes_time=False)
_STATES = {
    "ACTIVE",
    "BUILD",
    "PAUSED",
    "RESIZE",
    "SHELVED_OFFLOADED",
    "SHUTOFF",
    "SUSPENDED",
    "VERIFY_RESIZE",
}


def _neutron(collection: str, *same: str, builds: bool = False, **renamed: str) -> Kind:
    return Kind(
        collection,
        _in_neutron(collection),
        going={Action.CREATE: _BUILD} if builds else {},
        comparable=_same(*same, **renamed),
        asks_by_id=True,
    )


_NETWORK = ("name", "admin_state_up", "shared", "port_security_enabled", "tags")

#: type -> how its service lists many
KINDS: Mapping[str, Kind] = {
    "OS::Cinder::Volume": Kind(
        "volumes",
        _volumes,
        going={
            Action.CREATE: Going({"creating", "downloading", "restoring-backup"}),
            Action.DELETE: Going(
                {"deleting"}, lambda token: token.delete["called"] and not token.delete["complete"]
            ),
        },
        comparable=_same("name", "description", "size", "metadata"),
    ),
    "OS::Cinder::VolumeAttachment": Kind(
        "volumes",
        _volumes,
        going={Action.CREATE: Going({"attaching", "available", "reserved"})},
        thing=lambda plugin: plugin.properties["volume_id"],
    ),
    "OS::Neutron::AddressScope": _neutron("address_scopes", "name", "shared"),
    "OS::Neutron::FloatingIP": _neutron("floatingips", "port_id", "fixed_ip_address", "dns_name"),
    "OS::Neutron::Net": _neutron("networks", *_NETWORK, builds=True),
    "OS::Neutron::Port": _neutron(
        "ports",
        "name",
        "admin_state_up",
        "port_security_enabled",
        "binding:vnic_type",
        "dns_name",
        "tags",
        builds=True,
    ),
    "OS::Neutron::ProviderNet": _neutron(
        "networks",
        *_NETWORK,
        builds=True,
        router_external="router:external",
        network_type="provider:network_type",
        physical_network="provider:physical_network",
        segmentation_id="provider:segmentation_id",
    ),
    "OS::Neutron::QoSPolicy": _neutron("qos_policies", "name", "description", "shared"),
    "OS::Neutron::Router": _neutron("routers", "name", "admin_state_up", "tags", builds=True),
    "OS::Neutron::SecurityGroup": _neutron("security_groups", "name", "description"),
    "OS::Neutron::SecurityGroupRule": _neutron("security_group_rules", "description"),
    "OS::Neutron::Subnet": _neutron(
        "subnets",
        "name",
        "enable_dhcp",
        "gateway_ip",
        "dns_nameservers",
        "host_routes",
        "allocation_pools",
        "tags",
    ),
    "OS::Neutron::SubnetPool": _neutron(
        "subnetpools",
        "name",
        "prefixes",
        "default_prefixlen",
        "min_prefixlen",
        "max_prefixlen",
        "is_default",
        "tags",
    ),
    "OS::Neutron::Trunk": _neutron("trunks", "name", "description", "admin_state_up"),
    "OS::Nova::FloatingIP": _neutron("floatingips"),
    "OS::Nova::KeyPair": Kind("keypairs", _managed("keypairs", "name")),
    "OS::Nova::Server": Kind(
        "servers",
        _servers,
        going={
            Action.CREATE: Going({"BUILD"}),
            Action.SUSPEND: Going({"ACTIVE"}),
            Action.RESUME: Going({"SUSPENDED"}),
            Action.DELETE: Going(_STATES, lambda token: token is not None and token.image_complete),
        },
        comparable=_same("name", "metadata", "tags") | {"flavor": _flavor},
        looks=_servers_and_flavors,
    ),
    "OS::Nova::ServerGroup": Kind("server_groups", _managed("server_groups")),
}


def lines(kinds: Mapping[str, Kind] = KINDS) -> Iterable[tuple[str, str]]:
    """Return the types and the properties that are compared, for the documentation."""
    return [(name, ", ".join(sorted(kind.comparable))) for name, kind in sorted(kinds.items())]
