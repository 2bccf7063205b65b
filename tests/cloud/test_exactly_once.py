# SPDX-License-Identifier: Apache-2.0
"""A worker dies once a service has made something, before it is noted what: in the end there is one."""

from __future__ import annotations

import sys
from collections import Counter

import pytest

from tests.cloud.conftest import HERE, Stack
from tests.cloud.world import servers_of
from tests.functional.servers.processes import Process

NOBODY = "never"  #: no request is that
PUBLIC_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKR4yJ5nJ8Q0o0l3mXq2WnWlZk0cYxQ1s0v7pT1bq0aB"
NET = {"get_resource": "net"}


def templates(smallest, external):
    """Return the resources of each kind, and what these need."""
    net = {"net": {"type": "OS::Neutron::Net"}}
    subnet = net | {
        "subnet": {"type": "OS::Neutron::Subnet", "properties": {"network": NET, "cidr": "10.11.0.0/24"}}
    }
    port = subnet | {
        "port": {"type": "OS::Neutron::Port", "depends_on": "subnet", "properties": {"network": NET}}
    }
    router = {"router": {"type": "OS::Neutron::Router"}}
    interface = {
        "type": "OS::Neutron::RouterInterface",
        "properties": {"router": {"get_resource": "router"}, "subnet": {"get_resource": "subnet"}},
    }
    plugged = {
        "type": "OS::Neutron::RouterInterface",
        "properties": {"router": {"get_resource": "router"}, "port": {"get_resource": "port"}},
    }
    gateway = {
        "type": "OS::Neutron::RouterGateway",
        "properties": {"router_id": {"get_resource": "router"}, "network": external},
    }
    group = {
        "group": {
            "type": "OS::Neutron::SecurityGroup",
            "properties": {"rules": [{"protocol": "tcp", "port_range_min": 22, "port_range_max": 22}]},
        }
    }
    rule = {
        "type": "OS::Neutron::SecurityGroupRule",
        "properties": {"security_group": {"get_resource": "group"}, "protocol": "icmp"},
    }
    server = port | {
        "server": {
            "type": "OS::Nova::Server",
            "properties": {**smallest, "networks": [{"port": {"get_resource": "port"}}]},
        }
    }
    volume = {"volume": {"type": "OS::Cinder::Volume", "properties": {"size": 1}}}
    attachment = {
        "type": "OS::Cinder::VolumeAttachment",
        "properties": {
            "instance_uuid": {"get_resource": "server"},
            "volume_id": {"get_resource": "volume"},
        },
    }
    address = {"address": {"type": "OS::Neutron::FloatingIP", "properties": {"floating_network": external}}}
    keys = {
        "type": "OS::Nova::KeyPair",
        "properties": {"name": "exactly-once", "public_key": PUBLIC_KEY},
    }
    return {
        "net": (net, "networks"),
        "subnet": (subnet, "subnets"),
        "port": (port, "ports"),
        "router": (router, "routers"),
        "interface": (subnet | router | {"interface": interface}, "add_router_interface"),
        "plugged": (port | router | {"plugged": plugged}, "add_router_interface"),
        "gateway": (router | {"gateway": gateway}, "routers/[^/]+"),
        "group": (group, "security-groups"),
        "rules": (group, "security-group-rules"),
        "rule": ({"group": {"type": "OS::Neutron::SecurityGroup"}, "rule": rule}, "security-group-rules"),
        "server": (server, "servers"),
        "volume": (volume, "volumes"),
        "attachment": (server | volume | {"attachment": attachment}, "os-volume_attachments"),
        "address": (address, "floatingips"),
        "keys": ({"keys": keys}, "os-keypairs"),
        "server_group": (
            {"servers": {"type": "OS::Nova::ServerGroup", "properties": {"policies": ["affinity"]}}},
            "os-server-groups",
        ),
        "trunk": (
            port
            | {"trunk": {"type": "OS::Neutron::Trunk", "properties": {"port": {"get_resource": "port"}}}},
            "trunks",
        ),
    }


#: the templates above, of which those marked "named" are made with a name that a user gave
CASES = [
    "net",
    "subnet",
    "port",
    "router",
    "interface",
    "plugged",
    "gateway",
    "group",
    "rules",
    "rule",
    "server",
    "volume",
    "attachment",
    "address",
    "keys",
    "server_group",
    "trunk",
    "named net",
    "named subnet",
    "named port",
    "named router",
    "named group",
    "named server",
    "named volume",
    "named trunk",
]
#: Each way in which something is found again, once; the others are found like one of these.
SAMPLE = (
    "port",
    "interface",
    "gateway",
    "rules",
    "rule",
    "server",
    "attachment",
    "address",
    "keys",
    "named port",
    "named server",
)


@pytest.fixture(scope="module")
def external(admin):
    """Return the name of a network that floating IPs come from."""
    return next(iter(admin.network.networks(is_router_external=True))).name


class Mortals:
    """Processes of heatconv-all on one state, one after the other, and all that they asked for."""

    def __init__(self, clouds, directory, *more):
        self.log = directory / "requests"
        self._clouds = clouds
        self._directory = directory
        self._more = more
        self.running: list[Process] = []

    def start(self, deadly=NOBODY):
        """Start one that dies of some requests; return it and where it listens."""
        options = ["--host", "127.0.0.1", "--port", "0", "--state-dir", str(self._directory / "state")]
        process = Process(
            [
                *(sys.executable, str(HERE / "dying.py"), str(self.log), deadly),
                *(*options, "--os-cloud", "mine", *self._more),
            ],
            self._directory / f"{len(self.running)}.log",
            {"OS_CLIENT_CONFIG_FILE": str(self._clouds)},
        )
        self.running.append(process)
        return process, process.wait_for(r"heatconv is up: (\S+)")[1]


@pytest.fixture
def mortals(login, tmp_path):
    """Return processes that may die."""
    made = Mortals(login.clouds, tmp_path)
    yield made
    for process in made.running:
        process.stop()


def there(cloud):
    """Return what a project has, by kind: the services' own word."""
    project = {"project_id": cloud.current_project_id}
    groups = [each for each in cloud.network.security_groups(**project) if each.name != "default"]
    found = {
        "OS::Neutron::Net": cloud.network.networks(**project),
        "OS::Neutron::Subnet": cloud.network.subnets(**project),
        "OS::Neutron::Port": [
            each for each in cloud.network.ports(**project) if not each.device_owner.startswith("network:")
        ],
        "OS::Neutron::Router": cloud.network.routers(**project),
        "OS::Neutron::SecurityGroup": groups,
        "OS::Neutron::FloatingIP": cloud.network.ips(**project),
        "OS::Neutron::Trunk": cloud.network.trunks(**project),
        "OS::Nova::Server": servers_of(cloud),
        "OS::Nova::ServerGroup": cloud.compute.server_groups(),
        "OS::Nova::KeyPair": cloud.compute.keypairs(),
        "OS::Cinder::Volume": cloud.block_storage.volumes(),
    }
    counted = Counter({kind: len(list(each)) for kind, each in found.items()})
    interfaces = [
        each
        for router in cloud.network.routers(**project)
        for each in cloud.network.ports(device_id=router.id)
    ]
    counted["OS::Neutron::RouterInterface"] = len(interfaces)
    counted["OS::Neutron::RouterGateway"] = sum(
        router.external_gateway_info is not None for router in cloud.network.routers(**project)
    )
    counted["OS::Neutron::SecurityGroupRule"] = sum(
        rule["direction"] == "ingress" for group in groups for rule in group.security_group_rules
    )
    counted["OS::Cinder::VolumeAttachment"] = sum(
        len(volume.attachments) for volume in cloud.block_storage.volumes()
    )
    return +counted


def wanted(resources):
    """Return what a project has once all of a template is there."""
    counted = Counter(each["type"] for each in resources.values())
    counted["OS::Neutron::SecurityGroupRule"] += sum(
        len(each.get("properties", {}).get("rules", ())) for each in resources.values()
    )
    if "plugged" in resources:  # it is the router's now
        counted["OS::Neutron::Port"] -= 1
    return +counted


@pytest.mark.parametrize(
    "case", [each if each in SAMPLE else pytest.param(each, marks=pytest.mark.long) for each in CASES]
)
def test_a_create_that_its_worker_did_not_survive_makes_one(case, mortals, cloud, admin, smallest, external):
    named, _, name = case.rpartition(" ")
    resources, path = templates(smallest, external)[name]
    if named:
        made = resources[name]
        resources = resources | {
            name: made | {"properties": made.get("properties", {}) | {"name": "mine (1)"}}
        }
    before = there(cloud)
    first, endpoint = mortals.start(rf"(POST|PUT) .*/{path}(\.json)?$")
    stack = Stack(endpoint)
    stack.client.create_stack(
        {"stack_name": stack.name, "template": source(resources), "disable_rollback": True}
    )
    first.wait()
    _, endpoint = mortals.start()
    stack.reach(endpoint)
    stack.wait_for("CREATE_COMPLETE")
    assert there(cloud) - before == wanted(resources)
    assert "may have left" not in stack.said()
    stack.delete()
    assert there(cloud) == before


def source(resources):
    return {"heat_template_version": "2021-04-16", "resources": resources}


def test_an_update_goes_on_from_where_its_worker_died(mortals, cloud, smallest, larger):
    """The server is being resized: to ask for that again would be refused."""
    resources, _ = templates(smallest, "")["server"]
    first, endpoint = mortals.start(r"POST \S*/servers/\S+/action\n(.*\n)*GET \S*/servers/\S+$")
    stack = Stack(endpoint)
    stack.create(resources)
    made = resources["server"]
    changed = resources | {"server": made | {"properties": made["properties"] | {"flavor": larger}}}
    stack.client.update_stack(stack.name, {"template": source(changed)})
    first.wait()
    _, endpoint = mortals.start()
    stack.reach(endpoint)
    stack.wait_for("UPDATE_COMPLETE")
    (server,) = servers_of(cloud)
    assert (server.id, server.status) == (stack.id_of("server"), "ACTIVE")
    assert cloud.compute.get_server(server.id).flavor["original_name"] == larger
    asked = [line.split() for line in mortals.log.read_text().splitlines() if "/action " in line]
    assert [status for *_, status in asked] == ["202", "204"]  # it is resized, and that is confirmed
    stack.delete()
