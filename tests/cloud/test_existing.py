# SPDX-License-Identifier: Apache-2.0
"""What the plugin of a type made is found again in its service, and nothing else; its id is kept nowhere."""

from __future__ import annotations

import os
import uuid
from datetime import UTC, datetime
from typing import Any

import pytest

from heatconv import conf as configuration
from heatconv.model.definition import Definition
from heatconv.openstack import adapter
from heatconv.resources.facts import Incarnation, StackFacts
from heatconv.resources.registry import Registry
from tests.cloud.world import LARGE
from tests.driving import drive

#: types that only administrators make, or that nothing depends on -> what they take beside a name
TYPES: dict[str, dict[str, Any]] = {
    "OS::Cinder::VolumeType": {},
    "OS::Keystone::Endpoint": {"interface": "public", "url": "http://127.0.0.1:1", "service": "placement"},
    "OS::Keystone::Group": {"domain": "default"},
    "OS::Keystone::Project": {"domain": "default"},
    "OS::Keystone::Role": {},
    "OS::Keystone::Service": {"type": "nothing"},
    "OS::Keystone::User": {"domain": "default"},
    "OS::Neutron::AddressScope": {},
    "OS::Neutron::ProviderNet": {"network_type": "vxlan"},
    "OS::Neutron::QoSPolicy": {},
    "OS::Neutron::SubnetPool": {"prefixes": ["10.77.0.0/16"]},
    "OS::Nova::Flavor": {"ram": LARGE, "vcpus": 1, "disk": 0},
    "OS::Nova::ServerGroup": {"policies": ["affinity"]},
}
#: those that have a mark, so that a user may give their name
MARKED = (
    "OS::Cinder::VolumeType",
    "OS::Neutron::ProviderNet",
    "OS::Neutron::QoSPolicy",
    "OS::Neutron::SubnetPool",
    "OS::Nova::Flavor",
)
CASES = [(name, False) for name in TYPES if name != "OS::Cinder::VolumeType"] + [
    (each, True) for each in MARKED
]


@pytest.fixture(scope="module")
def registry(admin):
    """Return the types of the cloud, whose plugins act as its administrator."""
    made = Registry({})
    conf = configuration.load([], prog="test", default_config_files=[])
    adapter.adapt(made, conf, os.environ.get("OS_CLOUD", "envvars"))
    return made


@pytest.fixture
def resource(registry):
    """Return a function that makes the resource of a type in a stack, to be created."""

    def make(type_name, stack, **properties):
        context = registry.asker("p")
        facts = StackFacts(id=stack, name=stack, project_id=context.project_id, context=context)
        definition = Definition(name="it", type=type_name, properties=properties)
        made = registry.get(type_name)("it", definition, facts)
        begun = datetime.now(UTC).replace(tzinfo=None)
        drive(made).attach(Incarnation(id=str(uuid.uuid5(uuid.NAMESPACE_OID, stack)), created_at=begun), None)
        return made

    return make


@pytest.mark.parametrize(("type_name", "named"), CASES)
def test_what_was_made_is_found_and_nothing_else(resource, type_name, named):
    stack = f"mine-{uuid.uuid4().hex[:8]}"
    given = TYPES[type_name] | ({"name": f"named-{stack}"} if named else {})
    made, lost, stranger = (resource(type_name, each, **given) for each in (stack, stack, "others"))
    assert lost.find_existing() is None
    drive(made).start("CREATE")
    try:
        assert lost.is_searchable()
        assert lost.find_existing() == made.resource_id
        assert stranger.find_existing() is None
    finally:
        drive(made).is_complete("DELETE", drive(made).start("DELETE"))
    assert lost.find_existing() is None
