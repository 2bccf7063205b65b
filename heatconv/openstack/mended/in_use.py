# SPDX-License-Identifier: Apache-2.0
"""What ports keep from being deleted: Neutron says that it is in use, and here is by what."""

from __future__ import annotations

from typing import Any

from heatconv.openstack.mended import refusing
from heatconv.openstack.stand_ins.resource import Resource
from heatconv.resources.exception import HeatException

SHOWN = 5  #: ports that are named; there may be thousands

OWN = "network:dhcp"  #: who has ports that go with their network


class Conflict(HeatException):
    """Something is in use, and the sentence says by what."""

    msg_fmt = "%(said)s It is in use by %(ports)s."

    http_status = 409


class Holding(Resource):
    """Something in Neutron that ports may hold."""

    def handle_delete(self) -> Any:
        """Start to delete it.

        Raises:
            Conflict: ports hold it, of which some are named.
        """
        try:
            return super().handle_delete()
        except Exception as error:
            ports = self._ports() if self._is_conflict(error) else ""
            if not ports:
                raise
            said = str(error).splitlines()[0].rstrip(".") + "."
            raise Conflict(said=said, ports=ports) from error

    def held(self) -> dict[str, Any]:
        """Return what finds the ports that hold it."""
        raise NotImplementedError

    def _ports(self) -> str:
        found = self.client().list_ports(fields=["id", "name", "device_id", "device_owner"], **self.held())
        ports = sorted((port for port in found["ports"] if port["device_owner"] != OWN), key=_id)
        named = [_named(port) for port in ports[:SHOWN]]
        return ", ".join(named) + (f" and {len(ports) - SHOWN} more" if len(ports) > SHOWN else "")


class Net(Holding):
    """A network, which its ports hold."""

    def held(self) -> dict[str, Any]:
        """Return what finds the ports of the network."""
        return {"network_id": self.resource_id}


class Subnet(refusing.Subnet, Holding):
    """A subnet, which those ports hold that have an address of it."""

    def held(self) -> dict[str, Any]:
        """Return what finds the ports with an address of the subnet."""
        return {"fixed_ips": f"subnet_id={self.resource_id}"}


class SecurityGroup(Holding):
    """A security group, which those ports hold that are in it."""

    def held(self) -> dict[str, Any]:
        """Return what finds the ports in the group."""
        return {"security_groups": [self.resource_id]}


def _id(port: dict[str, str]) -> str:
    return port["id"]


def _named(port: dict[str, str]) -> str:
    name = f' "{port["name"]}"' if port["name"] else ""
    of = f" of {port['device_owner']} {port['device_id']}" if port["device_id"] else ""
    return f"port {port['id']}{name}{of}"
