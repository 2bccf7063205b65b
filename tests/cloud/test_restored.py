# SPDX-License-Identifier: Apache-2.0
"""The drill of the how-to on a real cloud: a dump in the middle of a creation, restored later."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
from contextlib import closing

import pytest

from tests.cloud.conftest import Stack
from tests.cloud.world import servers_of
from tests.functional.servers.processes import Process, program
from tests.functional.waiting import until

DATABASE, KEY_FILE = "heatconv.sqlite", "heatconv.key"  # as the how-to names them


class Laptop:
    """A heatconv-all on one state directory, and its operator."""

    def __init__(self, clouds, directory):
        self.state = directory / "state"
        self.config = directory / "heatconv.conf"
        self._clouds = {"OS_CLIENT_CONFIG_FILE": str(clouds)}
        self._directory = directory
        self.running: list[Process] = []

    def start(self):
        """Start it; return where it listens."""
        options = ["--host", "127.0.0.1", "--port", "0", "--state-dir", str(self.state), "--os-cloud", "mine"]
        log = self._directory / f"{len(self.running)}.log"
        self.running.append(Process([program("heatconv-all"), *options], log, self._clouds))
        return self.running[-1].wait_for(r"heatconv is up: (\S+)")[1]

    def dump(self, path):
        with closing(sqlite3.connect(self.state / DATABASE)) as now, closing(sqlite3.connect(path)) as copy:
            now.backup(copy)

    def restore(self, path):
        for each in self.state.glob(f"{DATABASE}*"):
            each.unlink()
        path.rename(self.state / DATABASE)
        key = (self.state / KEY_FILE).read_text().strip()
        self.config.write_text(
            f"[DEFAULT]\nauth_encryption_key = {key}\n"
            f"[database]\nconnection = sqlite:///{self.state / DATABASE}\n"
        )

    def manage(self, *arguments):
        command = [program("heatconv-manage"), "--config-file", str(self.config), *arguments]
        environment = os.environ | self._clouds
        return subprocess.run(command, check=False, capture_output=True, text=True, env=environment)

    def orphans(self):
        """Return the ids of what belongs to nothing, by the names of the types."""
        listed = self.manage("orphans", "--os-cloud", "mine", "-f", "json")
        return {each["physical_id"]: each["type"] for each in json.loads(listed.stdout)}


@pytest.fixture
def laptop(login, tmp_path):
    made = Laptop(login.clouds, tmp_path)
    yield made
    for process in made.running:
        process.stop()


def template(smallest, version, *ports):
    """Return a server and a port, and more ports; another version replaces the server."""
    network = {"network": {"get_resource": "net"}}
    wired = {
        name: {"type": "OS::Neutron::Port", "properties": network, "depends_on": "subnet"}
        for name in ("port", *ports)
    }
    return {
        "net": {"type": "OS::Neutron::Net"},
        "subnet": {"type": "OS::Neutron::Subnet", "properties": {**network, "cidr": "10.18.0.0/24"}},
        **wired,
        "server": {
            "type": "OS::Nova::Server",
            "properties": {
                **smallest,
                "networks": [network],
                "user_data": f"version {version}",
            },
            "depends_on": "port",
        },
    }


@pytest.mark.long
def test_what_the_dump_wants_is_there_once_and_what_came_since_is_named(laptop, cloud, smallest, tmp_path):
    project = cloud.current_project_id
    stack = Stack(laptop.start())
    stack.begin(template(smallest, 1))
    until(lambda: [*cloud.network.networks(project_id=project)], stack.state)
    laptop.dump(tmp_path / "dump")
    stack.wait_for("CREATE_COMPLETE")
    stack.update(template(smallest, 2, "other"))
    since = {stack.id_of("other"): "OS::Neutron::Port", stack.id_of("server"): "OS::Nova::Server"}
    laptop.running[-1].kill()

    laptop.restore(tmp_path / "dump")
    until(lambda: laptop.manage("restored").returncode == 0, lambda: laptop.manage("restored").stderr)
    stack.reach(laptop.start())
    stack.wait_for("CREATE_COMPLETE")

    assert laptop.orphans() == since
    kept = {
        "net": cloud.network.networks(project_id=project),
        "subnet": cloud.network.subnets(project_id=project),
        "port": (each for each in cloud.network.ports(project_id=project) if not each.device_owner),
        "server": servers_of(cloud),
    }
    there = {name: {each.id for each in found} - since.keys() for name, found in kept.items()}
    assert there == {name: {stack.id_of(name)} for name in kept}
    other, server = since
    cloud.network.delete_port(other)
    cloud.compute.delete_server(server)
    until(lambda: server not in {each.id for each in servers_of(cloud)}, lambda: since)
    stack.delete()
    assert laptop.orphans() == {}
    assert "Traceback" not in laptop.running[-1].output
