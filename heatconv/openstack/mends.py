# SPDX-License-Identifier: Apache-2.0
"""What stands beside Heat's plugins where they err: each is mended when it is loaded, none on disk."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from heatconv.openstack.mended import (
    answers,
    identity,
    in_use,
    networks_of,
    rebuilding,
    resizing,
    rules,
    users,
)
from heatconv.openstack.mended.instance import Instance
from heatconv.openstack.mended.key_pair import KeyPair
from heatconv.openstack.mended.known import remembers_ids, remembers_what_it_got
from heatconv.openstack.mended.networks import names_networks
from heatconv.openstack.mended.server import Server
from heatconv.openstack.mended.volumes import Volume, VolumeAttachment
from heatconv.openstack.stand_ins.resource import Resource


def _neutron(plugin: Any) -> None:
    """Networks and routers look for ``Forbidden`` in ``exceptions``, when a user may not see agents."""
    plugin.exceptions = plugin.exceptions_module
    answers.says_when_to_come_back(plugin)
    answers.believes_its_answers(plugin)
    remembers_ids(plugin, "_find_resource_id")


def _glance(plugin: Any) -> None:
    remembers_ids(plugin, "_find_image_id", "images")
    remembers_what_it_got(plugin, "get_image", lambda image: image.status == "active")


def _nova(plugin: Any) -> None:
    names_networks(plugin)
    resizing.goes_by_what_it_finds(plugin)
    rebuilding.takes_user_data(plugin)
    remembers_ids(plugin, "_find_flavor_id", "flavors")
    remembers_what_it_got(plugin, "get_flavor", lambda _flavor: True)


#: By the name of a client.
CLIENTS: Mapping[str, Callable[[Any], None]] = {
    "glance": _glance,
    "neutron": _neutron,
    "nova": _nova,
}

#: By the name of a type, the class that is put in front of its class.
TYPES: Mapping[str, type[Resource]] = {
    "AWS::EC2::Instance": Instance,
    "AWS::IAM::AccessKey": users.AccessKey,
    "AWS::IAM::User": users.User,
    "OS::Cinder::Volume": Volume,
    "OS::Cinder::VolumeAttachment": VolumeAttachment,
    "OS::Keystone::Domain": identity.Domain,
    "OS::Keystone::Group": identity.Named,
    "OS::Keystone::Project": identity.Named,
    "OS::Keystone::Role": identity.Named,
    "OS::Keystone::Region": identity.Named,
    "OS::Keystone::User": identity.Named,
    "OS::Neutron::Port": networks_of.Port,
    "OS::Neutron::Net": in_use.Net,
    "OS::Neutron::SecurityGroup": rules.SecurityGroup,
    "OS::Neutron::Subnet": in_use.Subnet,
    "OS::Nova::KeyPair": KeyPair,
    "OS::Nova::Server": Server,
}


def client(name: str, plugin: Any) -> Any:
    """Return a client plugin, mended if it has to be."""
    mend = CLIENTS.get(name)
    if mend is not None:
        mend(plugin)
    return plugin


def mended(type_name: str, plain: type[Resource]) -> type[Resource]:
    """Return a type, mended if it has to be."""
    mend = TYPES.get(type_name)
    if mend is None:
        return plain
    return type(plain.__name__, (mend, plain), {"__doc__": plain.__doc__, "__module__": plain.__module__})
