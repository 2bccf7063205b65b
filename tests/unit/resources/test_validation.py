# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import time

import pytest

from heatconv.model.deferred import Reference, call
from heatconv.model.definition import Definition
from heatconv.model.states import DeletionPolicy
from heatconv.resources import attributes, constraints, exception, properties, resource, translation
from heatconv.resources.heat.none_resource import NoneResource
from heatconv.resources.heat.test_resource import TestResource
from heatconv.resources.validation import attribute_problems, problems


class Group(resource.Resource):
    properties_schema = {
        "size": properties.Schema(
            properties.Schema.INTEGER, required=True, constraints=[constraints.Range(min=1)]
        ),
        "nets": properties.Schema(
            properties.Schema.LIST,
            schema=properties.Schema(
                properties.Schema.MAP, schema={"id": properties.Schema(properties.Schema.STRING)}
            ),
        ),
        "options": properties.Schema(properties.Schema.MAP),
    }
    attributes_schema = {"members": attributes.Schema("Who is in it.")}
    update_policy_schema = {"batch": properties.Schema(properties.Schema.INTEGER, required=True)}


def found(stack, given, cls=Group, **definition):
    return problems(cls, Definition(name="g", type="T", properties=given, **definition), stack)


def test_a_good_definition_has_no_problems(stack):
    assert found(stack, {"size": 1, "nets": [{"id": "a"}], "options": {"x": 1}}) == []


def test_every_mistake_is_told_with_its_path(stack):
    given = {"size": 0, "nets": [{"id": "a"}, {"ip": 1}], "colour": "red"}
    assert sorted(found(stack, given)) == [
        ("resources.g.properties.colour", "Unknown Property colour"),
        ("resources.g.properties.nets[1].ip", "Unknown Property ip"),
        ("resources.g.properties.size", "0 is out of range (min: 1)"),
    ]
    assert found(stack, {}) == [("resources.g.properties.size", "Property size not assigned")]


@pytest.mark.parametrize(
    "given",
    [
        {"size": call("get_attr", ["other", "count"])},
        {"size": 1, "nets": call("get_attr", ["other", "nets"])},
        {"size": 1, "nets": [call("get_attr", ["other", "net"]), {"id": call("get_resource", "net")}]},
    ],
)
def test_deferred_values_are_not_judged(stack, given):
    assert found(stack, given) == []


def test_a_users_own_map_is_not_taken_for_a_deferred_call(stack):
    literal = call("literal", [["$fn", "get_attr"], ["args", 1]])
    assert found(stack, {"size": 1, "options": literal}) == []
    assert found(stack, {"size": literal}) != []


def test_the_update_policy_is_held_against_its_schema_if_there_is_one(stack):
    assert found(stack, {"size": 1}, update_policy={"batch": "x"}) == [
        ("resources.g.update_policy.batch", "Value 'x' is not an integer")
    ]
    assert found(stack, {}, TestResource, update_policy={"batch": "x"}) == []


def test_a_snapshot_has_to_be_supported(stack):
    class Volume(TestResource):
        def handle_snapshot_delete(self, state):
            return None

    assert found(stack, {}, Volume, deletion_policy=DeletionPolicy.SNAPSHOT) == []
    [(path, sentence)] = found(stack, {}, TestResource, deletion_policy=DeletionPolicy.SNAPSHOT)
    assert path == "resources.g.deletion_policy"
    assert '"Snapshot"' in sentence


@pytest.mark.parametrize(
    "refuse",
    [
        lambda policy: f"no {policy}",
        lambda policy: exception.StackValidationFailed(message=f"no {policy}"),
        lambda policy: KeyError(f"no {policy}"),
    ],
)
def test_a_plugin_may_judge_the_deletion_policy(stack, refuse):
    class Backup(TestResource):
        @classmethod
        def validate_deletion_policy(cls, policy):
            said = refuse(policy) if policy == "Retain" else super().validate_deletion_policy(policy)
            if isinstance(said, Exception):
                raise said
            return said

    assert found(stack, {}, Backup) == []
    assert found(stack, {}, Backup, deletion_policy=DeletionPolicy.SNAPSHOT) != []
    [(path, sentence)] = found(stack, {}, Backup, deletion_policy=DeletionPolicy.RETAIN)
    assert path == "resources.g.deletion_policy"
    assert sentence.strip("'") == "no Retain"


class Picky(Group):
    """Refuses in the way that its option says."""

    def validate(self):
        super().validate()
        wish = (self.properties["options"] or {}).get("wish")
        if wish == "text":
            return "no, thanks"
        if wish == "error":
            raise exception.StackValidationFailed(message="no error")
        if wish == "path":
            raise exception.StackValidationFailed(path=["resources", "g", "properties", 0], message="here")
        if wish == "conflict":
            raise exception.ResourcePropertyConflict("a", "b")
        return len(self.properties["nets"]) > 9


@pytest.mark.parametrize(
    ("wish", "expected"),
    [
        ("text", ("resources.g", "no, thanks")),
        ("error", ("resources.g", "no error")),
        ("path", ("resources.g.properties[0]", "here")),
        ("conflict", ("resources.g", "Cannot define the following properties at the same time: a, b.")),
    ],
)
def test_a_plugin_refuses_by_text_or_by_error(stack, wish, expected):
    assert found(stack, {"size": 1, "nets": [], "options": {"wish": wish}}, Picky) == [expected]


def test_a_plugin_that_stumbles_over_what_is_not_known_yet_refuses_nothing(stack):
    assert found(stack, {"size": 1, "nets": call("get_attr", ["other", "nets"])}, Picky) == []
    assert found(stack, {"size": 1}, Picky) != []


def test_a_plugins_own_checks_wait_until_each_property_is_valid(stack):
    assert found(stack, {"size": 0, "options": {"wish": "text"}}, Picky) == [
        ("resources.g.properties.size", "0 is out of range (min: 1)")
    ]


class Translated(Group):
    def translation_rules(self, properties):
        return [translation.TranslationRule(properties, "Replace", ["size"], value_path=["options", "size"])]


def test_translated_properties_are_what_is_judged(stack):
    assert found(stack, {"options": {"size": 3}}, Translated) == []
    assert found(stack, {"size": 3, "options": {"size": 3}}, Translated) == [
        ("resources.g.properties", "Cannot define the following properties at the same time: size, size.")
    ]


class Reckless(Group):
    def translation_rules(self, properties):
        return [] if properties["size"] else None


def test_rules_that_trip_over_a_wrong_value_leave_it_to_be_told(stack):
    assert found(stack, {"size": "x"}, Reckless) == [
        ("resources.g.properties.size", "Value 'x' is not an integer")
    ]


def test_attributes_have_to_be_declared():
    for known in (None, "", "members", "show"):
        assert attribute_problems(Group, Reference("g", known), "outputs.o.value") == []
    assert attribute_problems(Group, Reference("g", "colour"), "outputs.o.value") == [
        ("outputs.o.value", "The Referenced Attribute (g colour) is incorrect.")
    ]
    assert attribute_problems(NoneResource, Reference("g", "colour"), "outputs.o.value") == []


def test_three_thousand_definitions_take_less_than_a_second(stack):
    definitions = [
        Definition(
            name=f"r{index}",
            type="OS::Heat::TestResource",
            properties={
                "value": call("get_attr", [f"r{index - 1}", "output"]),
                "action_wait_secs": {"create": 1, "update": 0.1},
            },
        )
        for index in range(3000)
    ]
    start = time.process_time()
    assert not any(problems(TestResource, definition, stack) for definition in definitions)
    assert time.process_time() - start < 1


def test_what_is_there_already_depends_on_nothing_and_takes_no_properties(stack):
    assert found(stack, {}, external_id="x") == []
    given = {"size": call("get_resource", "net")}
    assert found(stack, given, external_id="x", depends_on=("db",)) == [
        ("resources.g", f"It has an external_id and is there already, so it cannot depend on {name}.")
        for name in ("db", "net")
    ]


class Linked(resource.Resource):
    """Needs a network or a port, as a server does, and an address that it can read."""

    properties_schema = {
        "network": properties.Schema(properties.Schema.STRING),
        "port": properties.Schema(properties.Schema.STRING),
        "address": properties.Schema(properties.Schema.STRING),
    }

    def validate(self):
        super().validate()
        if not (self.properties["network"] or self.properties["port"]):
            raise exception.PropertyUnspecifiedError("network", "port")
        if self.properties["address"] and not self.properties["address"].startswith("10."):
            raise exception.StackValidationFailed(message="That is no address.")
        if self.properties["network"] == "broken":
            raise KeyError("nothing of the sort")


@pytest.mark.parametrize(
    "value",
    [
        call("get_resource", "net"),
        call("get_attr", ["net", "name"]),
        call("list_join", ["", [call("get_attr", ["net", "name"])]]),
    ],
)
def test_a_property_that_is_not_known_yet_looks_as_if_it_were_given(stack, value):
    assert found(stack, {"port": value}, Linked) == []


def test_of_a_text_that_is_not_known_yet_a_plugin_is_believed_only_if_it_says_so_whatever_it_is(stack):
    unread = call("get_attr", ["net", "address"])
    assert found(stack, {"port": "p", "address": unread}, Linked) == []
    missing = [("resources.g", "At least one of the following properties must be specified: network, port.")]
    assert found(stack, {"address": unread}, Linked) == missing
    assert found(stack, {}, Linked) == missing
    assert found(stack, {"port": "p", "address": "x"}, Linked) == [("resources.g", "That is no address.")]


def test_an_error_that_a_plugin_did_not_mean_is_told_with_its_type_and_the_place(stack, caplog):
    class Careless(Linked):
        def translation_rules(self, given):
            raise AttributeError("no such thing")

    class Unfinished(Linked):
        @classmethod
        def is_service_available(cls, context):
            raise KeyError("catalog")

    said = "The plugin of T failed on it: {}; tell your operator."
    assert found(stack, {"port": "p"}, Careless) == [
        ("resources.g", said.format("AttributeError: no such thing"))
    ]
    assert found(stack, {"port": "p"}, Unfinished) == [("resources.g", said.format("KeyError: 'catalog'"))]
    assert caplog.text.count("validating a T failed") == 2


def test_what_a_service_says_in_validation_is_told_as_the_services_word(stack):
    class Refused(Exception):
        http_status = 403

    class Guarded(Linked):
        @classmethod
        def is_service_available(cls, context):
            raise Refused("policy does not allow it")

    assert found(stack, {"port": "p"}, Guarded) == [
        (
            "resources.g",
            "The service behind T refused to tell whether it is valid: policy does not allow it",
        )
    ]
