# SPDX-License-Identifier: Apache-2.0
"""What a template asks for, as Heat's answer to /validate tells it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heatconv.template.parameters import HIDDEN, ParameterSchema, convert_value, parse_schemas, report_unknown
from heatconv.template.problems import Problems
from heatconv.template.versions import version_of

_TYPES = {
    "string": "String",
    "number": "Number",
    "comma_delimited_list": "CommaDelimitedList",
    "json": "Json",
    "boolean": "Boolean",
}


def describe(template: Mapping[str, Any], environment: Mapping[str, Any]) -> dict[str, Any]:
    """Return the description and the parameters of a template.

    Args:
        template: as ``load_template`` returns it.
        environment: as ``environment.merge`` returns it; its values are shown,
            and parameters without a value are none of this function's errors.

    Raises:
        Invalid: a parameter is declared wrongly, given a wrong value, or unknown.
    """
    problems = Problems()
    schemas = parse_schemas(template, version_of(template), problems)
    given = {
        **(environment.get("parameter_defaults") or {}),
        **{name: value for name, value in (environment.get("parameters") or {}).items() if value is not None},
    }
    parameters = {}
    with problems.at("parameters"):
        report_unknown(environment.get("parameters") or {}, template.get("parameters") or {}, problems)
        for name, schema in schemas.items():
            with problems.at(name):
                parameters[name] = _described(schema, given.get(name), problems)
    problems.raise_any()
    answer: dict[str, Any] = {
        "Description": template.get("description") or "No description",
        "Parameters": parameters,
    }
    if template.get("parameter_groups"):
        answer["ParameterGroups"] = template["parameter_groups"]
    return answer | {"Environment": dict(environment)}


def _described(schema: ParameterSchema, value: Any, problems: Problems) -> dict[str, Any]:
    answer: dict[str, Any] = {
        "Type": _TYPES[schema.type],
        "Description": schema.description,
        "NoEcho": "true" if schema.hidden else "false",
        "Label": schema.label or schema.name,
    }
    if schema.default is not None:
        answer["Default"] = schema.default
    if value is not None:
        converted = convert_value(schema, value, {}, problems)
        answer["Value"] = HIDDEN if schema.hidden else converted
    if schema.tags:
        answer["Tags"] = list(schema.tags)
    for constraint in schema.constraints:
        answer |= constraint.describe()
    texts = [constraint.description for constraint in schema.constraints if constraint.description]
    return answer | ({"ConstraintDescription": " ".join(texts)} if texts else {})
