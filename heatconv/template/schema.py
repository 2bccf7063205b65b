# SPDX-License-Identifier: Apache-2.0
"""The interface of a template: its parameters, in the form of Heat's answer to /validate, and its outputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from heatconv.model.definition import is_template
from heatconv.model.secrets import HIDDEN
from heatconv.model.work import bounded_work
from heatconv.template.cloudformation import in_hot_words
from heatconv.template.environment import given_values
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
    return answer | {"Environment": _merged(document, _masked(environment, schemas))}


def _merged(document: Mapping[str, Any], environment: Mapping[str, Any]) -> dict[str, Any]:
    """Return an environment as Heat shows it merged: a template that is a type is in the registry."""
    registry = environment.get("resource_registry") or {}
    used = [snippet.get("type") for snippet in _snippets(document).values()]
    files = {type_: type_ for type_ in used if isinstance(type_, str) and is_template(type_)}
    shown = {name: section for name, section in environment.items() if name != "encrypted_param_names"}
    merged = {**files, **registry, "resources": registry.get("resources") or {}}
    return shown | {"resource_registry": merged}


def _snippets(document: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Return the resources of a template that are maps, as they have to be."""
    resources = document.get("resources") or {}
    return {name: snippet for name, snippet in resources.items() if isinstance(snippet, dict)}


@bounded_work()
def plain_properties(template: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return, by resource, the properties that are plain values, or are a parameter that has a value.

    Raises:
        Invalid: the template is no such thing.
    """
    _, document, problems = in_hot_words(template)
    problems.raise_any()
    by_resource = {}
    for name, snippet in _snippets(document).items():
        properties = snippet.get("properties")
        items = properties.items() if isinstance(properties, dict) else ()
        plain = {key: _plain(value, values) for key, value in items}
        by_resource[name] = {key: value for key, value in plain.items() if value is not None}
    return by_resource


def _plain(value: Any, values: Mapping[str, Any]) -> Any:
    if not isinstance(value, dict | list):
        return value
    if isinstance(value, dict) and len(value) == 1:
        ((function, name),) = value.items()
        if function in ("get_param", "Ref") and isinstance(name, str):
            return values.get(name)
    return None


@dataclass(frozen=True, kw_only=True)
class Interface:
    """The parameters and the outputs of a template that is used as a type."""

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
    for name, snippet in _snippets(document).items():
        type_ = snippet.get("type")
        if isinstance(type_, str):
            found.append((name, registry.implementation(name, type_)))
    return found


def facade_of(environment: Mapping[str, Any], operator: Mapping[str, Any], name: str, type_: str) -> str:
    """Return the type that would be behind a resource's type, but for the mapping that counts."""
    registry = ResourceRegistry(
        environment.get("resource_registry") or {}, operator.get("resource_registry") or {}
    )
    return registry.facade(name, type_)


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
        answer["Default"] = schema.default  # it is in the template that the caller sent
    if value is not None:
        converted = convert_value(schema, value, {}, problems)
        answer["Value"] = HIDDEN if schema.hidden else converted
    if schema.tags:
        answer["Tags"] = list(schema.tags)
    for constraint in schema.constraints:
        answer |= constraint.describe()
    texts = [constraint.description for constraint in schema.constraints if constraint.description]
    return answer | ({"ConstraintDescription": " ".join(texts)} if texts else {})
