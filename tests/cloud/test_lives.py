# SPDX-License-Identifier: Apache-2.0
"""Types through their lives: made, looked at, checked, suspended, resumed, changed, deleted."""

from __future__ import annotations

import copy

import pytest

from tests.cloud.conftest import Stack
from tests.cloud.test_dependencies import resource
from tests.cloud.test_observing import looked_at
from tests.cloud.world import LARGE

REF = {
    name: {"get_resource": name}
    for name in (
        *("scope", "pool", "net", "subnet", "router", "group", "port", "below", "address", "key", "servers"),
        *("server", "volume", "config", "project", "service", "kind", "sealed", "quality", "policy"),
    )
}

#: A public key that nobody has the other half of.
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKmxYj0eBRXuxwrqjOWLa8+gFKKUOCQSwsm0cTxS0PZZ nobody"


def of_a_user(smallest, outside):
    """Return resources that anybody may have."""
    return {
        "scope": resource("OS::Neutron::AddressScope", ip_version=4),
        "pool": resource(
            "OS::Neutron::SubnetPool",
            prefixes=["10.50.0.0/16"],
            default_prefixlen=24,
            address_scope=REF["scope"],
        ),
        "net": resource("OS::Neutron::Net", tags=["a", "b"]),
        "subnet": resource("OS::Neutron::Subnet", network=REF["net"], subnetpool=REF["pool"]),
        "router": resource("OS::Neutron::Router"),
        "gateway": resource("OS::Neutron::RouterGateway", router_id=REF["router"], network=outside),
        "interface": resource("OS::Neutron::RouterInterface", router=REF["router"], subnet=REF["subnet"]),
        "group": resource("OS::Neutron::SecurityGroup"),
        "rule": resource(
            "OS::Neutron::SecurityGroupRule",
            security_group=REF["group"],
            protocol="tcp",
            port_range_min=80,
            port_range_max=80,
        ),
        "port": resource("OS::Neutron::Port", network=REF["net"], security_groups=[REF["group"]]),
        "below": resource("OS::Neutron::Port", network=REF["net"]),
        "trunk": resource(
            "OS::Neutron::Trunk",
            port=REF["port"],
            sub_ports=[{"port": REF["below"], "segmentation_id": 10, "segmentation_type": "vlan"}],
        ),
        "address": resource("OS::Neutron::FloatingIP", floating_network=outside),
        "association": resource(
            "OS::Neutron::FloatingIPAssociation", floatingip_id=REF["address"], port_id=REF["port"]
        ),
        "key": resource("OS::Nova::KeyPair", name="heatconv-lives", public_key=KEY),
        "servers": resource("OS::Nova::ServerGroup", policies=["affinity"]),
        "config": resource("OS::Heat::CloudConfig", cloud_config={"packages": ["a"]}),
        "server": resource(
            "OS::Nova::Server",
            **smallest,
            key_name=REF["key"],
            user_data_format="RAW",
            user_data=REF["config"],
            scheduler_hints={"group": REF["servers"]},
            networks=[{"subnet": REF["subnet"]}],
            tags=["x"],
        ),
        "volume": resource("OS::Cinder::Volume", size=1, metadata={"a": "b"}),
        "disk": resource(
            "OS::Cinder::VolumeAttachment", instance_uuid=REF["server"], volume_id=REF["volume"]
        ),
    }


def of_an_operator():
    """Return resources that only administrators may have."""
    return {
        "project": resource("OS::Keystone::Project", domain="default", enabled=True),
        "user": resource(
            "OS::Keystone::User",
            domain="default",
            password="no-secret",
            roles=[{"role": "member", "project": REF["project"]}],
        ),
        "people": resource("OS::Keystone::Group", domain="default"),
        "role": resource("OS::Keystone::Role"),
        "service": resource("OS::Keystone::Service", type="strange"),
        "endpoint": resource(
            "OS::Keystone::Endpoint", service=REF["service"], interface="public", url="http://nowhere"
        ),
        "flavor": resource("OS::Nova::Flavor", ram=LARGE, vcpus=1, disk=1, extra_specs={"a": "b"}),
        "cores": resource("OS::Nova::Quota", project=REF["project"], cores=5),
        "ports": resource("OS::Neutron::Quota", project=REF["project"], port=5),
        "volumes": resource("OS::Cinder::Quota", project=REF["project"], volumes=5),
        "kind": resource("OS::Cinder::VolumeType", name="heatconv-lives"),
        "sealed": resource("OS::Cinder::VolumeType", name="heatconv-lives-sealed"),
        "seal": resource(
            "OS::Cinder::EncryptedVolumeType",
            volume_type=REF["sealed"],
            provider="luks",
            control_location="front-end",
        ),
        "quality": resource("OS::Cinder::QoSSpecs", specs={"a": "b"}),
        "qualities": resource(
            "OS::Cinder::QoSAssociation", qos_specs=REF["quality"], volume_types=[REF["kind"]]
        ),
        "policy": resource("OS::Neutron::QoSPolicy"),
        "bandwidth": resource("OS::Neutron::QoSBandwidthLimitRule", policy=REF["policy"], max_kbps=100),
        "mark": resource("OS::Neutron::QoSDscpMarkingRule", policy=REF["policy"], dscp_mark=10),
    }


@pytest.fixture(scope="module")
def outside(cloud):
    """Return the name of an external network."""
    return next(each.name for each in cloud.network.networks(is_router_external=True))


@pytest.fixture(scope="module")
def operators(run):
    """Return a heatconv-all that acts for an administrator."""
    process = run("operators")
    yield process.wait_for(r"heatconv is up: (\S+)")[1]
    assert "Traceback" not in process.output


def live(stack, resources, **changes):
    """Take a stack through its life; ``changes`` are what an update gives to its resources."""
    stack.create(resources)
    drifted = looked_at(stack) and stack.client.show_drift(stack.name)["resources"]
    for action in ("check", "suspend", "resume"):
        stack.act(action, until=f"{action.upper()}_COMPLETE")
    made = {name: stack.id_of(name) for name in resources}
    changed = copy.deepcopy(resources)
    for name, properties in changes.items():
        changed[name]["properties"] |= properties
    stack.update(changed)
    assert {name: stack.id_of(name) for name in resources} == made
    stack.delete()
    assert not drifted


def test_of_a_user(stack, smallest, outside):
    live(
        stack,
        of_a_user(smallest, outside),
        volume={"size": 2},
        server={"tags": ["y"], "metadata": {"a": "b"}},
        group={"description": "changed"},
        net={"tags": ["c"]},
        trunk={"description": "changed"},
    )


def test_of_an_operator(operators):
    live(
        Stack(operators),
        of_an_operator(),
        cores={"cores": 6},
        bandwidth={"max_kbps": 200},
        quality={"specs": {"a": "c"}},
        flavor={"extra_specs": {"a": "c"}},
        endpoint={"url": "http://elsewhere"},
        people={"description": "changed"},
    )
