# SPDX-License-Identifier: Apache-2.0
"""Which types a cloud adds, and what of Heat is loaded for them."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from heatconv.client.http import Client, ClientError

#: Run in a process of its own: what is imported here stays.
LOADED = """
import json, sys
from oslo_config import cfg
from heatconv import conf as configuration
from heatconv.openstack import adapter, finder
from heatconv.resources.resource import Resource

finder.install()
adapter.configure(configuration.load([], prog="test", default_config_files=[]), "public")
before = sorted(name for name in sys.modules if name.startswith("heat."))
heat = adapter._installed()
types = {name: load() for name, load in adapter._types().items()}
for group in ("heat.clients", "heat.constraints"):
    for load in adapter._entry_points(heat, group).values():
        load()
print(json.dumps({
    "before": before,
    "after": sorted(name for name in sys.modules if name.startswith("heat.")),
    "strangers": sorted(name for name, found in types.items() if not issubclass(found, Resource)),
}))
"""


def loaded():
    command = [sys.executable, "-W", "ignore", "-c", LOADED]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def test_heats_engine_is_never_loaded():
    """All types, clients and constraints are imported, and nothing of Heat that is no plugin's business."""
    found = loaded()
    parts = {".".join(name.split(".")[:3]) for name in found["after"]}
    assert found["strangers"] == []
    assert not [name for name in found["after"] if name.split(".")[1] in ("db", "objects", "policies")]
    assert not parts & {f"heat.engine.{each}" for each in ("service", "stack", "worker", "parser")}


def test_a_module_of_heats_is_imported_when_it_is_first_used():
    assert [name for name in loaded()["before"] if name.startswith("heat.engine.")] == []


def test_all_types_are_listed_and_can_be_shown(service):
    client = Client(service.endpoint)
    listed = {each["resource_type"] for each in client.list_resource_types()}
    assert {"OS::Nova::Server", "OS::Neutron::Port", "OS::Cinder::Volume", "OS::Heat::Value"} <= listed
    server = client.show_resource_type("OS::Nova::Server")
    assert server["properties"]["flavor"]["required"] is True
    assert "OS::Neutron::LoadBalancer" not in listed  # Heat hides it


@pytest.fixture(scope="module")
def everything(run, login):
    """Return a client of a heatconv-all that acts as an administrator."""
    auth = {**login.auth, "user_id": login.operator.id}
    login.write(operator={"auth": auth, "region_name": login.admin.config.region_name})
    return Client(run("operator").wait_for(r"heatconv is up: (\S+)")[1])


def names(client):
    return {each["resource_type"] for each in client.list_resource_types()}


def test_what_is_for_administrators_is_shown_to_these_alone(service, everything):
    mine, theirs = names(Client(service.endpoint)), names(everything)
    assert {"OS::Nova::Flavor", "OS::Keystone::User", "OS::Neutron::QoSPolicy"} <= theirs - mine
    assert mine < theirs
    with pytest.raises(ClientError, match=r"not authorized to use OS::Nova::Flavor") as refused:
        Client(service.endpoint).show_resource_type("OS::Nova::Flavor")
    assert refused.value.status == 403


FLAVOR = {"type": "OS::Nova::Flavor", "properties": {"ram": 64, "vcpus": 1, "disk": 1}}


def within(resources):
    return json.dumps({"heat_template_version": "2021-04-16", "resources": resources})


@pytest.mark.parametrize(
    ("resources", "beside"),
    [
        ({"it": FLAVOR}, {}),
        ({"it": {**FLAVOR, "type": "My::Flavor"}}, {"My::Flavor": "OS::Nova::Flavor"}),
        ({"it": {"type": "inner.yaml"}}, {}),
        (
            {
                "it": {
                    "type": "OS::Heat::ResourceGroup",
                    "properties": {"count": 2, "resource_def": FLAVOR},
                }
            },
            {},
        ),
    ],
)
def test_who_is_no_administrator_cannot_name_their_types_anywhere(service, resources, beside):
    template = {"heat_template_version": "2021-04-16", "resources": resources}
    body = {
        "template": template,
        "environment": {"resource_registry": beside},
        "files": {"inner.yaml": within({"deep": FLAVOR})},
    }
    with pytest.raises(ClientError, match=r"not authorized to use OS::Nova::Flavor") as refused:
        Client(service.endpoint).create_stack({"stack_name": "forbidden", **body})
    assert refused.value.status == 403


def test_a_type_whose_service_the_catalog_lacks_is_not_listed_and_says_so(everything, admin):
    assert not list(admin.identity.services(type="dns")), "this cloud has more than this test knows of"
    assert "OS::Designate::Zone" not in names(everything)
    with pytest.raises(ClientError, match="Service designate is not available") as refused:
        everything.show_resource_type("OS::Designate::Zone")
    assert refused.value.status == 400
    zone = {"zone": {"type": "OS::Designate::Zone", "properties": {"name": "example.org."}}}
    template = {"heat_template_version": "2021-04-16", "resources": zone}
    with pytest.raises(ClientError, match="Service designate is not available") as refused:
        everything.create_stack({"stack_name": "zones", "template": template})
    assert (refused.value.status, refused.value.kind) == (400, "ResourceTypeUnavailable")


def members(image, flavor):
    """Return the template of a group of one."""
    resources = {
        "like": {
            "type": "AWS::AutoScaling::LaunchConfiguration",
            "properties": {"ImageId": image, "InstanceType": flavor},
        },
        "group": {
            "type": "AWS::AutoScaling::AutoScalingGroup",
            "properties": {
                "AvailabilityZones": ["nova"],
                "LaunchConfigurationName": {"get_resource": "like"},
                "MinSize": 1,
                "MaxSize": 1,
            },
        },
    }
    return {"heat_template_version": "2021-04-16", "resources": resources}


def test_nobody_is_shown_the_type_of_members_of_groups(everything):
    assert "OS::Heat::ScaledResource" not in names(everything)
    with pytest.raises(ClientError, match="no-such-image") as refused:
        everything.create_stack({"stack_name": "members", "template": members("no-such-image", "m1.tiny")})
    assert "ScaledResource" not in str(refused.value)


def test_what_an_environment_makes_of_servers_it_makes_of_members(service, stack, smallest):
    client = Client(service.endpoint)
    environment = {"resource_registry": {"AWS::EC2::Instance": "OS::Heat::None"}}
    body = {"template": members(**smallest), "environment": environment}
    stack.id = client.create_stack({"stack_name": stack.name, **body})
    stack.wait_for("CREATE_COMPLETE")
    inside = client.list_resources(stack.id_of("group"))
    assert [each["resource_status"] for each in inside] == ["CREATE_COMPLETE"]
