# SPDX-License-Identifier: Apache-2.0
"""What a template asks for, as Heat's answer to /validate tells it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from heatconv.model.secrets import HIDDEN
from heatconv.template.cloudformation import in_hot_words
from heatconv.template.environment import given_values
from heatconv.template.limits import bounded_work
from heatconv.template.parameters import (
    ParameterSchema,
    convert_value,
    hide,
    parse_schemas,
    report_unknown,
)
from heatconv.template.problems import Problems
from heatconv.template.resource_registry import ResourceRegistry
from heatconv.template.versions import PARAMETER_TYPES


@bounded_work()
def describe(
    template: Mapping[str, Any],
    environment: Mapping[str, Any],
    operator: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return the description and the parameters of a template.

    Args:
        template: as ``load_template`` returns it.
        environment: as ``environment.merge`` returns it; its values are shown,
            and parameters without a value are none of this function's errors.
        operator: what the operator's environment says to all templates, likewise.

    Raises:
        Invalid: a parameter is declared wrongly, given a wrong value, or unknown.
    """
    version, document, problems = in_hot_words(template)
    schemas = hide(parse_schemas(document, version, problems), environment.get("encrypted_param_names") or ())
    report_unknown(environment, document, version, problems)
    given = given_values(environment, operator or {})
    parameters = {}
    with problems.at("parameters"):
        for name, schema in schemas.items():
            with problems.at(name):
                parameters[name] = _described(schema, given.get(name), problems)
    problems.raise_any()
    answer: dict[str, Any] = {
        "Description": document.get("description") or "No description",
        "Parameters": parameters,
    }
    if document.get("parameter_groups"):
        answer["ParameterGroups"] = document["parameter_groups"]
    return answer | {"Environment": _masked(environment, schemas)}


@dataclass(frozen=True, kw_only=True)
class Interface:
    """What a template that is used as a type takes and gives."""

    parameters: Mapping[str, ParameterSchema]
    outputs: Mapping[str, str]  #: descriptions by name


@bounded_work()
def interface(template: Mapping[str, Any]) -> Interface:
    """Return the parameters and the outputs that a template declares.

    Raises:
        Invalid: a parameter is declared wrongly.
    """
    version, document, problems = in_hot_words(template)
    schemas = parse_schemas(document, version, problems)
    problems.raise_any()
    outputs = document.get("outputs") or {}
    return Interface(
        parameters=schemas,
        outputs={
            name: str(output.get("description") or "") if isinstance(output, dict) else ""
            for name, output in outputs.items()
        },
    )


@bounded_work()
def types_in(
    template: Mapping[str, Any], environment: Mapping[str, Any], operator: Mapping[str, Any]
) -> list[tuple[str, str]]:
    """Return the name of each resource in a template, with the type that implements it.

    ``operator``: the operator's environment, which the other goes before.

    Raises:
        Invalid: the template, or the registry, is no such thing.
    """
    _, document, problems = in_hot_words(template)
    problems.raise_any()
    registry = ResourceRegistry(
        environment.get("resource_registry") or {}, operator.get("resource_registry") or {}
    )
    found = []
    for name, snippet in (document.get("resources") or {}).items():
        type_ = snippet.get("type") if isinstance(snippet, dict) else None
        if isinstance(type_, str):
            found.append((name, registry.implementation(name, type_)))
    return found


def _masked(environment: Mapping[str, Any], schemas: Mapping[str, ParameterSchema]) -> dict[str, Any]:
    hidden = {name for name, schema in schemas.items() if schema.hidden}
    return dict(environment) | {
        section: {
            name: HIDDEN if name in hidden else value for name, value in (environment[section] or {}).items()
        }
        for section in ("parameters", "parameter_defaults")
        if section in environment
    }


def _described(schema: ParameterSchema, value: Any, problems: Problems) -> dict[str, Any]:
    answer: dict[str, Any] = {
        "Type": PARAMETER_TYPES[schema.type],
        "Description": schema.description,
        "NoEcho": "true" if schema.hidden else "false",
        "Label": schema.label or schema.name,
    }
    if schema.default is not None:
        answer["Default"] = HIDDEN if schema.hidden else schema.default
    if value is not None:
        converted = convert_value(schema, value, {}, problems)
        answer["Value"] = HIDDEN if schema.hidden else converted
    if schema.tags:
        answer["Tags"] = list(schema.tags)
    for constraint in schema.constraints:
        answer |= constraint.describe()
    texts = [constraint.description for constraint in schema.constraints if constraint.description]
    return answer | ({"ConstraintDescription": " ".join(texts)} if texts else {})
