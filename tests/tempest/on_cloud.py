# SPDX-License-Identifier: Apache-2.0
"""What the suites are run against on a cloud: heatconv as operators run it, or Heat.

The cloud is the one that openstacksdk finds, as in ``tests/cloud``.  heatconv's API listens where
the cloud's catalog has the orchestration service, on this machine: it takes Heat's place there.
The suites have a project of their own, with the network in it that they suppose to be there.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import openstack

from tests.cloud.conftest import Login
from tests.cloud.domains import domain_of_stack_users
from tests.cloud.operated import installed
from tests.cloud.world import World
from tests.functional.servers.daemons import merged
from tests.tempest import suites

NETWORK = "heat-net"
SUBNET = "heat-subnet"
ADDRESSES = "10.0.5.0/24"
ORCHESTRATION = "orchestration"

Serve = Callable[[Path, Any, ExitStack], None]


@contextmanager
def on_cloud(directory: Path, serve: Serve) -> Iterator[dict[str, str]]:
    """Run what there has to be, with its files in a directory; yield the environment that the suites need.

    Args:
        directory: an empty one.
        serve: starts the service until the exit: ``heatconv`` or ``whatever_is_there``.
    """
    with ExitStack() as until:
        admin = openstack.connect()
        admin.authorize()
        login = Login(admin, directory)
        world = World(login)
        until.callback(world.leave)
        _network(world)
        serve(directory, admin, until)
        flavors = world.flavors
        image = world.smallest["image"]
        suites.configure(
            directory,
            auth_url=admin.config.auth["auth_url"],
            region=admin.config.region_name,
            types=frozenset(each["type"] for each in _catalog(admin)),
            heat={
                "username": login.user.name,
                "password": login.password,
                "project_name": login.project.name,
                "admin_username": login.operator.name,
                "admin_password": login.password,
                "admin_project_name": login.project.name,
                "minimal_instance_type": flavors[0],
                "instance_type": flavors[1],
                "minimal_image_ref": image,
                "image_ref": image,
                "fixed_network_name": NETWORK,
                "fixed_subnet_name": SUBNET,
                "network_for_ssh": NETWORK,
                "floating_network_name": world.outside,
                # Nobody answers in a server that has no guest: it is not waited for.
                "connectivity_timeout": 10,
                "ssh_timeout": 10,
            },
        )
        yield suites.environment(directory)


def heatconv(directory: Path, admin: Any, until: ExitStack) -> None:
    """Run heatconv where the catalog has the service."""
    url = urlsplit(admin.session.get_endpoint(service_type=ORCHESTRATION, interface="public") or "")
    assert url.port, f"The cloud's catalog has no service of type {ORCHESTRATION}."
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind(("127.0.0.1", url.port))  # it tells who is there already: better now than in a log
    domain = until.enter_context(domain_of_stack_users(admin))
    files = directory / "heatconv"
    files.mkdir()
    there = installed(
        files,
        admin,
        until,
        # Stacks whose resources are stacks of the same service delegate to it what was delegated to them.
        options=merged(suites.SUPPOSED, {"DEFAULT": {**domain.options, "allow_trusts_redelegation": True}}),
        pace={},
        port=url.port,
    )
    suites.heat_manage(directory, there.daemons.config_file)


def whatever_is_there(_directory: Path, _admin: Any, _until: ExitStack) -> None:
    """Run nothing: the catalog's service is up; its ``heat-manage`` is the one in the path."""


def _catalog(admin: Any) -> Any:
    return admin.session.auth.get_access(admin.session).service_catalog.catalog


def _network(world: World) -> None:
    """Make the network that the suites suppose every project to have, with a way out."""
    network = world.cloud.network
    net = network.create_network(name=NETWORK)
    subnet = network.create_subnet(name=SUBNET, network_id=net.id, ip_version=4, cidr=ADDRESSES)
    outside = world.admin.network.find_network(world.outside)
    router = network.create_router(name="heat-router", external_gateway_info={"network_id": outside.id})
    network.add_interface_to_router(router, subnet_id=subnet.id)
