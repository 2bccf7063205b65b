# SPDX-License-Identifier: Apache-2.0
"""From what a user posts to what is wanted, and everything that can be wrong with it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from heatconv import errors
from heatconv.engine.freezing import empty, freeze, parse
from heatconv.model.states import Action
from heatconv.resources import constraints
from heatconv.resources.facts import StackFacts
from heatconv.resources.registry import Registry
from heatconv.resources.resource import Resource

TYPE = "OS::Heat::TestResource"
STACK = StackFacts(id="1", name="web", project_id="mine", action=Action.CREATE)


@pytest.fixture(scope="module")
def registry():
    return Registry.load()


def template(resources, **sections):
    return {"heat_template_version": "2021-04-16", "resources": resources, **sections}


def wanted(registry, posted, **source):
    return freeze(parse({"template": posted, **source}, max_template_size=1 << 20), STACK, registry)


def problems(registry, posted):
    with pytest.raises(errors.Invalid) as caught:
        wanted(registry, posted)
    return {path for path, _ in caught.value.problems}


def test_what_does_not_depend_on_run_time_is_there_already(registry):
    posted = template(
        {
            "A": {"type": TYPE, "properties": {"value": {"get_param": "text"}}},
            "B": {"type": TYPE, "properties": {"value": {"get_attr": ["A", "output"]}}},
            "C": {"type": TYPE, "properties": {"value": {"get_param": "OS::stack_name"}}},
        },
        description="three",
        parameters={"text": {"type": "string"}, "secret": {"type": "string", "hidden": True, "default": "x"}},
        outputs={"told": {"description": "all", "value": {"get_attr": ["B", "show"]}}},
    )

    it = wanted(registry, posted, parameters={"text": "hello"})

    assert it.description == "three"
    assert it.targets["A"].definition.properties == {"value": "hello"}
    assert it.targets["B"].definition.requires == {"A"}
    assert it.targets["C"].definition.properties == {"value": "web"}
    assert {name: target.attributes for name, target in it.targets.items()} == {
        "A": {'["output"]'},
        "B": {'["show"]'},
        "C": set(),
    }
    assert it.raw.outputs["told"]["description"] == "all"
    assert (it.raw.parameters["text"], it.raw.parameters["secret"]) == ("hello", "******")


def test_a_resource_that_is_only_referred_to_is_asked_for_no_attribute(registry):
    posted = template(
        {"A": {"type": TYPE}, "B": {"type": TYPE, "properties": {"value": {"get_resource": "A"}}}}
    )

    assert wanted(registry, posted).targets["A"].attributes == set()


def test_everything_that_is_wrong_is_told_at_once(registry):
    posted = template(
        {
            "A": {"type": "No::Such::Type"},
            "B": {"type": TYPE, "properties": {"no_such_property": 1}},
            "C": {"type": TYPE, "properties": {"value": {"get_attr": ["D", "no_such_attribute"]}}},
            "D": {"type": TYPE},
        },
        outputs={"told": {"value": {"get_attr": ["D", "nor_this"]}}},
    )

    found = problems(registry, posted)

    assert "resources.A.type" in found
    assert any(path.startswith("resources.B.properties") for path in found)
    assert any(path.startswith("resources.C.properties") for path in found)
    assert any(path.startswith("outputs.told.value") for path in found)
    assert not any(path.startswith("resources.D") for path in found)


class Lamp(Resource):
    @classmethod
    def is_service_available(cls, context):
        return False, "nobody has lamps here"


def test_a_type_whose_service_is_not_there_is_told_by_an_error_of_its_own(registry):
    posted = template({"A": {"type": "My::Lamp"}, "B": {"type": TYPE, "properties": {"no_such": 1}}})
    lamps = Registry({"My::Lamp": Lamp, TYPE: registry.get(TYPE)})

    with pytest.raises(errors.TypeUnavailable, match="nobody has lamps here") as caught:
        wanted(lamps, posted)

    assert caught.value.code == "ResourceTypeUnavailable"
    assert [path for path, _ in caught.value.problems] == [
        "resources.A.type",
        "resources.B.properties.no_such",
    ]
    with pytest.raises(errors.TypeUnavailable, match="nobody has lamps here"):
        lamps.describe("My::Lamp", STACK.context)


PROVIDER = """
heat_template_version: 2021-04-16
parameters:
  value: {type: string}
resources: {}
"""


def test_a_type_that_only_stands_for_another_asks_nothing_of_a_template_in_its_place(registry):
    """Members of groups are such: whoever maps servers to a template knows of no other type."""
    types = Registry({"My::Member": registry.get(TYPE), "My::Server": registry.get(TYPE)})
    source = parse(
        {
            "template": template({"A": {"type": "My::Member", "properties": {"value": "x"}}}),
            "environment": {"resource_registry": {"My::Server": "provider.yaml"}},
            "files": {"provider.yaml": PROVIDER},
        },
        max_template_size=1 << 20,
    )
    operator = {"resource_registry": {"My::Member": "My::Server"}}
    with pytest.raises(errors.Invalid, match="for facade My::Member missing in provider"):
        freeze(source, STACK, types, operator)

    types.map(operator["resource_registry"])

    frozen = freeze(source, STACK, types, operator)
    assert frozen.targets["A"].definition.implemented_by == "provider.yaml"


def test_of_a_type_that_is_not_there_attributes_cannot_be_judged(registry):
    posted = template(
        {
            "A": {"type": "No::Such::Type"},
            "B": {"type": TYPE, "properties": {"value": {"get_attr": ["A", "any"]}}},
        }
    )

    assert problems(registry, posted) == {"resources.A.type"}


def test_a_wrong_attribute_is_told_with_the_place_of_the_function(registry):
    wrong = {"get_attr": ["A", "colour"]}
    posted = template(
        {
            "A": {"type": TYPE},
            "B": {"type": TYPE, "properties": {"value": {"list_join": [",", ["x", wrong]]}}},
            "C": {"type": TYPE, "metadata": {"list": ["x", {"key": wrong}]}},
        },
        outputs={"o": {"value": [1, wrong]}},
    )
    assert problems(registry, posted) == {
        "resources.B.properties.value",
        "resources.C.metadata.list[1].key",
        "outputs.o.value[1]",
    }


def test_a_type_may_stand_behind_another(registry):
    posted = template({"A": {"type": "My::Type", "properties": {"value": "x"}}})
    mapping = {"resource_registry": {"My::*": TYPE}}
    definition = wanted(registry, posted, environment=mapping).targets["A"].definition
    assert (definition.type, definition.implementation) == ("My::Type", TYPE)
    operators = {"resource_registry": {"My::Type": TYPE}}
    parsed = parse({"template": posted}, max_template_size=1 << 20)
    assert freeze(parsed, STACK, registry, operators).targets["A"].definition.implementation == TYPE


@pytest.mark.parametrize(
    ("type_", "environment", "sentence"),
    [
        ("No::Such", {}, "There is no resource type No::Such; see"),
        (
            "My::Type",
            {"My::Type": "No::Such"},
            "no resource type No::Such, to which the environment maps My::Type",
        ),
        ("web.yaml", {}, "In web.yaml: "),
        ("My::Type", {"My::Type": "web.yaml"}, "In web.yaml: "),
        (
            "http://h/web.yaml",
            {},
            "There is no file http://h/web.yaml among the files that came with the template.",
        ),
        ("My::Type", {"My::Type": "db.yaml"}, "There is no file db.yaml among the files"),
    ],
)
def test_a_type_that_is_not_there_is_told(registry, type_, environment, sentence):
    with pytest.raises(errors.Invalid) as caught:
        wanted(
            registry,
            template({"A": {"type": type_}}),
            environment={"resource_registry": environment},
            files={"web.yaml": "heat_template_version: never"},
        )
    ((path, said),) = caught.value.problems
    assert path == "resources.A.type"
    assert sentence in said


def test_custom_constraints_of_parameters_are_checked_by_their_plugins(registry, monkeypatch):
    class Even:
        def validate(self, value, context):
            return int(value) % 2 == 0 and context.project_id == "mine"

        def error(self, value):
            return f"{value} is odd."

    monkeypatch.setitem(constraints.installed(), "test.even", Even)
    declared = {"n": {"type": "number", "constraints": [{"custom_constraint": "test.even"}]}}
    posted = template({}, parameters=declared)
    assert wanted(registry, posted, parameters={"n": 2}).parameters["n"].value == 2
    with pytest.raises(errors.Invalid, match="3 is odd"):
        wanted(registry, posted, parameters={"n": 3})


def test_a_template_of_cloudformation_is_checked_in_its_words(registry):
    posted: dict[str, Any] = {
        "AWSTemplateFormatVersion": "2010-09-09",
        "Resources": {
            "A": {"Type": TYPE, "Properties": {"value": {"Ref": "AWS::StackId"}}},
            "B": {"Type": TYPE, "Properties": {"colour": 1}},
            "C": {"Type": "No::Such"},
            "D": {"Type": TYPE, "Properties": {"value": {"Fn::GetAtt": ["A", "colour"]}}},
            "E": {"Type": TYPE, "DeletionPolicy": "Snapshot"},
        },
        "Outputs": {"O": {"Value": {"Fn::GetAtt": ["A", "colour"]}}},
    }
    found = problems(registry, posted)
    assert found == {
        "Resources.B.Properties.colour",
        "Resources.C.Type",
        "Resources.D.Properties.value",
        "Resources.E.DeletionPolicy",
        "Outputs.O.Value",
    }
    for name in "BCDE":
        del posted["Resources"][name]
    del posted["Outputs"]
    stack_id = wanted(registry, posted).targets["A"].definition.properties["value"]
    assert stack_id == "arn:openstack:heat::mine:stacks/web/1"


def test_a_template_that_is_too_large_is_refused():
    with pytest.raises(errors.HeatconvError, match="at most 64"):
        parse(
            {"template": template({"A": {"type": TYPE, "metadata": {"x": "y" * 100}}})}, max_template_size=64
        )


def test_the_wish_for_nothing_wants_nothing():
    assert empty().targets == {}
    assert empty().raw.template == {"heat_template_version": "2021-04-16"}


def test_what_a_stack_goes_back_to_is_not_judged_again(registry):
    posted = template({"A": {"type": TYPE, "properties": {"action_wait_secs": "not a map"}}})
    assert problems(registry, posted)

    back = freeze(
        parse({"template": posted}, max_template_size=1 << 20),
        replace(STACK, action=Action.ROLLBACK),
        registry,
    )

    assert back.targets.keys() == {"A"}
