# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from heatconv.errors import Invalid
from heatconv.template import describe, freeze, merge

TEMPLATE = {
    "heat_template_version": "rocky",
    "description": "D",
    "parameter_groups": [{"label": "G", "parameters": ["s"]}],
    "parameters": {
        "s": {
            "type": "string",
            "label": "L",
            "description": "text",
            "default": "a",
            "tags": ["t"],
            "constraints": [
                {"length": {"min": 1, "max": 3}, "description": "short"},
                {"allowed_pattern": "[a-z]+", "description": "letters"},
                {"allowed_values": ["a", "b"]},
                {"custom_constraint": "nova.flavor"},
            ],
        },
        "n": {
            "type": "number",
            "constraints": [{"range": {"min": 1, "max": 9}}, {"modulo": {"step": 2, "offset": 1}}],
        },
        "h": {"type": "json", "hidden": True},
        "l": {"type": "comma_delimited_list"},
        "b": {"type": "boolean", "default": False},
    },
}


def test_what_an_environment_hides_is_described_without_its_value():
    environment = merge({"encrypted_param_names": ["l"]}, [], {}, {"n": 3, "l": "a,b"})
    answer = describe(TEMPLATE, environment)

    assert (answer["Parameters"]["l"]["Value"], answer["Parameters"]["l"]["NoEcho"]) == ("******", "true")
    assert answer["Environment"]["parameters"] == {"n": 3, "l": "******"}


def test_a_template_is_described_like_heat_does():
    environment = merge({"parameter_defaults": {"l": "a,b"}}, [], {}, {"n": "3", "h": {"secret": 1}})
    answer = describe(TEMPLATE, environment)
    assert answer["Description"] == "D"
    assert answer["ParameterGroups"] == TEMPLATE["parameter_groups"]
    assert answer["Environment"] == {
        "parameters": {"n": "3", "h": "******"},
        "parameter_defaults": {"l": "a,b"},
        "resource_registry": {"resources": {}},
        "event_sinks": [],
    }
    assert answer["Parameters"] == {
        "s": {
            "Type": "String",
            "Description": "text",
            "NoEcho": "false",
            "Label": "L",
            "Default": "a",
            "Tags": ["t"],
            "MinLength": 1,
            "MaxLength": 3,
            "AllowedPattern": "[a-z]+",
            "AllowedValues": ["a", "b"],
            "CustomConstraint": "nova.flavor",
            "ConstraintDescription": "short letters",
        },
        "n": {
            "Type": "Number",
            "Description": "",
            "NoEcho": "false",
            "Label": "n",
            "Value": 3,
            "MinValue": 1,
            "MaxValue": 9,
            "Step": 2,
            "Offset": 1,
        },
        "h": {"Type": "Json", "Description": "", "NoEcho": "true", "Label": "h", "Value": "******"},
        "l": {
            "Type": "CommaDelimitedList",
            "Description": "",
            "NoEcho": "false",
            "Label": "l",
            "Value": ["a", "b"],
        },
        "b": {"Type": "Boolean", "Description": "", "NoEcho": "false", "Label": "b", "Default": False},
    }


def test_a_bare_template_is_described():
    answer = describe({"heat_template_version": "rocky"}, merge(None, [], {}, {}))
    assert answer["Description"] == "No description"
    assert answer["Parameters"] == {}
    assert "ParameterGroups" not in answer


def test_wrong_values_and_declarations_are_reported():
    with pytest.raises(Invalid) as caught:
        describe(TEMPLATE, merge(None, [], {}, {"n": "x", "s": "Z", "u": 1}))
    assert [path for path, _sentence in caught.value.problems] == [
        "parameters.u",
        "parameters.s",
        "parameters.s",
        "parameters.n",
    ]
    with pytest.raises(Invalid):
        describe({"heat_template_version": "rocky", "parameters": {"p": {}}}, {})
    with pytest.raises(Invalid):
        describe({"heat_template_version": "none"}, {})


@pytest.mark.parametrize("hidden", [{"hidden": True}, {"hidden": "yes"}])
def test_a_hidden_value_is_never_told(hidden):
    template = {
        "heat_template_version": "rocky",
        "parameters": {"p": {"type": "string", "default": "s3cret", **hidden}},
    }
    environment = merge({"parameter_defaults": {"p": "s3cret"}}, [], {}, {"p": "s3cret"})
    operator = {"parameter_defaults": {"p": "s3cret"}}
    answer = describe(template, environment, operator)
    assert answer["Parameters"]["p"].pop("Default") == "s3cret"  # the template is the caller's own
    assert answer["Parameters"]["p"]["Value"] == "******"
    assert "s3cret" not in str(answer)
    # The mistakes do not tell it either.
    wrong = template | {"parameters": {"p": {"type": "number", "default": "s3cret", **hidden}}}
    with pytest.raises(Invalid) as caught:
        describe(wrong, environment)
    assert "s3cret" not in str(caught.value)


def test_values_come_from_the_user_before_the_operator():
    template = {
        "heat_template_version": "rocky",
        "parameters": {name: {"type": "string", "default": "template"} for name in "abcd"},
    }
    environment = merge(
        {"parameters": {"a": "given", "c": None}, "parameter_defaults": {"a": "x", "b": "default"}},
        [],
        {},
        {},
    )
    operator = {"parameter_defaults": {"a": "y", "b": "y", "c": "operator", "unknown": "y"}}
    parameters = describe(template, environment, operator)["Parameters"]
    values = {name: parameter.get("Value") for name, parameter in parameters.items()}
    assert values == {"a": "given", "b": "default", "c": "operator", "d": None}
    frozen = freeze(template, environment, {}, {}, operator=operator)
    values = {name: parameter.value for name, parameter in frozen.parameters.items()}
    assert values == {"a": "given", "b": "default", "c": "operator", "d": "template"}
