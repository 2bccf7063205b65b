# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import itertools
import re
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import pytest

from heatconv.model.definition import Definition
from heatconv.openstack.existing import mark
from heatconv.openstack.stand_ins.resource import Resource
from heatconv.openstack.types import MODULES, OURS
from heatconv.openstack.ways import WAYS, searchable
from heatconv.resources.facts import Incarnation, StackFacts
from heatconv.resources.naming import short_id_in
from heatconv.resources.properties import Schema
from heatconv.resources.short_id import get_id
from tests.driving import drive

PAGE = Path(__file__).parents[3] / "doc/source/howto/use-your-cloud.rst"
BEGUN = datetime(2026, 1, 1, tzinfo=UTC)


class Neutron:
    """As much of Neutron as ports take."""

    def __init__(self):
        self.ports = []
        self.numbers = itertools.count(1)

    def create_port(self, body):
        made = {"id": f"port-{next(self.numbers)}", "description": "", **body["port"]}
        self.ports.append(made)
        return {"port": made}

    def list_ports(self, **filters):
        return {"ports": [each for each in self.ports if filters.items() <= each.items()]}


class Port(Resource):
    """A port."""

    default_client_name = "neutron"
    properties_schema = {name: Schema(Schema.STRING) for name in ("name", "description")}

    def handle_create(self):
        given = {name: value for name, value in self.properties.items() if value is not None}
        body = {"name": self.physical_resource_name(), **given}
        self.client().create_port({"port": body})


@pytest.fixture
def neutron():
    return Neutron()


@pytest.fixture
def port(neutron):
    """Return a function that makes a port's resource, of which one in another stack has the same name."""
    type_ = searchable("OS::Neutron::Port", Port)
    clients = SimpleNamespace(client=lambda _name, version=None: neutron)

    def make(stack="mine", row="00000000-0000-4000-8000-000000000001", **properties):
        context = SimpleNamespace(clients=clients)
        facts = StackFacts(id=stack, name=stack, project_id="p", context=context)
        definition = Definition(name="port", type="OS::Neutron::Port", properties=properties)
        made = type_("port", definition, facts)
        drive(made).attach(Incarnation(id=row, created_at=BEGUN), None)
        return made

    return make


def other(port, **properties):
    return port("other", "00000000-0000-4000-8000-000000000002", **properties)


def test_an_object_is_found_by_its_unique_name(port, neutron):
    other(port).handle_create()
    assert port().find_existing() is None
    port().handle_create()
    assert port().find_existing() == "port-2"
    assert {each["description"] for each in neutron.ports} == {""}


@pytest.mark.parametrize("properties", [{}, {"name": "web"}])
def test_all_that_its_user_sees_is_named_by_its_name_or_its_mark(port, neutron, properties):
    neutron.create_port({"port": {"name": "somebody's"}})
    port(**properties).handle_create()
    ours = mark(port()) if properties else port().physical_resource_name()
    assert [*other(port).find_named()] == [("port-1", "somebody's"), ("port-2", ours)]
    assert short_id_in(ours) == get_id(port().uuid)


@pytest.mark.parametrize("properties", [{}, {"name": "web"}])
def test_all_that_creates_have_made_is_found_and_nothing_of_others(port, properties):
    other(port, **properties).handle_create()
    for _ in range(2):
        port(**properties).handle_create()
    assert port(**properties).find_existing() == "port-2"
    assert port(**properties).find_all() == ["port-2", "port-3"]


def test_an_object_that_a_user_named_is_found_by_its_mark_and_never_anothers(port):
    other(port, name="web").handle_create()
    assert port(name="web").is_searchable()
    assert port(name="web").find_existing() is None
    port(name="web").handle_create()
    assert port(name="web").find_existing() == "port-2"
    assert other(port, name="web").find_existing() == "port-1"


def test_a_description_of_the_users_own_stays_and_then_nothing_is_found(port, neutron):
    given = {"name": "web", "description": "of the users"}
    port(**given).handle_create()
    assert neutron.ports[0]["description"] == "of the users"
    assert not port(**given).is_searchable()
    assert port(**given).find_existing() is None


def test_the_page_names_each_type_and_how_it_is_found():
    rows = re.findall(r"\* - ``(.*)``\n +- (.*)\n +-(.*)", PAGE.read_text())
    found = [(name, by, mark.strip()) for name, by, mark in rows]
    assert found == [(name, way.found_by, "yes" if way.creates else "") for name, way in sorted(WAYS.items())]


def test_the_types_are_ones_that_a_cloud_has():
    assert WAYS.keys() <= {*OURS, *(name for names in MODULES.values() for name in names)}


def test_a_method_that_takes_a_description_of_none_gets_the_mark(port):
    """Cinder's arguments have one in any case."""
    made = []
    clients = SimpleNamespace(volumes=SimpleNamespace(create=lambda **given: made.append(given)))
    volume = searchable("OS::Cinder::Volume", Port)
    resource = volume("port", port(name="web").definition, port().stack)
    drive(resource).attach(Incarnation(id="00000000-0000-4000-8000-000000000001"), None)
    resource.stack.context.clients.client = lambda _name, version=None: clients
    resource.client().volumes.create(name="web", description=None, size=1)
    assert made == [{"name": "web", "description": mark(resource), "size": 1}]
