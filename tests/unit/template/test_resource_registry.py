# SPDX-License-Identifier: Apache-2.0
"""What environments say of resources, from the section to the definition."""

from __future__ import annotations

from typing import Any

import pytest

from heatconv.errors import Invalid
from heatconv.model.definition import is_template
from heatconv.template import freeze, load_template, merge
from tests.unit.template.conftest import PSEUDO


def definition(
    user: dict[str, Any] | None = None, operator: dict[str, Any] | None = None, *, type_="OS::A::B", name="r"
):
    template = {"heat_template_version": "rocky", "resources": {name: {"type": type_}}}
    environment = merge({"resource_registry": user or {}}, [], {}, {})
    operators = merge({"resource_registry": operator or {}}, [], {}, {})
    return freeze(load_template(template), environment, {}, PSEUDO, operator=operators).definitions[name]


def behind(user=None, operator=None, **options) -> str:
    return str(definition(user, operator, **options).implemented_by)


@pytest.mark.parametrize(
    ("registry", "found"),
    [
        ({}, "OS::A::B"),
        ({"OS::A::B": "X"}, "X"),
        ({"OS::A::B": "X", "X": "Y", "Y": "web.yaml"}, "web.yaml"),
        ({"OS::A::*": "OS::C::*"}, "OS::C::B"),
        ({"OS::*": "OS::Heat::None"}, "OS::Heat::None"),
        ({"OS::*": "X", "OS::A::*": "Y", "OS::A*": "Z"}, "Y"),  # the longest start
        ({"OS::*": "X", "OS::A::B": "Y"}, "Y"),
        ({"OS::A::B": "OS::A::B", "OS::*": "X"}, "X"),
        ({"OS::A::B*": "X"}, "X"),
        ({"OS::A::": "X", "S::A::B": "X", "base_url": "http://h/", "hooks": "Y"}, "OS::A::B"),
        ({"OS::A::B": "X", "OS::A::*": None}, "OS::A::B"),  # null removes what was before
        ({"OS::A::*": None, "OS::A::B": "X"}, "X"),
        ({"OS::A::*": "X", "OS::*": None}, "OS::A::B"),
        ({"resources": {"r": {"OS::A::B": "X"}}, "OS::A::B": "Y"}, "X"),
        ({"resources": {"s": {"OS::A::B": "X"}}, "OS::A::B": "Y"}, "Y"),
        ({"resources": {"r": {"OS::A::B": "X", "child": {"OS::A::B": "Z"}}}, "X": "Y"}, "Y"),
    ],
)
def test_a_type_is_mapped(registry, found):
    assert behind(registry) == found
    if None not in registry.values():  # with which operators take types away
        assert behind({}, registry) == found


def test_only_another_type_is_an_implementation():
    assert definition({}).implementation == ""
    assert definition({"OS::*": "OS::A::B"}).implementation == ""
    mapped = definition({"OS::A::B": "X"})
    assert (mapped.type, mapped.implementation) == ("OS::A::B", "X")
    assert mapped.sha1 != definition({}).sha1


@pytest.mark.parametrize(
    ("user", "operator", "found"),
    [
        ({"OS::A::B": "User"}, {"OS::A::B": "Operator"}, "User"),
        ({"OS::*": "User"}, {"resources": {"r": {"OS::A::B": "Operator"}}}, "User"),
        ({"OS::A::B": "X"}, {"X": "Operator"}, "Operator"),
        ({"OS::A::B": None}, {"OS::A::B": "Operator"}, "Operator"),  # a user removes only what is the user's
    ],
)
def test_the_user_goes_before_the_operator(user, operator, found):
    assert behind(user, operator) == found


@pytest.mark.parametrize(
    ("registry", "sentence"),
    [
        ({"OS::A::B": "X", "X": "OS::A::B"}, "in a circle: OS::A::B -> X -> OS::A::B."),
        ({"OS::*": "OS::x*"}, "in a circle: OS::A::B -> OS::xA::B -> OS::xxA::B"),
    ],
)
def test_a_circle_is_a_mistake(registry, sentence):
    with pytest.raises(Invalid) as caught:
        definition(registry)
    ((path, said),) = caught.value.problems
    assert path == "resources.r.type"
    assert sentence in said


def test_an_operator_can_take_types_away():
    operator = {"OS::A::*": None}
    with pytest.raises(Invalid, match="The resource type OS::A::B is not available here"):
        definition({}, operator)
    with pytest.raises(Invalid, match="The resource type OS::A::C is not available here"):
        definition({"X": "OS::A::C"}, operator, type_="X")
    assert behind({"OS::A::B": "X"}, operator) == "X"
    assert behind({}, operator, type_="OS::C") == "OS::C"


def test_breakpoints_and_restrictions_are_found_by_pattern():
    registry = {
        "resources": {
            "web": {"hooks": "post-create", "restricted_actions": ["replace", "update"]},
            "w*": {"hooks": ["pre-update", "pre-create", "post-create"]},
            "?eb": {"restricted_actions": "update"},
            "db": {"hooks": "pre-delete"},
        }
    }
    web = definition(registry, name="web")
    assert web.hooks == ("pre-create", "pre-update", "post-create")
    assert web.restricted_actions == ("update", "replace")
    assert definition({}, registry, name="db").hooks == ("pre-delete",)
    assert definition(registry, name="other").hooks == ()


def test_types_are_templates_by_their_ending():
    assert [is_template(name) for name in ("a.yaml", "http://h/a.template", "OS::Heat::Value", "a.yml")] == [
        True,
        True,
        False,
        False,
    ]


@pytest.mark.parametrize(
    ("registry", "path", "sentence"),
    [
        ({"T": 1}, "T", "It has to be a type, the name of a template or null, not 1."),
        ({"T": ["X"]}, "T", "not ['X']"),
        ({"T": {"X": "Y"}}, "T", "It has to be a type"),
        ({"T": ""}, "T", "not ''"),
        ({"resources": []}, "resources", "It has to be a map by names of resources, not a list."),
        ({"resources": None}, "resources", "It has to be a map by names of resources, not null."),
        (
            {"resources": {"r": "X"}},
            "resources.r",
            "It has to be a map of types, hooks and restricted_actions",
        ),
        ({"resources": {"r": {"T": 1}}}, "resources.r.T", "It has to be a type"),
        (
            {"resources": {"r": {"hooks": "pre"}}},
            "resources.r.hooks",
            "pre-create, pre-update, pre-delete, post-",
        ),
        ({"resources": {"r": {"hooks": {}}}}, "resources.r.hooks", "not {}"),
        ({"resources": {"r": {"hooks": ["pre-create", [1]]}}}, "resources.r.hooks", "not [1]"),
        ({"resources": {"r": {"s": {"hooks": 1}}}}, "resources.r.s.hooks", "It has to be one or a list of"),
        (
            {"resources": {"r": {"restricted_actions": "delete"}}},
            "resources.r.restricted_actions",
            "It has to be one or a list of update, replace, not 'delete'.",
        ),
        ({f"T{number}*": "X" for number in range(201)}, "", "It has 201 patterns; at most 200 are allowed."),
    ],
)
def test_a_wrong_registry_is_told_with_its_place(registry, path, sentence):
    with pytest.raises(Invalid) as caught:
        merge({"resource_registry": registry}, [], {}, {})
    ((place, said),) = caught.value.problems
    assert place == f"resource_registry.{path}".rstrip(".")
    assert sentence in said
