# SPDX-License-Identifier: Apache-2.0
"""What is replaced and what replaces it stand side by side: an address, a port, a name goes to and fro."""

from __future__ import annotations

import pytest

from tests.cloud.conftest import Stack
from tests.cloud.test_exactly_once import Mortals, source
from tests.cloud.world import servers_of

KEYS = [
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKR4yJ5nJ8Q0o0l3mXq2WnWlZk0cYxQ1s0v7pT1bq0aB",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKR4yJ5nJ8Q0o0l3mXq2WnWlZk0cYxQ1s0v7pT1bq0aC",
]
ADDRESS = "10.12.0.77"
NETWORK = {
    "net": {"type": "OS::Neutron::Net"},
    "subnet": {
        "type": "OS::Neutron::Subnet",
        "properties": {"network": {"get_resource": "net"}, "cidr": "10.12.0.0/24"},
    },
}


def port(policy="AUTO", **properties):
    return {
        "type": "OS::Neutron::Port",
        "properties": {
            "network": {"get_resource": "net"},
            "fixed_ips": [{"subnet": {"get_resource": "subnet"}, "ip_address": ADDRESS}],
            "replacement_policy": policy,
            **properties,
        },
    }


def keys(public):
    return {"type": "OS::Nova::KeyPair", "properties": {"name": "handover", "public_key": public}}


def server(smallest, networks, version):
    properties = {**smallest, "networks": networks, "user_data": f"version {version}"}
    return {"type": "OS::Nova::Server", "properties": properties}


def refused(*after):
    """Return a resource that Neutron does not make, once others are there."""
    elsewhere = [{"ip_address": "192.0.2.1"}]
    return {
        "type": "OS::Neutron::Port",
        "depends_on": list(after),
        "properties": {"network": {"get_resource": "net"}, "fixed_ips": elsewhere},
    }


class Case:
    """Something before and after, and how it is seen at the services."""

    def __init__(self, cloud, smallest, kind):
        self.cloud = cloud
        self._smallest = smallest
        self.kind = kind

    def template(self, version):
        networks: list[dict[str, object]]
        match self.kind:
            case "port":
                return NETWORK | {"it": port("REPLACE_ALWAYS" if version else "AUTO", name="handover")}
            case "server on a port":
                networks = [{"port": {"get_resource": "port"}}]
            case "server with an address":
                networks = [{"network": {"get_resource": "net"}, "fixed_ip": ADDRESS}]
            case "keys":
                return NETWORK | {"it": keys(KEYS[version])}
        it = server(self._smallest, networks, version) | {"depends_on": "subnet"}
        return NETWORK | ({"port": port()} if "port" in self.kind else {}) | {"it": it}

    def seen(self):
        """Return what holds what there can be but one of, each with its address or key."""
        if self.kind == "keys":
            return {
                (each.name, self.cloud.compute.get_keypair(each.name).public_key)
                for each in self.cloud.compute.keypairs()
            }
        project = self.cloud.current_project_id
        found = {
            (each.device_id or each.id, address["ip_address"])
            for each in self.cloud.network.ports(project_id=project)
            if not each.device_owner.startswith("network:")
            for address in each.fixed_ips
        }
        if self.kind != "port":
            running = {(each.id, each.status) for each in servers_of(self.cloud)}
            assert {status for _, status in running} <= {"ACTIVE"}
            assert {held_by for held_by, _ in found} == {each for each, _ in running}
        return found

    def wanted(self, stack, version):
        return {("handover", KEYS[version])} if self.kind == "keys" else {(stack.id_of("it"), ADDRESS)}


@pytest.fixture(
    params=[
        "port",
        pytest.param("server on a port", marks=pytest.mark.long),
        "server with an address",
        "keys",
    ]
)
def case(request, cloud, smallest):
    return Case(cloud, smallest, request.param)


def test_a_replacement_gets_it_and_a_rollback_gives_it_back(case, stack):
    stack.create(case.template(0))
    first = stack.id_of("it")
    assert case.seen() == case.wanted(stack, 0)

    broken = case.template(1) | {"refused": refused("it")}
    stack.update(broken, until="ROLLBACK_COMPLETE", rollback=True)
    assert stack.id_of("it") == first
    assert case.seen() == case.wanted(stack, 0)

    stack.update(case.template(1))
    assert case.seen() == case.wanted(stack, 1)
    stack.delete()
    assert case.seen() == set()


@pytest.mark.parametrize("kind", ["server on a port", "server with an address"])
def test_a_server_that_is_still_being_built_hands_over_what_it_gets_late(kind, cloud, smallest, stack):
    case = Case(cloud, smallest, kind)
    stack.begin(case.template(0))
    stack.wait_until(lambda: "BUILD" in {each.status for each in servers_of(cloud)})
    stack.update(case.template(1))
    assert case.seen() == case.wanted(stack, 1)
    stack.delete()
    assert case.seen() == set()


#: by kind, the request after whose answer a worker dies
DEADLY = {
    "port": r"PUT \S*/ports/\S+$",
    "server on a port": r"DELETE \S*/os-interface/\S+$",
    "server with an address": r"DELETE \S*/os-interface/\S+$",
    "keys": r"DELETE \S*/os-keypairs/\S+$",
}


@pytest.mark.parametrize("rollback", [False, True], ids=["", "and is rolled back"])
def test_a_worker_dies_while_it_is_handed_over(case, login, tmp_path, rollback):
    mortals = Mortals(login.clouds, tmp_path)
    try:
        first, endpoint = mortals.start(DEADLY[case.kind])
        stack = Stack(endpoint)
        stack.create(case.template(0))
        wish = case.template(1) | ({"refused": refused("it")} if rollback else {})
        stack.client.update_stack(stack.name, {"template": source(wish), "disable_rollback": not rollback})
        first.wait()
        _, endpoint = mortals.start()
        stack.reach(endpoint)
        stack.wait_for("ROLLBACK_COMPLETE" if rollback else "UPDATE_COMPLETE")
        assert case.seen() == case.wanted(stack, 0 if rollback else 1)
        stack.delete()
        assert case.seen() == set()
    finally:
        for process in mortals.running:
            process.stop()
