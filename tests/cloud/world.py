# SPDX-License-Identifier: Apache-2.0
"""A project in which there is something of everything that resources depend on, and what there is beside.

What is there is the services' own word; heatconv has no part in it.
"""

from __future__ import annotations

import functools
import secrets
import threading
import time
from collections.abc import Callable, Iterable
from typing import Any

Listing = Callable[["World"], Iterable[Any]]

LOOK = 0.1  #: seconds between two looks at a service, which is real, and takes its time
SOON = 5.0  #: seconds in which a service lists what it says to be so
LARGE = 65_536  #: MiB of a flavor that no test takes for the smallest there is


def servers_of(cloud: Any) -> list[Any]:
    """Return the servers of a project; for a moment more Nova lists what it says is deleted."""
    return [server for server in cloud.compute.servers() if server.status != "DELETED"]


class World:
    """A project, its user and its administrator; ``name`` begins the names of all that a test makes there.

    What resources refer to is made when it is first asked for, and stays.
    """

    def __init__(self, login: Any) -> None:
        """Take a login whose project is empty."""
        self.login = login
        self.admin = login.admin
        self.cloud = login.connect()
        self.name = f"world-{secrets.token_hex(3)}"
        self.project = {"project_id": login.project.id}
        self._begun: dict[Listing, frozenset[str]] = {}

    def now_has(self, listing: Listing) -> frozenset[str]:
        """Return the ids that a service lists, without those that were there when ``begin`` was called."""
        return frozenset(each.id for each in listing(self)) - self._begun.get(listing, frozenset())

    def comes_to_have(self, listing: Listing, count: int) -> frozenset[str]:
        """Return what ``now_has`` returns, once there are so many of it, or else after a while.

        Nova lists a server a moment longer than it shows it.
        """
        deadline = time.monotonic() + SOON
        while len(found := self.now_has(listing)) != count and time.monotonic() < deadline:
            threading.Event().wait(LOOK)
        return found

    def begin(self, listing: Listing) -> None:
        """Let what a service lists now count no more."""
        self._begun[listing] = frozenset(each.id for each in listing(self))

    # -- what resources refer to -----------------------------------------------------------------

    @functools.cached_property
    def outside(self) -> str:
        """The name of an external network."""
        return str(next(iter(self.admin.network.networks(is_router_external=True))).name)

    @functools.cached_property
    def net(self) -> str:
        """A network with two subnets."""
        net = self.cloud.network.create_network(name="base")
        for place in (1, 2):
            self.cloud.network.create_subnet(network_id=net.id, ip_version=4, cidr=f"10.2{place}.0.0/24")
        return str(net.id)

    @functools.cached_property
    def subnets(self) -> list[str]:
        """The two subnets of the network."""
        found = self.cloud.network.subnets(network_id=self.net)
        return [each.id for each in sorted(found, key=lambda each: each.cidr)]

    @functools.cached_property
    def ports(self) -> list[str]:
        """Two ports that are reached from outside, in the first subnet."""
        _ = self.routed
        fixed = [{"subnet_id": self.subnets[0]}]
        return [
            self.cloud.network.create_port(network_id=self.net, name=f"base-{place}", fixed_ips=fixed).id
            for place in (1, 2)
        ]

    @functools.cached_property
    def routed(self) -> str:
        """A router from the first subnet to the outside."""
        external = self.admin.network.find_network(self.outside)
        router = self.cloud.network.create_router(
            name="base-routed", external_gateway_info={"network_id": external.id}
        )
        self.cloud.network.add_interface_to_router(router, subnet_id=self.subnets[0])
        return str(router.id)

    @functools.cached_property
    def router(self) -> str:
        """A router with nothing at it."""
        return str(self.cloud.network.create_router(name="base").id)

    @functools.cached_property
    def group(self) -> str:
        """A security group."""
        return str(self.cloud.network.create_security_group(name="base").id)

    @functools.cached_property
    def address(self) -> str:
        """A floating IP that leads nowhere."""
        external = self.admin.network.find_network(self.outside)
        return str(self.cloud.network.create_ip(floating_network_id=external.id).id)

    @functools.cached_property
    def smallest(self) -> dict[str, Any]:
        """A server's properties, beside its networks, as cheap as they come."""
        image = min(self.cloud.image.images(), key=lambda each: (each.min_disk or 0, each.created_at))
        return {"flavor": self.flavors[0], "image": image.name}

    @functools.cached_property
    def flavors(self) -> list[str]:
        """The names of the flavors, the cheapest first."""
        found = self.cloud.compute.flavors()
        return [each.name for each in sorted(found, key=lambda flavor: (flavor.ram, flavor.disk))]

    @functools.cached_property
    def servers(self) -> list[str]:
        """Two servers, each with a port in the first subnet."""
        _ = self.routed
        flavor = self.cloud.compute.find_flavor(self.smallest["flavor"])
        image = self.cloud.image.find_image(self.smallest["image"])
        made = [
            self.cloud.compute.create_server(
                name=f"base-{place}", flavor_id=flavor.id, image_id=image.id, networks=[{"uuid": self.net}]
            )
            for place in (1, 2)
        ]
        return [self.cloud.compute.wait_for_server(each).id for each in made]

    @functools.cached_property
    def volumes(self) -> list[str]:
        """Two volumes."""
        made = [self.cloud.block_storage.create_volume(size=1, name=f"base-{place}") for place in (1, 2)]
        return [self.cloud.block_storage.wait_for_status(each, "available").id for each in made]

    # -- in the end --------------------------------------------------------------------------------

    def leave(self) -> None:
        """Delete all of it, whatever a test left there too."""
        cloud, network = self.cloud, self.cloud.network
        for server in cloud.compute.servers():
            cloud.compute.delete_server(server)
            cloud.compute.wait_for_delete(server)
        for volume in cloud.block_storage.volumes():
            cloud.block_storage.delete_volume(volume)
        for router in network.routers(**self.project):
            self._unplug(router)
            network.delete_router(router)
        for listed, delete in (
            (network.ips, network.delete_ip),
            (network.trunks, network.delete_trunk),
            (network.ports, network.delete_port),
            (network.networks, network.delete_network),
        ):
            for each in listed(**self.project):
                delete(each)
        self.login.leave()

    def _unplug(self, router: Any) -> None:
        network = self.cloud.network
        for address in network.ips(router_id=router.id):
            network.delete_ip(address)
        for port in network.ports(device_id=router.id, device_owner="network:router_interface"):
            network.remove_interface_from_router(router, port_id=port.id)
