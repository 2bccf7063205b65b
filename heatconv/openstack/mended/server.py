# SPDX-License-Identifier: Apache-2.0
"""``OS::Nova::Server``: its ports go to its replacement, and come back from it.

Heat's waits in a thread for each of them, detaches those that Nova has made
for itself, which deletes them, and forgets on the way back which ones it had.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from heatconv.openstack.mended import networks_of, rebuilding
from heatconv.resources.handover import Handover
from heatconv.resources.resource import PollDelay

SOON = 1.0  #: seconds until it is looked again whether Nova has let go of a port
BUILDING = 3.0  #: seconds until it is looked again whether a server is built

STRANDED = 120.0  #: seconds for which a server that Nova will build is not on its way yet, at the most

BUILD, ERROR = "BUILD", "ERROR"


class Server(networks_of.Server, rebuilding.Server):
    """A server whose ports can be moved to another one and back."""

    def is_intact(self) -> bool:
        """Tell whether its ports are its own: a second one, made late and removed, may have had them last."""
        given = self._own_ports()
        ports = self.client("neutron").list_ports(id=given)["ports"] if given else ()
        return all(port["device_id"] == self.resource_id for port in ports)

    def is_stranded(self) -> bool:
        """Tell whether Nova has taken the request down, and its API died before it passed that on.

        Such a server is in BUILD for good: nobody looks for a host for it.
        """
        server = self._server(self.resource_id)
        return server is not None and _is_stranded(server)

    def prepare_for_replace(self) -> None:
        """Let go of the ports that a replacement may need.

        Raises:
            PollDelay: Nova is at it, or has yet to build the server, which gets its ports only then.
        """
        server = self._server(self.resource_id)
        if server is None or _is_stranded(server):
            return
        if server.status == ERROR:
            super().prepare_for_replace()  # it makes nothing wait
            return
        if server.status == BUILD and (self._own_ports() or self._addresses()):
            raise PollDelay(BUILDING)
        self._detach(server, self._movable(server))

    def restore_prev_rsrc(self, convergence: bool = False) -> None:  # noqa: ARG002, FBT001, FBT002 - Heat's
        """Take the ports back from the replacement, once that is built or broken."""
        server = self._server(self.resource_id)
        if server is None:
            return
        there = _ports(server)
        missing = [port_id for port_id in self._own_ports() if port_id not in there]
        has = {address for each in there.values() for address in each}
        addresses = [each for each in self._addresses() if each["fixed_ip"] not in has]
        self._take_from(self.replaced_by, missing, {each["fixed_ip"] for each in addresses})
        for port_id in missing:
            server.interface_attach(port_id, None, None)
        for each in addresses:
            server.interface_attach(None, each["network"], each["fixed_ip"])

    def _take_from(self, replacement: Handover | None, port_ids: list[str], addresses: set[str]) -> None:
        """Make a replacement let go of some ports, and of those with some addresses."""
        server = None if replacement is None else self._server(replacement.resource_id)
        if server is None:
            return
        if server.status == BUILD:
            raise PollDelay(BUILDING)
        held = [
            port_id
            for port_id, has in _ports(server).items()
            if port_id in port_ids or not addresses.isdisjoint(has)
        ]
        if server.status == ERROR:
            self._unbind(held)
        else:
            self._detach(server, held)

    def _detach(self, server: Any, port_ids: list[str]) -> None:
        """Detach some ports.

        Raises:
            PollDelay: Nova is at it; to be called again.
        """
        for port_id in port_ids:
            with self.client_plugin().ignore_not_found:
                server.interface_detach(port_id)
        # Heat's own look, without the waiting around it.
        plugin = self.client_plugin()
        is_detached = type(plugin).check_interface_detach.__wrapped__
        if not all(is_detached(plugin, server.id, port_id) for port_id in port_ids):
            raise PollDelay(SOON)

    def _unbind(self, port_ids: list[str]) -> None:
        """Take ports from a broken server, of which Nova detaches none."""
        for port_id in port_ids:
            self.client("neutron").update_port(port_id, {"port": {"device_id": "", "device_owner": ""}})

    def _movable(self, server: Any) -> list[str]:
        """Return the ports that a replacement may need: given ones, and those of given addresses."""
        own, addresses = set(self._own_ports()), {each["fixed_ip"] for each in self._addresses()}
        return [
            port_id
            for port_id, has in _ports(server).items()
            if port_id in own or not addresses.isdisjoint(has)
        ]

    def _own_ports(self) -> list[str]:
        """Return the ports that Nova was given, in the order of the networks."""
        given = [each["port"] for each in self._networks() if each.get("port")]
        return [*given, *(port["id"] for port in self._data_get_ports())]  # type: ignore[attr-defined]  # Heat's

    def _addresses(self) -> list[Any]:
        """Return the networks on which Nova was asked to make a port with an address."""
        made_by_nova = ("port", "subnet", "port_extra_properties")
        return [
            each for each in self._networks() if each.get("fixed_ip") and not any(map(each.get, made_by_nova))
        ]

    def _networks(self) -> Iterator[Any]:
        yield from self.properties["networks"] or ()

    def _server(self, server_id: str | None) -> Any:
        """Return a server; None if there is none."""
        if server_id is None:
            return None
        with self.client_plugin().ignore_not_found:
            return self.client().servers.get(server_id)
        return None


def _is_stranded(server: Any) -> bool:
    """Tell whether Nova has known of a server for long and looks for no host for it."""
    if server.status != BUILD:
        return False
    taken_down = datetime.fromisoformat(server.created)
    waits = getattr(server, "OS-EXT-STS:task_state", None) in (None, "scheduling")
    return waits and datetime.now(UTC) - taken_down > timedelta(seconds=STRANDED)


def _ports(server: Any) -> dict[str, list[str]]:
    """Return the addresses of a server's ports, by id."""
    return {
        each.port_id: [address["ip_address"] for address in each.fixed_ips]
        for each in server.interface_list()
    }
