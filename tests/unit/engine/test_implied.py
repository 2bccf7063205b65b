# SPDX-License-Identifier: Apache-2.0
"""The dependencies that a plugin adds to its resource."""

from __future__ import annotations

import logging

import pytest

from heatconv import errors
from heatconv.engine.freezing import freeze, parse
from heatconv.resources.clients import Clients
from heatconv.resources.context import Context
from heatconv.resources.facts import Among, StackFacts
from heatconv.resources.properties import Schema
from heatconv.resources.registry import Registry
from heatconv.resources.resource import Resource
from heatconv.resources.unknown import word


class Net(Resource):
    """Something with an id."""


class Subnet(Resource):
    properties_schema = {"network": Schema(Schema.STRING, required=True)}


class Port(Resource):
    properties_schema = {"network": Schema(Schema.STRING)}

    def add_dependencies(self, deps):
        super().add_dependencies(deps)
        for other in self.stack.values():
            if other.has_interface("Subnet") and other.properties["network"] == self.properties["network"]:
                deps += (self, other)


class NearPort(Port):
    """One that says among which resources it looks, and notes at how many it did."""

    looked = 0

    def looks_among(self):
        network = word(self.definition.properties.get("network"))
        return None if network is None else Among("Subnet", ("network",), frozenset({network}))

    def add_dependencies(self, deps):
        type(self).looked += len(list(self.stack.values()))
        super().add_dependencies(deps)


class Interface(Resource):
    properties_schema = {"subnet": Schema(Schema.STRING)}


class FloatingIP(Resource):
    """Asks the service about the networks of its properties, unless these are not known."""

    properties_schema = {"port": Schema(Schema.STRING)}
    default_client_name = "network"

    def add_dependencies(self, deps):
        for other in self.stack.values():
            if not other.has_interface("Interface"):
                continue
            for port in deps.graph()[self]:
                if other.properties["subnet"] is None or self._reaches(port, other):
                    deps += (self, other)

    def _reaches(self, port, interface):
        try:
            return self.client().reaches(port, interface)
        except Exception:  # noqa: BLE001 - as one of Heat's does
            return False


class Broken(Resource):
    def add_dependencies(self, deps):
        raise AttributeError("no such thing")


class Service:
    service_types = ()
    asked = 0

    def __init__(self, context):
        self.context = context

    def client(self, version=None):
        Service.asked += 1
        return self


TYPES = {each.__name__: each for each in (Net, Subnet, Port, NearPort, Interface, FloatingIP, Broken)}
NET = {"type": "Net"}


@pytest.fixture
def stack(monkeypatch):
    monkeypatch.setattr("heatconv.resources.clients.installed", lambda: {"network": Service})
    Service.asked = 0
    context = Context(project_id="mine")
    assert isinstance(context.clients, Clients)
    return StackFacts(id="1", name="web", project_id="mine", context=context)


def requires(stack, resources):
    """Return what each resource of a template requires."""
    posted = {"heat_template_version": "2021-04-16", "resources": resources}
    wanted = freeze(parse({"template": posted}, max_template_size=1 << 20), stack, Registry(TYPES))
    return {name: sorted(target.definition.requires) for name, target in wanted.targets.items()}


def subnet(net):
    return {"type": "Subnet", "properties": {"network": net}}


def port(net):
    return {"type": "Port", "properties": {"network": net}}


def test_what_a_plugin_adds_is_required_as_if_it_were_written(stack):
    found = requires(
        stack,
        {
            "a": NET,
            "b": NET,
            "in_a": subnet({"get_resource": "a"}),
            "in_b": subnet({"get_resource": "b"}),
            "fixed": subnet("public"),
            "port_a": port({"get_resource": "a"}),
            "port_b": port({"get_resource": "b"}),
            "port_public": port("public"),
        },
    )
    assert (found["port_a"], found["port_b"], found["port_public"]) == (
        ["a", "in_a"],
        ["b", "in_b"],
        ["fixed"],
    )
    assert found["in_a"] == ["a"]


def test_what_would_have_to_be_asked_for_is_assumed_and_nobody_is_asked(stack):
    """The service knows nothing yet of what the template will make."""
    found = requires(
        stack,
        {
            "net": NET,
            "subnet": subnet({"get_resource": "net"}),
            "interface": {"type": "Interface", "properties": {"subnet": {"get_resource": "subnet"}}},
            "port": port({"get_resource": "net"}),
            "ip": {"type": "FloatingIP", "properties": {"port": {"get_resource": "port"}}},
        },
    )
    assert found["ip"] == ["interface", "port"]
    assert Service.asked == 0


def test_a_circle_that_a_plugin_closes_is_told(stack):
    resources = {
        "subnet": subnet("net") | {"depends_on": "port"},
        "port": port("net"),
    }
    with pytest.raises(errors.Invalid, match=r"Circular dependency: .*port -> subnet"):
        requires(stack, resources)


def test_a_plugin_that_fails_is_told_of_with_its_type_and_the_place(stack, caplog):
    with caplog.at_level(logging.WARNING), pytest.raises(errors.Invalid) as raised:
        requires(stack, {"a": {"type": "Broken"}})
    assert raised.value.problems == [
        (
            "resources.a",
            "The plugin of Broken failed on it: AttributeError: no such thing; tell your operator.",
        )
    ]
    assert "asking Broken what it depends on failed" in caplog.text


def test_types_that_add_nothing_are_not_even_made(stack, monkeypatch):
    monkeypatch.setattr("heatconv.engine.implied.Neighbours", None)
    assert requires(stack, {"a": NET, "b": NET | {"depends_on": "a"}}) == {"a": [], "b": ["a"]}


def test_what_says_among_which_it_looks_sees_no_others_and_adds_the_same(stack, monkeypatch):
    number = 100
    resources: dict[str, dict] = {}
    for place in range(number):
        net = {"get_resource": f"net-{place}"}
        resources |= {f"net-{place}": NET, f"subnet-{place}": subnet(net), f"port-{place}": port(net)}
    # Nobody knows what network this subnet is in.
    attribute = {"get_attr": ["net-0", "show"]}
    resources |= {"late": subnet(attribute), "public": subnet("public"), "port-public": port("public")}
    everywhere = requires(stack, resources)
    monkeypatch.setattr(NearPort, "looked", 0)
    near = {
        name: each | {"type": each["type"].replace("Port", "NearPort")} for name, each in resources.items()
    }
    assert requires(stack, near) == everywhere
    assert everywhere["port-7"] == ["net-7", "subnet-7"]
    assert everywhere["port-public"] == ["public"]
    assert NearPort.looked == 2 * (number + 1)
