# SPDX-License-Identifier: Apache-2.0
"""What a plan says of a change, beside what Nova, Neutron and Cinder are asked when it is applied."""

from __future__ import annotations

import copy
import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest

from tests.cloud import census
from tests.cloud.conftest import source
from tests.cloud.counting_proxy import CountingProxy
from tests.cloud.test_dependencies import resource
from tests.cloud.test_server import web
from tests.plan_judge import judged

Resources = dict[str, Any]

SERVER, VOLUME, NET = ({"get_resource": name} for name in ("server", "volume", "net"))

NOVA, CINDER = "nova servers", "cinder volumes"
PORTS = f"{NOVA}/*/os-interface"
DISKS = f"{NOVA}/*/os-volume_attachments"
RULES = "neutron security-group-rules"
SEEN = "neutron networks/*/tags"

#: What is known of an address that may change: that of a server which has it.
ADDRESS = {"get_attr": ["server", "first_address"]}


@pytest.fixture(scope="module")
def way(login, admin):
    """Return a way to the cloud that counts what goes by it."""
    made = CountingProxy()
    auth = login.auth | {"auth_url": made.leading_to(login.auth["auth_url"])}
    login.write(planned={"auth": auth, "region_name": admin.config.region_name})
    yield made
    made.close()


@pytest.fixture(scope="module")
def service(way, run):
    """Return a heatconv-all that goes by that way."""
    process = run("planned")
    process.endpoint = process.wait_for(r"heatconv is up: (\S+)")[1]
    yield process
    assert "Traceback" not in process.output


@pytest.fixture(scope="module")
def given(cloud, smallest, larger):
    """Return what there is to choose from: a server's properties, and others for them."""
    image = cloud.image.create_image(
        name="heatconv-plans", data=b"nothing", disk_format="raw", container_format="bare", wait=True
    )
    yield SimpleNamespace(smallest=smallest, larger=larger, image="heatconv-plans")
    cloud.image.delete_image(image.id)


# -- what is changed ------------------------------------------------------------------------------


def of_server(given):
    """Return a server with a port, and a network that is tagged with the server's address."""
    server = web(given.smallest, user_data_format="RAW", user_data="#!/bin/sh\n")
    return server | {"seen": resource("OS::Neutron::Net", tags=[ADDRESS])}


def of_server_with_volume(given):
    """Return a server with a port, a volume at it, and a network that is tagged with the attachment."""
    return web(given.smallest) | {
        "volume": resource("OS::Cinder::Volume", size=1),
        "disk": resource("OS::Cinder::VolumeAttachment", instance_uuid=SERVER, volume_id=VOLUME),
        "seen": resource("OS::Neutron::Net", tags=[{"get_resource": "disk"}]),
    }


def of_two_networks(given):
    """Return a server with a port in a network, and another network with a port."""
    other = {"get_resource": "other"}
    return web(given.smallest) | {
        "other": resource("OS::Neutron::Net"),
        "beside": resource("OS::Neutron::Subnet", network=other, cidr="10.10.0.0/24"),
        "spare": resource("OS::Neutron::Port", network=other) | {"depends_on": "beside"},
    }


def of_address(given, address="10.9.0.10"):
    """Return a server whose port has an address, of which the server is told."""
    fixed = [{"subnet": {"get_resource": "subnet"}, "ip_address": address}]
    known = {"get_attr": ["port", "fixed_ips", 0, "ip_address"]}
    return web(given.smallest, port={"fixed_ips": fixed}, metadata={"address": known})


def of_volume(_given):
    """Return a volume, and a network that is tagged with its size."""
    size = {"list_join": ["", [{"get_attr": ["volume", "size"]}]]}
    return {
        "volume": resource("OS::Cinder::Volume", size=1, metadata={"a": "b"}),
        "seen": resource("OS::Neutron::Net", tags=[size]),
    }


def of_group(_given):
    """Return a security group with a rule, another rule beside it, and a port that is in it."""
    group = {"get_resource": "group"}
    return {
        "net": resource("OS::Neutron::Net"),
        "group": resource("OS::Neutron::SecurityGroup", rules=[rule(22)]),
        "rule": resource("OS::Neutron::SecurityGroupRule", security_group=group, **rule(80)),
        "port": resource("OS::Neutron::Port", network=NET, security_groups=[group]),
    }


def rule(port):
    return {"protocol": "tcp", "port_range_min": port, "port_range_max": port}


@dataclass(frozen=True)
class Change:
    """A change of a stack, what its plan has to say, and what services are then asked to change."""

    name: str
    change: Callable[[Any], Mapping[str, Resources]]  #: other properties, by resource
    said: Mapping[str, str]
    asked: Collection[str]


def _is(**properties):
    return lambda _given: properties


ANOTHER = {f"POST {NOVA}", f"DELETE {NOVA}", f"DELETE {PORTS}"}
MOVED = {f"POST {DISKS}", f"DELETE {DISKS}"}
REBUILT = {f"POST {NOVA}/*/action rebuild"}

#: What changes one after another in one stack, by how that is made.
LIVES: Mapping[Callable[[Any], Resources], list[Change]] = {
    of_server: [
        Change(
            "a server's metadata",
            _is(server={"metadata": {"a": "b"}}),
            {"server": "update: metadata", "seen": "update?: tags"},
            {f"POST {NOVA}/*/metadata"},
        ),
        Change(
            "a server's flavor",
            lambda given: {"server": {"flavor": given.larger}},
            {"server": "update: flavor", "seen": "update?: tags"},
            {f"POST {NOVA}/*/action resize", f"POST {NOVA}/*/action confirmResize"},
        ),
        Change(
            "a server's image",
            lambda given: {"server": {"image": given.image}},
            {"server": "update: image", "seen": "update?: tags"},
            REBUILT,
        ),
        Change(
            "a server's user data",
            _is(server={"user_data": "#!/bin/sh\ntrue\n"}),
            {"server": "replace: user_data", "seen": "update?: tags"},
            ANOTHER,
        ),
        Change(
            "a server's user data, by a rebuild",
            _is(server={"user_data": "#!/bin/sh\nfalse\n", "user_data_update_policy": "REBUILD"}),
            {"server": "update: user_data, user_data_update_policy", "seen": "update?: tags"},
            REBUILT,
        ),
        Change(
            "a server's image, by replacement",
            lambda given: {"server": {"image": given.smallest["image"], "image_update_policy": "REPLACE"}},
            {"server": "replace: image, image_update_policy", "seen": "update?: tags"},
            ANOTHER,
        ),
    ],
    of_server_with_volume: [
        Change(
            "a volume's zone",
            _is(volume={"availability_zone": "nova"}),
            {
                "volume": "replace: availability_zone",
                "disk": "update: volume_id",
                "seen": "update?: tags",
            },
            {f"POST {CINDER}", f"DELETE {CINDER}", f"PUT {SEEN}"} | MOVED,
        ),
        Change(
            "a server's flavor, by replacement",
            lambda given: {"server": {"flavor": given.larger, "flavor_update_policy": "REPLACE"}},
            {"server": "replace: flavor, flavor_update_policy", "disk": "update: instance_uuid"},
            ANOTHER | MOVED,
        ),
        Change(
            "a server's zone",
            _is(server={"availability_zone": "nova"}),
            {"server": "replace: availability_zone", "disk": "update: instance_uuid"},
            ANOTHER | MOVED,
        ),
    ],
    of_two_networks: [
        Change(
            "a port's network",
            _is(port={"network": {"get_resource": "other"}}),
            {"port": "replace: network", "server": "update: networks"},
            {
                *(f"{verb} neutron ports" for verb in ("POST", "PUT", "DELETE")),
                *(f"{verb} {PORTS}" for verb in ("POST", "DELETE")),
            },
        ),
        Change(
            "a server's networks: one more",
            _is(server={"networks": [{"port": {"get_resource": name}} for name in ("port", "spare")]}),
            {"server": "update: networks"},
            {f"POST {PORTS}"},
        ),
        Change(
            "a server's networks: one less",
            _is(server={"networks": [{"port": {"get_resource": "spare"}}]}),
            {"server": "update: networks"},
            {f"DELETE {PORTS}"},
        ),
    ],
    of_address: [
        Change(
            "a port's address",
            lambda given: {"port": of_address(given, "10.9.0.20")["port"]["properties"]},
            {"port": "update: fixed_ips", "server": "update?: metadata"},
            {"PUT neutron ports", f"POST {NOVA}/*/metadata"},
        ),
        Change(
            "a port's name",
            _is(port={"name": "renamed"}),
            {"port": "update: name", "server": "update?: metadata"},
            {"PUT neutron ports"},
        ),
    ],
    of_volume: [
        Change(
            "a volume's size",
            _is(volume={"size": 2}),
            {"volume": "update: size", "seen": "update?: tags"},
            {f"POST {CINDER}/*/action os-extend", f"PUT {SEEN}"},
        ),
        Change(
            "a volume's metadata",
            _is(volume={"metadata": {"a": "c"}}),
            {"volume": "update: metadata", "seen": "update?: tags"},
            {f"PUT {CINDER}/*/metadata"},
        ),
        Change(
            "a volume's type",
            _is(volume={"volume_type": "__DEFAULT__"}),
            {"volume": "update: volume_type", "seen": "update?: tags"},
            {f"POST {CINDER}/*/action os-retype"},
        ),
    ],
    of_group: [
        Change(
            "a security group's rules: one more",
            _is(group={"rules": [rule(22), rule(443)]}),
            {"group": "update: rules"},
            {f"POST {RULES}"},
        ),
        Change(
            "a security group's rules: another",
            _is(group={"rules": [rule(443), rule(8443)]}),
            {"group": "update: rules"},
            {f"POST {RULES}", f"DELETE {RULES}"},
        ),
        Change(
            "a rule's port",
            _is(rule=rule(81)),
            {"rule": "replace: port_range_max, port_range_min"},
            {f"POST {RULES}", f"DELETE {RULES}"},
        ),
    ],
}


# -- what was said, and what was done -------------------------------------------------------------


def said(plan):
    """Return what a plan says of each resource, and what of it is to change."""
    return {
        each["name"]: each["action"]
        + ("?" if each["certainty"] == "possible" else "")
        + ": "
        + ", ".join(change["path"].removeprefix("properties.") for change in each["changes"])
        for each in plan["resources"]
    }


def done(stack, known):
    """Return what the events since so many say that was done to each resource."""
    events = stack.client.list_events(stack.name)
    acts: dict[str, set[str]] = {}
    for each in events[: len(events) - known]:
        if each["resource_name"] != stack.name:
            acts.setdefault(each["resource_name"], set()).add(each["resource_status"].partition("_")[0])
    names = {frozenset({"UPDATE"}): "update", frozenset({"CREATE", "DELETE"}): "replace"}
    return {name: names.get(frozenset(each), f"{sorted(each)}") for name, each in acts.items()}


def ids(stack):
    """Return the physical ids of the resources by name; nobody asks a service for them."""
    return {
        each["resource_name"]: each["physical_resource_id"]
        for each in stack.client.list_resources(stack.name)
    }


#: Whose changes take no time, and are tried each time; the others are long.
QUICK = (of_address, of_group)


def seen(each):
    """Return an object as it was listed, a group without its rules: these may be resources of their own."""
    return {name: value for name, value in each.looks.items() if name != "rules"}


@pytest.mark.parametrize(
    "made",
    [pytest.param(made, marks=() if made in QUICK else pytest.mark.long, id=made.__name__) for made in LIVES],
)
def test_what_a_plan_says_is_what_services_are_asked(made, stack, given, way, cloud, add_line):
    resources = made(given)
    stack.create(resources)
    for change in LIVES[made]:
        for each, properties in change.change(given).items():
            resources[each]["properties"] |= properties
        carry_out(change, resources, stack, way, cloud, add_line)
    assert said(stack.client.plan_change(stack.name, source(resources))) == {}


def carry_out(change, resources, stack, way, cloud, add_line):
    """Plan a change, apply that, and hold what it said beside what was done and asked."""
    before, there = ids(stack), {each.id: each for each in census.found(cloud)}
    known = len(stack.client.list_events(stack.name))

    began = time.monotonic()
    plan = judged(stack.client.plan_change(stack.name, source(resources)))
    assert [*map(str, way.changes(began))] == []
    foretold = said(plan)

    began = time.monotonic()
    stack.client.apply_plan(plan["id"])
    stack.wait_for("UPDATE_COMPLETE")
    calls = way.changes(began)
    after, now = ids(stack), done(stack, known)
    kept = {each.id: each for each in census.found(cloud)}
    asked = Counter(map(str, calls))
    add_line(f"{change.name}: said {foretold}, done {now}, asked {dict(asked)}")

    assert foretold == change.said
    for each, words in foretold.items():
        act, _, _ = words.partition(":")
        assert now.get(each, "nothing") in ({act} if act[-1] != "?" else {act[:-1], "nothing"}), each
    assert now.keys() <= foretold.keys()
    assert set(asked) == change.asked

    replaced = {each for each, act in now.items() if act == "replace"}
    # An attachment has the id of its volume.
    moved = {"disk"} & now.keys() if "volume" in replaced else set()
    assert {each for each in resources if before[each] != after[each]} == replaced | moved
    assert there.keys() - kept.keys() == {before[each] for each in replaced} & there.keys()
    assert kept.keys() - there.keys() == {after[each] for each in replaced} & kept.keys()
    left = there.keys() - {before[each] for each in now}
    assert [each for each in left if seen(kept[each]) != seen(there[each])] == []
    ids_of = {each: {before[each], after[each]} for each in resources}
    for call in calls:
        of = concerned(call, ids_of)
        assert not of or of & now.keys(), call


def concerned(call, ids_of):
    """Return the resources whose ids a call names; an attachment is meant where its server is named."""
    parts = set(call.path.split("/"))
    return {"disk"} if "os-volume_attachments" in parts else {name for name in ids_of if ids_of[name] & parts}


REFUSED = {
    "a volume that shrinks": (
        {"it": resource("OS::Cinder::Volume", size=2)},
        {"size": 1, "name": "renamed"},
        "Shrinking a volume from 2 GB to 1 GB",
    ),
    "a group that becomes stateless": (
        {
            "it": resource("OS::Neutron::SecurityGroup"),
            "net": resource("OS::Neutron::Net"),
            "port": resource("OS::Neutron::Port", network=NET, security_groups=[{"get_resource": "it"}]),
        },
        {"stateful": False, "description": "changed"},
        "is attached to ports",
    ),
    "a subnet that is to get any gateway": (
        {
            "net": resource("OS::Neutron::Net"),
            "it": resource("OS::Neutron::Subnet", network=NET, cidr="10.9.0.0/24", gateway_ip="10.9.0.9"),
        },
        {"gateway_ip": "auto", "name": "renamed"},
        'Changing the gateway_ip of a subnet to "auto"',
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_plan_says_what_will_be_refused(name, stack, way, add_line):
    resources, properties, words = REFUSED[name]
    stack.create(resources)
    changed = copy.deepcopy(resources)
    changed["it"]["properties"] |= properties

    plan = judged(stack.client.plan_change(stack.name, source(changed)))
    (it,) = (each for each in plan["resources"] if each["name"] == "it")
    add_line(f"{name}: said {said(plan)}, {it['problem']!r}")
    assert words in it["problem"]

    began = time.monotonic()
    stack.client.apply_plan(plan["id"])
    stack.wait_for("UPDATE_FAILED")
    assert it["problem"].rstrip(".") in stack.reason()
    assert way.changes(began) == []
