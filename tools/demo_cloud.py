# SPDX-License-Identifier: Apache-2.0
"""The tour in a real cloud: networks, ports and servers, of which it leaves nothing behind.

``heatconv-all --os-cloud`` acts as the user whose cloud ``OS_CLOUD`` names, or an
openrc.  What is the case is asked of the cloud as well, and by a careless hand
something is deleted there.
"""

from __future__ import annotations

import os
import secrets
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import openstack
from keystoneauth1.exceptions import ClientException
from openstack.exceptions import SDKException
from rich.console import Console

from tools.tour import BRIEF, NotAsExpectedError, Tour, program, running, until

TEMPLATE = "etc/heatconv/examples/cloud/shop.yaml"
CHANGES = {
    "cache_size": "128 MiB",
    "database_release": "16",
    "search_engine": "true",
    "reporting": "false",
}
SERVERS = {"cache", "database", "search", "web"}  #: after these changes
OF_AN_OPENRC = "envvars"  #: what openstacksdk calls the cloud that these variables describe
CLEARED = 120.0  #: seconds that clearing up may take

NO_CLOUD = (
    "There is no cloud: set OS_CLOUD to the name of one in your clouds.yaml, or source an openrc. "
    "Without --cloud the tour needs none."
)


class Real(Tour):
    """The steps, in a cloud, on a stack whose name nobody else has there."""

    def __init__(
        self,
        endpoint: str,
        cloud: openstack.connection.Connection,
        given: Mapping[str, str],
        console: Console,
    ) -> None:
        super().__init__(endpoint, console)
        self._cloud = cloud
        self._given = given
        self._stack = f"shop-{secrets.token_hex(3)}"

    def run(self) -> None:
        """Take every step in turn, and clear up whatever happens."""
        try:
            self.create()
            self._look(self._stack)
            self.update()
            self.fail()
            self.drift()
            self._delete(self._stack)
        except BaseException:  # Ctrl-C is among what happens
            self._clear_up()
            raise
        left = self._left()
        self._expect(not left, "the cloud has nothing of it any more", f"it has {left}")
        self._client.close()

    def create(self) -> None:
        """Create the stack."""
        self._title("Create a stack in your cloud: each as soon as it can be")
        self._heatconv(
            *("stack", "create", self._stack, "-t", TEMPLATE, "--enable-rollback", "--wait"),
            *_parameters(self._given),
            *BRIEF,
        )
        servers = {"cache", "database", "reports", "web"}
        self._expect_stack(self._stack, "CREATE_COMPLETE", servers, absent={"search", "payments"})
        self._expect_servers(servers)

    def update(self) -> None:
        """Change one server in place, replace one, add one, remove one."""
        before, address = self._physical_ids(self._stack), self._outputs(self._stack)["database_address"]
        self._title("Update: one server is changed in place, one replaced, one added, one removed")
        self._heatconv("stack", "update", self._stack, "--existing", *_parameters(CHANGES), "--wait", *BRIEF)
        self._expect_stack(self._stack, "UPDATE_COMPLETE", {"search"}, absent={"reports", "payments"})
        self._expect_servers(SERVERS)
        after = self._physical_ids(self._stack)
        cache = self._cloud.compute.get_server(before["cache"])
        self._expect(cache.metadata["size"] == "128 MiB", "the cache is the same server, changed in place")
        self._expect(after["database"] != before["database"], "the database is on another server")
        self._expect(
            self._outputs(self._stack)["database_address"] == address, f"its address is {address} still"
        )

    def fail(self) -> None:
        """Have an update fail in the cloud, and see it rolled back."""
        before = self._physical_ids(self._stack)
        self._title("An update that the cloud refuses: heatconv brings back what was there")
        self._heatconv(
            *("stack", "update", self._stack, "--existing", "--enable-rollback", "--wait"),
            *_parameters({"payment_service": "broken", "cache_size": "1 TiB"}),
            *BRIEF,
            fails=True,
        )
        self._expect_stack(self._stack, "ROLLBACK_COMPLETE", {"cache", "search"}, absent={"payments"})
        self._expect(
            self._physical_ids(self._stack) == before, "every resource is the very one it was before"
        )
        self._expect_servers(SERVERS)

    def drift(self) -> None:
        """Delete a server behind heatconv's back; see it come back."""
        self._title("heatconv keeps an eye on it from now on, and heals what it finds")
        heal = ("--convergence", "heal", "--convergence-interval", "1")
        self._heatconv("stack", "update", self._stack, "--existing", *heal, "--wait", *BRIEF)
        before = self._physical_ids(self._stack)
        self._title("A careless hand deletes a server in the cloud")
        self._cloud.compute.delete_server(before["web"])
        until(lambda: before["web"] not in self._servers() and len(self._servers()) == len(SERVERS), CLEARED)
        self._await_drift(self._stack, "IN_SYNC")
        self._expect_servers(SERVERS)
        after = self._physical_ids(self._stack)
        self._expect(after["web"] != before["web"], "there is a server again, which nobody had to ask for")
        others = before.keys() - {"web"}
        self._expect(all(after[name] == before[name] for name in others), "nothing else was touched")

    def _expect_servers(self, names: set[str]) -> None:
        ids, servers = self._physical_ids(self._stack), self._servers()
        self._expect(
            servers.keys() == {ids[name] for name in names},
            f"the cloud has {len(names)} servers of it, each once",
            f"it has {len(servers)}",
        )
        states = {server.status for server in servers.values()}
        self._expect(states == {"ACTIVE"}, "each of them is ACTIVE", f"they are {', '.join(sorted(states))}")

    def _servers(self) -> Mapping[str, Any]:
        """Return the stack's servers as the cloud has them, by id."""
        return {each.id: each for each in self._cloud.compute.servers() if self._is_ours(each)}

    def _left(self) -> str:
        """Return what the cloud has of the stack, in words."""
        project = self._cloud.current_project_id
        network = self._cloud.network
        found = (
            *self._servers().values(),
            *network.ports(project_id=project),
            *network.subnets(project_id=project),
            *network.networks(project_id=project),
        )
        return ", ".join(f"{type(each).__name__} {each.name}" for each in found if self._is_ours(each))

    def _is_ours(self, thing: Any) -> bool:
        """Tell whether something was named by the stack."""
        return str(thing.name).startswith(f"{self._stack}-")

    def _clear_up(self) -> None:
        """Delete the stack, and tell what is still there if that does not help."""
        if self._is_there(self._stack):
            self._console.print(f"\n[bold]Clearing up:[/] {self._stack} is deleted")
            self._client.delete_stack(self._stack)
            until(lambda: not self._is_there(self._stack), CLEARED)
        if left := self._left():
            self._console.print(f"[red]Left behind in the cloud:[/] {left}")


@contextmanager
def real(console: Console, image: str | None, flavor: str | None) -> Iterator[Tour]:
    """Run heatconv-all for the cloud that the environment names, in a directory that goes with it.

    Args:
        image: the name or id of the servers' image, else the smallest is taken.
        flavor: the same of their flavor.

    Raises:
        NotAsExpectedError: there is no cloud, or nothing to make servers of.
    """
    name = named_by(os.environ)
    try:
        cloud = openstack.connect(cloud=name)
        cloud.authorize()
        given = _smallest(cloud, image, flavor)
    except (ClientException, SDKException) as error:
        raise NotAsExpectedError(f"The cloud {name} cannot be used: {error}") from error
    with tempfile.TemporaryDirectory(prefix="heatconv-demo-") as directory:
        command = (
            *(program("heatconv-all"), "--host", "127.0.0.1", "--port", "0"),
            *("--state-dir", directory, "--os-cloud", name),
        )
        with running("heatconv", command, Path(directory) / "log") as endpoint:
            console.print(
                f"[bold]heatconv is up:[/] {endpoint}, for the cloud at {cloud.config.auth['auth_url']}"
            )
            yield Real(endpoint, cloud, given, console)


def named_by(environment: Mapping[str, str]) -> str:
    """Return the name of the cloud that an environment has, as openstacksdk knows it.

    Raises:
        NotAsExpectedError: it has none.
    """
    if name := environment.get("OS_CLOUD"):
        return name
    if environment.get("OS_AUTH_URL"):
        return OF_AN_OPENRC
    raise NotAsExpectedError(NO_CLOUD)


def _smallest(
    cloud: openstack.connection.Connection, image: str | None, flavor: str | None
) -> dict[str, str]:
    """Return an image and a flavor for it: those that are named, or the smallest.

    Raises:
        NotAsExpectedError: there is none.
    """
    images = [cloud.image.find_image(image, ignore_missing=False)] if image else cloud.image.images()
    usable = sorted((each for each in images if each.status == "active"), key=lambda each: each.size or 0)
    if not usable:
        raise NotAsExpectedError("The cloud has no image that is ready for servers: name one by --image.")
    chosen = usable[0]
    is_clear = sum(each.name == chosen.name for each in usable) == 1
    word = chosen.name if is_clear else chosen.id
    if flavor:
        return {"image": word, "flavor": flavor}
    flavors = [
        each
        for each in cloud.compute.flavors()
        # One without a disk is for servers that start from a volume.
        if each.disk >= max(chosen.min_disk, 1) and each.ram >= chosen.min_ram
    ]
    if not flavors:
        raise NotAsExpectedError("The cloud has no flavor that the image fits: name one by --flavor.")
    return {"image": word, "flavor": min(flavors, key=lambda each: (each.ram, each.disk)).name}


def _parameters(values: Mapping[str, str]) -> list[str]:
    return [word for name, value in values.items() for word in ("--parameter", f"{name}={value}")]
