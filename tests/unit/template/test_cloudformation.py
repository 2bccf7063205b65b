# SPDX-License-Identifier: Apache-2.0
"""CloudFormation templates: frozen like those of HOT, and their mistakes told in their own words."""

from __future__ import annotations

from typing import Any

import pytest

from heatconv.template import describe, freeze, load_template, merge
from tests.unit.template.conftest import PSEUDO

VERSION = {"AWSTemplateFormatVersion": "2010-09-09"}

CLOUDFORMATION = """
AWSTemplateFormatVersion: 2010-09-09
Description: a server and what it needs
Parameters:
  Size: {Type: String, Default: small, AllowedValues: [small, big], ConstraintDescription: small or big}
  Count: {Type: Number, Default: 2, MinValue: 1, MaxValue: '9'}
  Zones: {Type: CommaDelimitedList, Default: 'a,b'}
  Secret: {Type: String, Default: hush, NoEcho: 'true', Label: a secret}
Mappings:
  Flavors:
    small: {name: m1.small, disks: [vda]}
    big: {name: m1.big, disks: [vda, vdb]}
Conditions:
  IsBig: {'Fn::Equals': [{Ref: Size}, big]}
  IsSmall: {'Fn::Not': [IsBig]}
  Both: {'Fn::And': [IsBig, IsSmall]}
  Either: {'Fn::Or': [IsBig, {'Fn::Not': [IsBig]}]}
Resources:
  Server:
    Type: A::Server
    Description: the server
    DependsOn: Net
    DeletionPolicy: Retain
    UpdatePolicy: {Rolling: {Batch: {Ref: Count}}}
    Metadata: {Stack: {Ref: 'AWS::StackName'}}
    Properties:
      Flavor: {'Fn::FindInMap': [Flavors, {Ref: Size}, name]}
      Disks: {'Fn::FindInMap': [Flavors, big, disks]}
      Zone: {'Fn::Select': [1, {Ref: Zones}]}
      Net: {Ref: Net}
      Address: {'Fn::Join': ['/', [{'Fn::GetAtt': [Net, Address]}, '24']]}
      UserData: {'Fn::Base64': {'Fn::Replace': [{'@': {Ref: 'AWS::StackId'}}, 'at @']}}
      Kind: {'Fn::If': [IsBig, heavy, light]}
      Tags: {'Fn::Split': [',', 'x,y']}
  Net: {Type: A::Net}
  Extra: {Type: A::Net, Condition: IsBig}
  Other: {Type: A::Net, Condition: Either}
Outputs:
  Address: {Description: where it is, Value: {'Fn::GetAtt': [Server, Address]}}
  Extra: {Condition: Both, Value: {Ref: Extra}}
  Region: {Value: {Ref: 'AWS::Region'}}
"""

HOT = """
heat_template_version: 2018-08-31
description: a server and what it needs
parameters:
  Size: {type: string, default: small}
  Count: {type: number, default: 2}
  Zones: {type: comma_delimited_list, default: 'a,b'}
conditions:
  IsBig: {equals: [{get_param: Size}, big]}
resources:
  Server:
    type: A::Server
    description: the server
    depends_on: Net
    deletion_policy: retain
    update_policy: {Rolling: {Batch: {get_param: Count}}}
    metadata: {Stack: {get_param: 'OS::stack_name'}}
    properties:
      Flavor: m1.small
      Disks: [vda, vdb]
      Zone: {get_param: [Zones, 1]}
      Net: {get_resource: Net}
      Address: {'$fn': 'Fn::Join'}
      UserData: at arn:aws
      Kind: {if: [IsBig, heavy, light]}
      Tags: {str_split: [',', 'x,y']}
  Net: {type: A::Net}
  Other: {type: A::Net}
"""


def cfn(**sections: Any) -> dict[str, Any]:
    return VERSION | sections


def test_it_is_frozen_as_the_same_template_in_hot_is(frozen):
    ours, theirs = frozen(HOT), frozen(CLOUDFORMATION)
    assert theirs.description == ours.description
    assert theirs.definitions.keys() == ours.definitions.keys()
    assert theirs.definitions["Net"].sha1 == ours.definitions["Net"].sha1
    address = {"$fn": "Fn::Join", "args": ["/", [{"$fn": "get_attr", "args": ["Net", "Address"]}, "24"]]}
    one, other = ours.definitions["Server"], theirs.definitions["Server"]
    assert other.properties == {**one.properties, "Address": address}
    for part in ("type", "metadata", "depends_on", "deletion_policy", "update_policy", "description"):
        assert getattr(other, part) == getattr(one, part)
    assert other.requires == {"Net"}


def test_its_outputs_and_parameters_are_there(frozen):
    result = frozen(CLOUDFORMATION)
    assert result.version.language == "cfn"
    assert result.outputs["Address"].value == {"$fn": "get_attr", "args": ["Server", "Address"]}
    assert result.outputs["Address"].description == "where it is"
    assert not result.outputs["Extra"].condition_holds
    assert result.outputs["Region"].value == "region"
    assert {name: parameter.shown for name, parameter in result.parameters.items()} == {
        "AWS::StackName": "teststack",
        "AWS::StackId": "arn:aws",
        "AWS::Region": "region",
        "Size": "small",
        "Count": "2",
        "Zones": "a,b",
        "Secret": "******",
    }


def test_parameters_decide(frozen):
    result = frozen(CLOUDFORMATION, {"Size": "big"})
    assert "Extra" in result.definitions
    assert result.definitions["Server"].properties["Kind"] == "heavy"
    assert result.definitions["Server"].properties["Flavor"] == "m1.big"


def test_the_older_version_has_no_conditions(frozen, problems_of):
    template = {
        "HeatTemplateFormatVersion": "2012-12-12",
        "Parameters": {"P": {"Type": "Json", "Default": {"a": 1}}},
        "Resources": {"R": {"Type": "T", "Properties": {"p": {"Fn::Select": ["a", {"Ref": "P"}]}}}},
    }
    assert frozen(template).definitions["R"].properties == {"p": 1}
    literal = {"Resources": {"R": {"Type": "T", "Properties": {"p": {"Fn::If": ["c", 1, 2]}}}}}
    assert frozen(template | literal).definitions["R"].properties == {"p": {"Fn::If": ["c", 1, 2]}}
    found = problems_of(template | {"Resources": {"R": {"Type": "T", "Condition": "c"}}})
    assert "There is no 'Condition' here; there are Type, Properties" in found["Resources.R.Condition"]


def test_it_is_described():
    answer = describe(load_template(CLOUDFORMATION), merge(None, [], {}, {"Size": "big"}))
    assert answer["Description"] == "a server and what it needs"
    assert answer["Parameters"]["Size"] == {
        "Type": "String",
        "Description": "",
        "NoEcho": "false",
        "Label": "Size",
        "Default": "small",
        "Value": "big",
        "AllowedValues": ["small", "big"],
        "ConstraintDescription": "small or big",
    }
    assert answer["Parameters"]["Count"]["MinValue"] == 1
    assert answer["Parameters"]["Count"]["MaxValue"] == 9
    assert answer["Parameters"]["Secret"]["Default"] == "hush"
    assert answer["Parameters"]["Secret"]["NoEcho"] == "true"
    assert answer["Parameters"]["Secret"]["Label"] == "a secret"


def test_its_parameters_are_merged_by_their_types():
    template = cfn(Parameters={"L": {"Type": "CommaDelimitedList"}, "N": {"Type": "Number"}})
    how = "parameter_merge_strategies: {default: merge}"
    files = {"a": f"{how}\nparameters: {{L: 'a,b', N: '1'}}", "b": f"{how}\nparameters: {{L: c, N: '2'}}"}
    assert merge(None, ["a", "b"], files, {}, template=template)["parameters"] == {
        "L": ["a", "b", "c"],
        "N": 3,
    }


def test_mappings_and_parameters_are_never_evaluated(frozen):
    template = cfn(
        Parameters={"P": {"Type": "Json", "Default": {"Ref": "P"}}},
        Mappings={"M": {"a": {"b": {"Ref": "P"}}}},
        Outputs={"M": {"Value": {"Fn::FindInMap": ["M", "a", "b"]}}, "P": {"Value": {"Ref": "P"}}},
    )
    outputs = frozen(template).outputs
    assert outputs["M"].value == outputs["P"].value == {"Ref": "P"}


def test_words_of_hot_are_literals(frozen):
    template = cfn(Resources={"R": {"Type": "T", "Properties": {"p": {"get_param": "x"}}}})
    assert frozen(template).definitions["R"].properties == {"p": {"get_param": "x"}}


# -- what can be wrong ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameter", "place", "sentence"),
    [
        ("String", "", "It has to be a map, not a text."),
        ({}, ".Type", "It has to be one of String, Number, CommaDelimitedList, Json, Boolean, not None."),
        ({"Type": "string"}, ".Type", "not 'string'"),
        (
            {"Type": "String", "Default": "", "Hidden": 1},
            ".Hidden",
            "there are Type, Label, Description, Default, NoEcho, Min",
        ),
        ({"Type": "String", "NoEcho": "perhaps"}, ".NoEcho", "It has to be true or false, not 'perhaps'."),
        (
            {"Type": "String", "MaxLength": 3, "MinLength": "x"},
            ".MinLength",
            "It has to be a number, not 'x'.",
        ),
        ({"Type": "String", "MinLength": 3, "MaxLength": []}, ".MaxLength", "It has to be a number"),
        ({"Type": "Number", "MinLength": 3}, ".MinLength", "cannot have a length constraint"),
        ({"Type": "String", "AllowedPattern": "("}, ".AllowedPattern", "It is not a regular expression"),
        ({"Type": "String", "AllowedValues": "a"}, ".AllowedValues", "It has to be a list, not a text."),
        ({"Type": "String", "Default": "abc", "MaxLength": 2}, ".Default", "Its length is 3"),
        ({"Type": "String", "Description": 1}, ".Description", "It has to be a text, not a number."),
    ],
)
def test_a_wrong_parameter_is_told_in_its_words(problems_of, parameter, place, sentence):
    found = problems_of(cfn(Parameters={"P": parameter}))
    assert sentence in found[f"Parameters.P{place}"]
    assert len(found) == 1


def test_a_missing_value_is_told(problems_of):
    found = problems_of(cfn(Parameters={"P": {"Type": "String"}}))
    assert found == {"Parameters": "The Parameter (P) was not provided."}


def test_a_wrong_value_is_told(problems_of):
    declared = {"Type": "Number", "MinValue": 2, "ConstraintDescription": "two or more"}
    assert problems_of(cfn(Parameters={"P": declared}), {"P": 1, "Q": 1}) == {
        "Parameters.P": "two or more",
        "Parameters.Q": "The template has no such parameter; leave it out.",
    }
    found = problems_of(cfn(Parameters={"AWS::Region": {"Type": "String"}}))
    assert "every template has" in found["Parameters.AWS::Region"]


@pytest.mark.parametrize(
    ("value", "place", "sentence"),
    [
        ({"Ref": "X"}, ".Ref", "There is no parameter or resource 'X'."),
        ({"Ref": ["X"]}, ".Ref", "It takes the name of a parameter or resource, not a list"),
        ({"Ref": "Off"}, ".Ref", "The resource 'Off' is switched off by its condition."),
        ({"Fn::GetAtt": ["X", "a"]}, ".Fn::GetAtt[0]", "There is no resource 'X'."),
        ({"Fn::GetAtt": ["R", "a", "b"]}, ".Fn::GetAtt", "It takes a list of a resource and an attribute"),
        ({"Fn::GetAtt": "R.a"}, ".Fn::GetAtt", "It takes a list of a resource and an attribute"),
        ({"Fn::FindInMap": ["M", "a"]}, ".Fn::FindInMap", "a list of the name of a mapping and two keys"),
        ({"Fn::FindInMap": ["N", "a", "b"]}, ".Fn::FindInMap[0]", "There is no 'N' in Mappings."),
        ({"Fn::FindInMap": ["M", "x", "b"]}, ".Fn::FindInMap[1]", "There is no 'x' in Mappings.M."),
        ({"Fn::FindInMap": ["M", "a", ["b"]]}, ".Fn::FindInMap[2]", "in Mappings.M.a."),
        ({"Fn::FindInMap": ["M", {"Fn::GetAtt": ["R", "a"]}, "b"]}, ".Fn::FindInMap", "must not depend on"),
        ({"Fn::If": ["x", 1, 2]}, ".Fn::If[0]", "There is no condition 'x'."),
        ({"Fn::If": ["No", 1]}, ".Fn::If", "It takes a list of a condition"),
        ({"Fn::Select": ["x", ["a"]]}, ".Fn::Select[0]", "The index of a list has to be a number, not 'x'."),
        ({"Fn::Select": [0, "[1"]}, ".Fn::Select[1]", "It has to be a list or a map, not '[1'."),
        ({"Fn::ResourceFacade": "metadata"}, ".Fn::ResourceFacade", "one of Metadata, DeletionPolicy"),
        ({"Fn::ResourceFacade": "Metadata"}, ".Fn::ResourceFacade", "only in a template that is nested"),
        ([{"x": {"Ref": "X"}}], "[0].x.Ref", "There is no parameter or resource 'X'."),
    ],
)
def test_a_mistake_in_a_function_is_told_with_its_place(problems_of, value, place, sentence):
    template = cfn(
        Mappings={"M": {"a": {"b": 1}}},
        Conditions={"No": {"Fn::Equals": [1, 2]}},
        Resources={
            "R": {"Type": "T"},
            "S": {"Type": "T", "Properties": {"p": value}},
            "Off": {"Type": "T", "Condition": "No"},
        },
    )
    found = problems_of(template)
    assert list(found) == [f"Resources.S.Properties.p{place}"]
    assert sentence in found[f"Resources.S.Properties.p{place}"]


@pytest.mark.parametrize(
    ("condition", "place", "sentence"),
    [
        ({"Fn::Not": "C"}, ".Fn::Not", "It takes a list of one condition."),
        ({"Fn::Not": ["X"]}, ".Fn::Not[0]", "There is no condition 'X'."),
        ({"Fn::And": ["C"]}, ".Fn::And", "It takes a list of at least two conditions."),
        ({"Fn::Equals": [1]}, ".Fn::Equals", "It takes a list of two values."),
        ({"Fn::Equals": [{"Ref": "R"}, 1]}, ".Fn::Equals[0].Ref", "There is no parameter 'R'."),
        (
            {"Fn::Equals": [{"Fn::Join": ["", []]}, 1]},
            ".Fn::Equals[0].Fn::Join",
            "A condition cannot use Fn::Join",
        ),
        ({"Fn::Or": ["C", {"Fn::Not": ["D"]}]}, "", "Circular dependency"),
    ],
)
def test_a_wrong_condition_is_told(problems_of, condition, place, sentence):
    conditions = {"C": {"Fn::Equals": [1, 1]}, "D": condition}
    found = problems_of(cfn(Conditions=conditions, Resources={"R": {"Type": "T"}}))
    assert sentence in found[f"Conditions.D{place}"]


@pytest.mark.parametrize(
    ("sections", "path", "sentence"),
    [
        ({"Resources": {"R": []}}, "Resources.R", "It has to be a map"),
        ({"Resources": {"R": {}}}, "Resources.R.Type", "It has to name a resource type."),
        ({"Resources": {"R": {"Type": "T", "external_id": 1}}}, "Resources.R.external_id", "there are Type"),
        (
            {"Resources": {"R": {"Type": "T", "DeletionPolicy": "retain"}}},
            "Resources.R.DeletionPolicy",
            "one of",
        ),
        (
            {"Resources": {"R": {"Type": "T", "DependsOn": ["S"]}}},
            "Resources.R.DependsOn[0]",
            "no resource 'S'",
        ),
        (
            {"Resources": {"R": {"Type": "T", "Properties": 1}}},
            "Resources.R.Properties",
            "It has to be a map",
        ),
        ({"Resources": {"R": {"Type": "T", "DependsOn": "R"}}}, "Resources.R", "Circular dependency"),
        ({"Mappings": {"M": 1}}, "Mappings.M", "It has to be a map of maps, not a number."),
        ({"Mappings": {"M": {"a": 1}}}, "Mappings.M.a", "It has to be a map, not a number."),
        ({"Outputs": {"O": {"Description": "d"}}}, "Outputs.O", "a map that says the value"),
        (
            {"Outputs": {"O": {"Value": 1, "Export": 1}}},
            "Outputs.O.Export",
            "there are Value, Description, Cond",
        ),
        ({"Outputs": {"O": {"Value": {"Ref": "R"}}}}, "Outputs.O.Value.Ref", "no parameter or resource 'R'"),
        ({"Outputs": {"O": {"Value": 1, "Condition": "C"}}}, "Outputs.O.Condition", "no condition 'C'"),
    ],
)
def test_a_wrong_section_is_told_in_its_words(problems_of, sections, path, sentence):
    found = problems_of(cfn(**sections))
    assert list(found) == [path]
    assert sentence in found[path]


@pytest.mark.parametrize(
    ("path", "own"),
    [
        ("resources.r.properties.p[0].x", "Resources.r.Properties.p[0].x"),
        ("resources.a.b.update_policy", "Resources.a.b.UpdatePolicy"),
        ("resources.r.type", "Resources.r.Type"),
        ("outputs.o.value", "Outputs.o.Value"),
        ("resources.r", "Resources.r"),
        ("", ""),
    ],
)
def test_paths_of_others_are_told_in_its_words(path, own):
    template = load_template(cfn())
    assert freeze(template, merge(None, [], {}, {}), {}, PSEUDO).own_path(path) == own
    hot = load_template({"heat_template_version": "rocky"})
    assert freeze(hot, merge(None, [], {}, {}), {}, PSEUDO).own_path(path) == path
