# SPDX-License-Identifier: Apache-2.0
"""What Heat's plugins are given as their base."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from heatconv.model.definition import Definition
from heatconv.openstack import mends
from heatconv.openstack.stand_ins.resource import Resource
from heatconv.openstack.stand_ins.stack_user import StackUser
from heatconv.resources import exception
from heatconv.resources.clients import Clients
from heatconv.resources.driver import is_observable
from heatconv.resources.facts import Incarnation, StackFacts
from heatconv.resources.properties import Schema
from tests.driving import drive


class Port(Resource):
    default_client_name = "network"
    entity: str | None = "port"
    properties_schema = {
        "network": Schema(Schema.STRING, update_allowed=True),
        "device": Schema(Schema.STRING, default="", update_allowed=True),
        "password": Schema(Schema.STRING, update_allowed=True),
        "rules": Schema(Schema.LIST, update_allowed=True),
    }


class Network:
    service_types = ("network",)

    def __init__(self, _context):
        pass

    def does_endpoint_exist(self, service_type, service_name):
        return (service_type, service_name) == ("network", "network")

    def has_extension(self, alias):
        return alias == "trunk"


@pytest.fixture
def context(monkeypatch):
    monkeypatch.setattr("heatconv.resources.clients.installed", lambda: {"network": Network})
    made = SimpleNamespace(project_id="p", endpoints={}, stack_users=None)
    made.clients = Clients(made)
    return made


def port(context, **properties):
    stack = StackFacts(id="1", name="web", project_id="p", context=context)
    made = Port("port", Definition(name="port", type="Port", properties=properties), stack)
    drive(made).attach(Incarnation(id="2", physical_id="3"), None)
    return made


def test_only_what_was_given_as_one_value_can_drift(context):
    """A device is the server's, rules come back in other forms, and a password never does."""
    made = port(context, network="net", password="p", rules=[{"port": 1}])
    live = {"network": "other", "device": "server", "password": None, "rules": [{"port_id": 1}]}
    assert drive(made).differences(live) == {"network": "other"}


def test_the_name_that_was_written_is_no_drift_from_the_id_that_it_stands_for(context):
    made = port(context, network="net")
    made.properties = made.t.freeze(properties={"network": "id-of-net"}).properties(Port.properties_schema)
    assert drive(made).differences({"network": "net"}) == {}
    assert drive(made).differences({"network": "id-of-other"}) == {"network": "id-of-other"}


def test_what_is_no_object_of_its_own_is_not_looked_at():
    class Gateway(Port):
        entity = None

    class Quota(Port):
        entity = "quotas"

    assert (is_observable(Port), is_observable(Gateway), is_observable(Quota)) == (True, False, False)


def test_a_service_is_looked_for_in_the_catalog(context, monkeypatch):
    class Trunk(Port):
        required_service_extension = "trunk"

    class Tap(Port):
        required_service_extension = "taas"

    class Share(Port):
        default_client_name = "share"

    assert Trunk.is_service_available(context) == (True, None)
    assert Tap.is_service_available(context) == (False, "the service lacks the extension taas")
    assert Share.is_service_available(context) == (False, "The client (share) is not available.")
    monkeypatch.setattr(Network, "service_types", ("networks",))
    said = "the cloud's catalog has no endpoint of the service networks"
    assert Port.is_service_available(context) == (False, said)


def test_a_user_in_keystone_is_refused_in_one_sentence(context):
    class Speaking(StackUser):
        pass

    speaking = Speaking("a", Definition(name="a", type="T"), port(context).stack)
    with pytest.raises(exception.NotSupported, match="A Keystone user for a"):
        speaking._create_user()


def test_neutrons_plugin_has_its_exceptions_where_networks_look_for_them():
    plugin = SimpleNamespace(exceptions_module="those", _create=None, _find_resource_id=None)
    assert mends.client("neutron", plugin).exceptions == "those"
    assert mends.client("cinder", plugin) is plugin
