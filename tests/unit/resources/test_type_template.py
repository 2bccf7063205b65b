# SPDX-License-Identifier: Apache-2.0
"""Templates that are made of types."""

from __future__ import annotations

import pytest

from heatconv import template
from heatconv.resources import attributes, constraints, support, type_template
from heatconv.resources.properties import Schema
from heatconv.resources.registry import Registry
from heatconv.resources.resource import Resource

HIDDEN = support.SupportStatus(status=support.HIDDEN)


class Boat(Resource):
    properties_schema = {
        "name": Schema(
            Schema.STRING,
            "What it is called.",
            required=True,
            constraints=[
                constraints.Length(min=1, max=9, description="Not too long."),
                constraints.AllowedPattern("[a-z]+"),
                constraints.CustomConstraint("boat.name"),
            ],
        ),
        "masts": Schema(
            Schema.INTEGER,
            default=2,
            constraints=[constraints.Range(min=1), constraints.Modulo(step=2, offset=0)],
        ),
        "sails": Schema(Schema.LIST, default=["jib", "main"]),
        "rig": Schema(
            Schema.STRING, default="sloop", constraints=[constraints.AllowedValues(["sloop", "yawl"])]
        ),
        "motor": Schema(Schema.BOOLEAN, default=False),
        "papers": Schema(Schema.MAP),
        "crew": Schema(Schema.LIST, schema=Schema(Schema.MAP), default=[{"name": "Bob"}]),
        "secret": Schema(Schema.STRING, support_status=HIDDEN),
        "later": Schema(Schema.STRING, implemented=False),
    }
    attributes_schema = {
        "course": attributes.Schema("Where it goes."),
        "cargo": attributes.Schema(support_status=HIDDEN),
    }


def test_hot():
    assert type_template.make(Boat, "Sea::Boat", "hot") == {
        "heat_template_version": "2016-10-14",
        "description": "Initial template of Boat",
        "parameters": {
            "name": {
                "type": "string",
                "description": "What it is called.",
                "constraints": [
                    {"length": {"min": 1, "max": 9}, "description": "Not too long."},
                    {"allowed_pattern": "[a-z]+"},
                    {"custom_constraint": "boat.name"},
                ],
            },
            "masts": {"type": "number", "default": 2, "constraints": [{"range": {"min": 1}}]},
            "sails": {"type": "comma_delimited_list", "default": ["jib", "main"]},
            "rig": {
                "type": "string",
                "default": "sloop",
                "constraints": [{"allowed_values": ["sloop", "yawl"]}],
            },
            "motor": {"type": "boolean", "default": False},
            "papers": {"type": "json"},
            "crew": {"type": "json", "default": [{"name": "Bob"}]},
        },
        "resources": {
            "Boat": {
                "type": "Sea::Boat",
                "properties": {
                    name: {"get_param": name}
                    for name in ("name", "masts", "sails", "rig", "motor", "papers", "crew")
                },
            }
        },
        "outputs": {
            "course": {"description": "Where it goes.", "value": {"get_attr": ["Boat", "course"]}},
            "show": {
                "description": "Detailed information about resource.",
                "value": {"get_attr": ["Boat", "show"]},
            },
        },
    }


def test_cfn():
    made = type_template.make(Boat, "Sea::Boat", "cfn")
    assert made["HeatTemplateFormatVersion"] == "2012-12-12"
    assert made["Parameters"] == {
        "name": {
            "Type": "String",
            "Description": "What it is called.",
            "MinLength": 1,
            "MaxLength": 9,
            "AllowedPattern": "[a-z]+",
            "ConstraintDescription": "Not too long.",
        },
        "masts": {"Type": "Number", "Default": 2, "MinValue": 1},
        "sails": {"Type": "CommaDelimitedList", "Default": "jib,main"},
        "rig": {"Type": "String", "Default": "sloop", "AllowedValues": ["sloop", "yawl"]},
        "motor": {"Type": "Boolean", "Default": False},
        "papers": {"Type": "Json"},
        "crew": {"Type": "Json", "Default": [{"name": "Bob"}]},
    }
    (boat,) = made["Resources"].values()
    assert boat["Type"] == "Sea::Boat"
    assert boat["Properties"]["name"] == {"Ref": "name"}
    assert boat["Properties"]["sails"] == {"Fn::Split": [",", {"Ref": "sails"}]}
    assert boat["Properties"]["crew"] == {"Ref": "crew"}
    assert made["Outputs"]["course"] == {
        "Description": "Where it goes.",
        "Value": {"Fn::GetAtt": ["Boat", "course"]},
    }


@pytest.mark.parametrize("language", ["hot", "cfn"])
@pytest.mark.parametrize("type_name", Registry.load().names())
def test_what_is_made_of_a_type_can_be_used(type_name, language):
    made = type_template.make(Registry.load().get(type_name), type_name, language)
    environment = template.merge(None, [], {}, {})
    described = template.describe(template.load_template(made), environment)
    assert described["Description"] == made.get("description", made.get("Description"))
