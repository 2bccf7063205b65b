# SPDX-License-Identifier: Apache-2.0
"""Ports and servers wait for the subnets of their networks, which they look for in the whole template.

A hundred ports among a hundred subnets are ten thousand looks.  They are shown
the subnets of their networks alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from heatconv.openstack.stand_ins.resource import Resource
from heatconv.resources.facts import Among
from heatconv.resources.unknown import word

SUBNET = "OS::Neutron::Subnet"
NETWORK = ("network", "network_id")  #: its name, and the one that it had before
OTHERWISE = ("port", "subnet", "allocate_network")  #: how a server may have a network that it does not name


class Port(Resource):
    """A port, which names its network."""

    def looks_among(self) -> Among | None:
        """Return the subnets of its network."""
        return _subnets(self.definition.properties.get(name) for name in NETWORK)


class Server(Resource):
    """A server, which names some of its networks; what it has of the others has waited for their subnets."""

    def looks_among(self) -> Among | None:
        """Return the subnets of its networks, if all that it has is known."""
        networks = self.definition.properties.get("networks")
        if not isinstance(networks, list) or not all(map(_says, networks)):
            return None
        return _subnets(each.get(name) for each in networks for name in ("network", "uuid"))


def _says(network: Any) -> bool:
    return isinstance(network, dict) and any(
        network.get(name) is not None for name in (*OTHERWISE, "network", "uuid")
    )


def _subnets(networks: Iterable[Any]) -> Among | None:
    words = [word(each) for each in networks if each is not None]
    return None if None in words else Among(SUBNET, NETWORK, frozenset(filter(None, words)))
