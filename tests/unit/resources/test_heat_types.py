# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import string
from dataclasses import replace

import pytest

from heatconv.model.deferred import Reference, call
from heatconv.model.definition import Definition
from heatconv.model.states import Action, Status
from heatconv.resources import exception
from heatconv.resources.context import Context
from heatconv.resources.heat.none_resource import NoneResource
from heatconv.resources.heat.random_string import RandomString
from heatconv.resources.heat.test_resource import TestResource
from heatconv.resources.heat.value import Value
from heatconv.resources.referenced import values
from heatconv.resources.registry import Registry, installed_types
from heatconv.resources.resource import PollDelay, UpdateReplace
from heatconv.resources.validation import problems
from tests.driving import drive


def create(resource):
    token = drive(resource).start(Action.CREATE)
    assert drive(resource).is_complete(Action.CREATE, token)
    return resource


def update(resource, properties):
    planned = drive(resource).plan_update(Definition(name="server", type="T", properties=properties))
    token = drive(resource).start(Action.UPDATE, planned.json_snippet, planned.tmpl_diff, planned.prop_diff)
    assert drive(resource).is_complete(Action.UPDATE, token)
    return resource


# -- OS::Heat::TestResource ------------------------------------------------------------


def test_without_a_wait_it_is_there_at_once(make, keeper):
    resource = make(TestResource, {"value": "x"})
    assert drive(resource).start(Action.CREATE) is None
    assert drive(resource).is_complete(Action.CREATE, None)
    assert keeper.physical_id == resource.physical_resource_name()
    assert resource.get_attribute("output") == "x"


@pytest.mark.parametrize(
    ("properties", "action", "seconds"),
    [
        ({"wait_secs": 100}, Action.CREATE, 100),
        ({"wait_secs": 100}, Action.DELETE, 100),
        ({"wait_secs": 100, "action_wait_secs": {"create": 7}}, Action.CREATE, 7),
        ({"wait_secs": 100, "action_wait_secs": {"create": 7}}, Action.DELETE, 100),
        ({"action_wait_secs": {"delete": 0.5}}, Action.DELETE, 0.5),
    ],
)
def test_a_wait_is_a_point_in_time_that_survives_its_worker(make, properties, action, seconds):
    token = json.loads(json.dumps(drive(make(TestResource, properties)).start(action)))
    other_worker = make(TestResource, properties)
    with pytest.raises(PollDelay) as caught:
        drive(other_worker).is_complete(action, token)
    assert seconds - 1 < caught.value.period <= seconds
    assert drive(other_worker).is_complete(action, token | {"until": 0})


def test_it_fails_when_told_to_but_lets_itself_be_deleted(make):
    resource = make(TestResource, {"fail": True})
    with pytest.raises(ValueError, match="Test Resource failed server"):
        drive(resource).start(Action.CREATE)
    assert drive(resource).is_complete(Action.DELETE, drive(resource).start(Action.DELETE))


def test_a_failure_comes_after_the_wait(make):
    resource = make(TestResource, {"fail": True, "wait_secs": 9})
    token = drive(resource).start(Action.CREATE)
    with pytest.raises(PollDelay):
        drive(resource).is_complete(Action.CREATE, token)
    with pytest.raises(ValueError, match="failed"):
        drive(resource).is_complete(Action.CREATE, token | {"until": 0})


def test_an_update_changes_its_output_wherever_it_is_read(make):
    create(make(TestResource, {"value": "x"}))
    updated = update(make(TestResource, {"value": "x"}, action=Action.CREATE), {"value": "y"})
    assert values(updated, [Reference("server", "output")]) == {'["output"]': "y"}
    assert make(TestResource, {"value": "y"}).get_attribute("output") == "y"


def test_a_create_whose_token_was_lost_still_ends_as_it_was_to(make):
    assert drive(make(TestResource, {"wait_secs": 9})).is_complete(Action.CREATE, None)
    with pytest.raises(ValueError, match="failed"):
        drive(make(TestResource, {"wait_secs": 9, "fail": True})).is_complete(Action.CREATE, None)


@pytest.mark.parametrize("wanted", [{"update_replace": True}, {"update_replace_value": "x"}])
def test_it_is_replaced_when_told_to(make, wanted):
    resource = make(TestResource, action=Action.CREATE)
    with pytest.raises(UpdateReplace):
        drive(resource).plan_update(replace(resource.definition, properties=wanted))


def test_turning_the_replacement_off_replaces_nothing(make):
    resource = make(TestResource, {"update_replace": True}, action=Action.CREATE)
    assert drive(resource).plan_update(replace(resource.definition, properties={})) is not None


def test_an_update_to_a_failing_one_fails(make):
    resource = make(TestResource, action=Action.CREATE)
    planned = drive(resource).plan_update(replace(resource.definition, properties={"fail": True}))
    with pytest.raises(ValueError, match="failed"):
        drive(resource).start(Action.UPDATE, planned.json_snippet, planned.tmpl_diff, planned.prop_diff)


@pytest.mark.parametrize(
    ("name", "wanted", "longer"),
    [
        ("attr_wait_secs", 0, 0),
        ("attr_wait_secs", 2, 2),
        ("attr_wait_secs", 10**9, 60),
        ("constraint_prop_secs", 2, 2),
        ("constraint_prop_secs", 60, 60),
    ],
)
def test_what_is_slow_holds_nobody_up(make, keeper, monkeypatch, name, wanted, longer):
    monkeypatch.setattr("time.sleep", pytest.fail)
    monkeypatch.setattr("time.time", lambda: 1000.0)
    resource = make(TestResource, {name: wanted, "wait_secs": 1})
    drive(resource).attach(replace(drive(resource).incarnation, wanted_attributes=('["output"]',)), keeper)
    assert drive(resource).start(Action.CREATE)["until"] == 1001 + longer
    assert resource.get_attribute("output") == "test_string"
    assert drive(resource).start(Action.DELETE)["until"] == 1001


def test_reading_is_not_waited_for_where_nobody_reads(make):
    assert drive(make(TestResource, {"attr_wait_secs": 9})).start(Action.CREATE) is None


def test_a_client_that_is_not_there_is_refused(make, stack):
    resource = make(TestResource, {"client_name": "nova", "entity_name": "servers"})
    assert problems(TestResource, resource.definition, stack) == [
        ("resources.server.properties.client_name", "The client (nova) is not available."),
    ]


def test_a_client_is_used_when_the_action_ends(make, served):
    class Lists:
        listed = 0

        def client(self, name, version=None):
            return {"nova": self}[name]

        servers = property(lambda self: self)

        def list(self):
            self.listed += 1

    clients = Lists()
    facts = served(clients)
    create(make(TestResource, {"client_name": "nova", "entity_name": "servers"}, facts=facts))
    assert clients.listed == 1


# -- OS::Heat::None ------------------------------------------------------------------------


def test_none_takes_everything_and_tells_nothing(make, keeper, stack):
    resource = make(NoneResource, {"any": {"thing": 1}})
    assert problems(NoneResource, resource.definition, stack) == []
    create(resource)
    assert keeper.physical_id is not None
    wanted = [Reference("server", "whatever", ("a", 1)), Reference("server", "")]
    assert values(resource, wanted) == {'["whatever","a",1]': None, '[""]': {}}


def test_none_never_changes(make):
    resource = make(NoneResource, action=Action.CREATE, status=Status.FAILED)
    assert drive(resource).plan_update(replace(resource.definition, properties={"x": 1})) is None


# -- OS::Heat::Value -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("type_name", "given", "expected"),
    [
        (None, {"a": [1]}, {"a": [1]}),
        ("string", 3, "3"),
        ("number", "3.5", 3.5),
        ("comma_delimited_list", "a,b", ["a", "b"]),
        ("comma_delimited_list", ["a"], ["a"]),
        ("json", '{"a": 1}', {"a": 1}),
        ("json", {"a": 1}, {"a": 1}),
        ("boolean", "true", True),
        ("boolean", False, False),
    ],
)
def test_a_value_is_given_back_as_its_type(make, stack, type_name, given, expected):
    resource = make(Value, {"value": given} | ({"type": type_name} if type_name else {}))
    assert problems(Value, resource.definition, stack) == []
    assert create(resource).get_attribute("value") == expected


@pytest.mark.parametrize(
    ("type_name", "given"), [("number", "x"), ("json", "x"), ("boolean", "maybe"), ("string", [1])]
)
def test_a_value_of_another_type_is_refused(make, stack, keeper, type_name, given):
    resource = make(Value, {"value": given, "type": type_name})
    [(path, _sentence)] = problems(Value, resource.definition, stack)
    assert path == "resources.server.properties.value"
    with pytest.raises(exception.StackValidationFailed):
        drive(resource).start(Action.CREATE)
    assert keeper.physical_id is None


def test_a_value_not_known_yet_is_not_refused(make, stack):
    resource = make(Value, {"value": call("get_attr", ["a", "b"]), "type": "number"})
    assert problems(Value, resource.definition, stack) == []


def test_a_value_changes_in_place(make):
    resource = make(Value, {"value": 1}, action=Action.CREATE)
    assert update(resource, {"value": 2}).get_attribute("value") == 2
    with pytest.raises(exception.StackValidationFailed):
        update(resource, {"value": "x", "type": "number"})


# -- OS::Heat::RandomString ------------------------------------------------------------------


def random_text(make, properties=None):
    return create(make(RandomString, properties)).get_attribute("value")


def test_a_random_string_is_32_letters_and_digits(make, keeper):
    resource = create(make(RandomString))
    value = resource.get_attribute("value")
    assert len(value) == 32
    assert set(value) <= set(string.ascii_letters + string.digits)
    assert resource.get_reference_id() == value
    assert make(RandomString).get_attribute("value") == value
    assert keeper.physical_id == resource.resource_id != value


def test_groups_get_at_least_what_they_ask_for(make):
    value = random_text(
        make,
        {
            "length": 8,
            "character_classes": [{"class": "digits", "min": 3}, {"class": "lowercase"}],
            "character_sequences": [{"sequence": "#!", "min": 2}],
        },
    )
    assert len(value) == 8
    assert sum(char in string.digits for char in value) >= 3
    assert sum(char in string.ascii_lowercase for char in value) >= 1
    assert sum(char in "#!" for char in value) >= 2
    assert set(value) <= set(string.digits + string.ascii_lowercase + "#!")


def test_sequences_alone_come_on_top_of_the_default_class(make):
    value = random_text(make, {"length": 2, "character_sequences": [{"sequence": "#"}]})
    assert "#" in value


def test_the_old_way_to_name_a_class_works(make):
    assert set(random_text(make, {"sequence": "octdigits"})) <= set(string.octdigits)


@pytest.mark.parametrize(
    ("given", "where", "complaint"),
    [
        ({"length": 3, "character_classes": [{"class": "digits", "min": 4}]}, "length", "minimums"),
        ({"character_classes": []}, "character_classes", "no characters to choose from"),
        ({"character_sequences": [{"sequence": ""}]}, "character_sequences", "without characters"),
    ],
)
def test_what_makes_no_text_is_refused(make, stack, given, where, complaint):
    [(path, sentence)] = problems(RandomString, make(RandomString, given).definition, stack)
    assert path == f"resources.server.properties.{where}"
    assert complaint in sentence


def test_another_salt_takes_another_string(make):
    resource = make(RandomString, {"salt": "a"}, action=Action.CREATE)
    with pytest.raises(UpdateReplace):
        drive(resource).plan_update(replace(resource.definition, properties={"salt": "b"}))


def test_an_interrupted_create_keeps_its_text(make, keeper):
    value = random_text(make)
    keeper.physical_id = None
    assert random_text(make) == value


def test_before_it_is_there_it_is_known_by_name(make):
    assert make(RandomString).get_reference_id() == "server"


# -- what is shown of them -----------------------------------------------------------------

CONFIGS = ["CloudConfig", "MultipartMime", "SoftwareComponent", "SoftwareConfig", "StructuredConfig"]


@pytest.fixture(scope="module")
def described():
    registry = Registry(installed_types())
    return lambda name: registry.describe(f"OS::Heat::{name}", Context(project_id="mine"))


@pytest.mark.parametrize("name", CONFIGS)
def test_what_is_run_is_a_text(described, name):
    assert described(name)["attributes"]["config"]["type"] == "string"


@pytest.mark.parametrize(
    ("name", "prop", "default"),
    [
        ("RandomString", "character_classes", [{"class": "lettersdigits", "min": 1}]),
        ("MultipartMime", "parts", []),
    ],
)
def test_defaults_are_told_in_full(described, name, prop, default):
    assert described(name)["properties"][prop]["default"] == default


@pytest.mark.parametrize("name", ["Delay", "SoftwareDeployment", "StructuredDeployment"])
def test_the_actions_there_are_belong_to_the_list(described, name):
    actions = described(name)["properties"]["actions"]
    (constraint,) = actions["constraints"]
    assert set(constraint["allowed_values"]) >= {"CREATE", "DELETE", "SUSPEND", "RESUME"}
    assert "schema" not in actions


def test_nobody_knows_since_when_there_are_access_policies(described):
    assert described("AccessPolicy")["support_status"]["version"] is None
