# SPDX-License-Identifier: Apache-2.0
"""A template for a type: one resource of it, a parameter for each property, an output for each attribute."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from heatconv.resources import support
from heatconv.resources.constraints import Modulo
from heatconv.resources.core import Core
from heatconv.resources.schema import Schema

Json = dict[str, Any]

HOT_VERSION = "2016-10-14"
CFN_VERSION = "2012-12-12"


def make(resource_class: type[Core], type_name: str, language: str) -> Json:
    """Return the template of a type in a language, ``hot`` or ``cfn``."""
    return _LANGUAGES[language](resource_class, type_name)


def _hot(resource_class: type[Core], type_name: str) -> Json:
    name, properties = resource_class.__name__, _properties(resource_class)
    return {
        "heat_template_version": HOT_VERSION,
        "description": _description(name),
        "parameters": {key: _hot_parameter(schema) for key, schema in properties.items()},
        "resources": {
            name: {"type": type_name, "properties": {key: {"get_param": key} for key in properties}}
        },
        "outputs": {
            key: _described(schema, "description") | {"value": {"get_attr": [name, key]}}
            for key, schema in _attributes(resource_class).items()
        },
    }


def _cfn(resource_class: type[Core], type_name: str) -> Json:
    name, properties = resource_class.__name__, _properties(resource_class)
    return {
        "HeatTemplateFormatVersion": CFN_VERSION,
        "Description": _description(name),
        "Parameters": {key: _cfn_parameter(schema) for key, schema in properties.items()},
        "Resources": {
            name: {
                "Type": type_name,
                "Properties": {key: _cfn_value(key, schema) for key, schema in properties.items()},
            }
        },
        "Outputs": {
            key: _described(schema, "Description") | {"Value": {"Fn::GetAtt": [name, key]}}
            for key, schema in _attributes(resource_class).items()
        },
    }


_LANGUAGES: Mapping[str, Callable[[type[Core], str], Json]] = {"hot": _hot, "cfn": _cfn}

#: The types of parameters by those of properties, as HOT and as CFN spell them.
_TYPES = {
    Schema.STRING: ("string", "String"),
    Schema.INTEGER: ("number", "Number"),
    Schema.NUMBER: ("number", "Number"),
    Schema.BOOLEAN: ("boolean", "Boolean"),
    Schema.MAP: ("json", "Json"),
    Schema.LIST: ("comma_delimited_list", "CommaDelimitedList"),
    Schema.ANY: ("json", "Json"),
}


_PLAIN = {Schema.STRING, Schema.INTEGER, Schema.NUMBER, Schema.BOOLEAN}


def _type(schema: Schema) -> tuple[str, str]:
    """Return the type of the parameter for a property: a list of anything but plain values takes JSON."""
    nested = schema.type == Schema.LIST and schema.item is not None and schema.item.type not in _PLAIN
    return _TYPES[Schema.ANY if nested else schema.type]


def _description(name: str) -> str:
    return f"Initial template of {name}"


def _properties(resource_class: type[Core]) -> dict[str, Schema]:
    return {
        key: schema
        for key, schema in resource_class.properties_schema.items()
        if schema.implemented and schema.support_status.status != support.HIDDEN
    }


def _attributes(resource_class: type[Core]) -> Json:
    schemas = {**resource_class.attributes_schema, **resource_class.base_attributes_schema}
    return {key: schema for key, schema in schemas.items() if schema.support_status.status != support.HIDDEN}


def _described(schema: Any, key: str) -> Json:
    return {key: str(schema.description)} if schema.description else {}


def _hot_parameter(schema: Schema) -> Json:
    parameter: Json = {"type": _type(schema)[0], **_described(schema, "description")}
    if schema.default is not None:
        parameter["default"] = schema.default
    # Parameters of this version cannot have to be multiples of something.
    constraints = [each.to_dict() for each in schema.constraints if not isinstance(each, Modulo)]
    return parameter | ({"constraints": constraints} if constraints else {})


def _cfn_parameter(schema: Schema) -> Json:
    parameter: Json = {"Type": _type(schema)[1], **_described(schema, "Description")}
    if schema.default is not None:
        with_commas = parameter["Type"] == "CommaDelimitedList"
        parameter["Default"] = ",".join(map(str, schema.default)) if with_commas else schema.default
    texts = []
    for constraint in schema.constraints:
        for kind, rule in constraint.rule().items():
            parameter |= _CFN_RULES.get(kind, _no_rule)(rule)
        texts.append(constraint.description or "")
    text = " ".join(filter(None, texts))
    return parameter | ({"ConstraintDescription": text} if text else {})


def _bounds(what: str) -> Callable[[Mapping[str, Any]], Json]:
    return lambda bounds: {f"{end.title()}{what}": value for end, value in bounds.items()}


def _no_rule(_rule: Any) -> Json:
    return {}


_CFN_RULES: Mapping[str, Callable[[Any], Json]] = {
    "range": _bounds("Value"),
    "length": _bounds("Length"),
    "allowed_values": lambda values: {"AllowedValues": values},
    "allowed_pattern": lambda pattern: {"AllowedPattern": pattern},
}


def _cfn_value(key: str, schema: Schema) -> Json:
    value = {"Ref": key}
    return {"Fn::Split": [",", value]} if _type(schema) == _TYPES[Schema.LIST] else value
