# SPDX-License-Identifier: Apache-2.0
"""Parameters: what a template declares, and the values a user gives."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from heatconv.errors import ImmutableParameters, Invalid
from heatconv.model.secrets import HIDDEN, texts_in
from heatconv.template import unknown
from heatconv.template.constraints import Constraint, CustomConstraints, as_number, parse_constraints
from heatconv.template.limits import MAX_TEXT_BYTES
from heatconv.template.loader import check_data
from heatconv.template.problems import Problems, excerpt, kind_of
from heatconv.template.versions import Version


@dataclass(frozen=True, kw_only=True)
class ParameterSchema:
    """What a template declares about a parameter."""

    name: str
    type: str = "string"
    label: str = ""
    description: str = ""
    default: Any = field(default=None, repr=False)  #: as written; None: the user has to give a value
    hidden: bool = False
    immutable: bool = False
    constraints: tuple[Constraint, ...] = ()
    tags: tuple[str, ...] = ()

    def convert(self, value: Any) -> Any:
        """Return a value in the type of the parameter.

        Raises:
            ValueError: it cannot be, with a sentence that says why.
        """
        return _TYPES[self.type](value)

    def objections(self, value: Any, custom: CustomConstraints) -> list[str]:
        """Return why a converted value does not satisfy the constraints."""
        result = []
        for constraint in self.constraints:
            objection = constraint.objection(value, custom)
            if objection and self.hidden and not constraint.description:
                # The usual sentences tell something of the value.
                objection = f"It does not satisfy the constraint {constraint.kind}."
            if objection:
                result.append(objection)
        return result


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """A parameter and its value."""

    name: str
    value: Any
    schema: ParameterSchema = field(repr=False)

    @property
    def shown(self) -> str:
        """The text that users are shown as its value."""
        if self.schema.hidden:
            return HIDDEN
        if unknown.is_written_in(self.value):
            return "(not known yet)"
        if isinstance(self.value, str):
            return self.value
        if self.schema.type == "comma_delimited_list":
            return ",".join(self.value)
        return json.dumps(self.value) if self.schema.type == "json" else str(self.value)

    def __repr__(self) -> str:
        return f"Parameter({self.name}={excerpt(self.shown)})"


def check_immutable(before: Mapping[str, Parameter], after: Mapping[str, Parameter]) -> None:
    """Check that an update leaves immutable parameters as they are.

    Raises:
        ImmutableParameters: it does not; with the names.
    """
    modified = [
        name
        for name, parameter in after.items()
        if parameter.schema.immutable and name in before and before[name].value != parameter.value
    ]
    if modified:
        raise ImmutableParameters(names=", ".join(modified))


# -- declarations ------------------------------------------------------------------------------


def parse_schemas(
    template: Mapping[str, Any], version: Version, problems: Problems
) -> dict[str, ParameterSchema]:
    """Return what a template declares; a parameter with mistakes is left out, and they are reported."""
    result = {}
    with problems.at("parameters"):
        for name, snippet in (template.get("parameters") or {}).items():
            with problems.at(name):
                schema = _parse_schema(name, snippet, version, problems)
            if schema is not None:
                result[name] = schema
    _check_groups(template, problems)
    return result


def _parse_schema(name: str, snippet: Any, version: Version, problems: Problems) -> ParameterSchema | None:
    if name in version.pseudo_parameters:
        problems.report("The name belongs to a parameter that every template has.")
        return None
    if not isinstance(snippet, dict):
        problems.report(f"It has to be a map, not {kind_of(snippet)}.")
        return None
    mistakes = len(problems.found)
    keys = _KEYS | ({"tags": list} if version.has_tags else {})
    for key, value in snippet.items():
        if key not in keys:
            problems.report(f"There is no '{key}' here; there are {', '.join(keys)}.", key)
        elif key != "type" and value is not None and not isinstance(value, keys[key]):
            problems.report(f"It has to be {_kind_named(keys[key])}, not {kind_of(value)}.", key)
    word, types = snippet.get("type"), version.parameter_types
    if not isinstance(word, str) or word not in types:
        problems.report(f"It has to be one of {', '.join(types)}, not {excerpt(word)}.", "type")
        return None
    type_ = types[word]
    with problems.at("constraints"):
        modulo = version.has_modulo
        constraints = parse_constraints(snippet.get("constraints"), type_, problems, modulo=modulo)
    tags = snippet.get("tags") or []
    for index, tag in enumerate(tags if isinstance(tags, list) else []):
        if not isinstance(tag, str):
            problems.report(f"It has to be a text, not {kind_of(tag)}.", "tags", index)
    schema = ParameterSchema(
        name=name,
        type=type_,
        label=snippet.get("label") or "",
        description=snippet.get("description") or "",
        default=snippet.get("default"),
        hidden=snippet.get("hidden") is True or _truth(snippet.get("hidden"), "hidden", problems),
        immutable=_truth(snippet.get("immutable"), "immutable", problems),
        constraints=constraints,
        tags=tuple(tags),
    )
    if schema.default is not None and len(problems.found) == mistakes:
        with problems.at("default"):
            convert_value(schema, schema.default, {}, problems)
    return schema if len(problems.found) == mistakes else None


_KEYS: dict[str, Any] = {
    "type": str,
    "label": str,
    "description": str,
    "default": object,
    "hidden": bool | str,
    "constraints": list,
    "immutable": bool | str,
    "schema": object,
}


def _kind_named(type_: Any) -> str:
    return kind_of(type_()) if isinstance(type_, type) else "true or false"


def _truth(value: Any, key: str, problems: Problems) -> bool:
    try:
        return value is not None and _boolean(value)
    except ValueError as error:
        problems.report(str(error), key)
        return False


def _check_groups(template: Mapping[str, Any], problems: Problems) -> None:
    declared = template.get("parameters") or {}
    grouped: set[str] = set()
    for index, group in enumerate(template.get("parameter_groups") or []):
        with problems.at("parameter_groups", index):
            if not isinstance(group, dict) or not isinstance(group.get("parameters"), list):
                problems.report(
                    "It has to be a map with a list 'parameters', and perhaps label, description."
                )
                continue
            for key, value in group.items():
                if key not in ("label", "description", "parameters"):
                    problems.report(
                        f"There is no '{key}' here; there are label, description, parameters.", key
                    )
                elif key != "parameters" and not isinstance(value, str | None):
                    problems.report(f"It has to be a text, not {kind_of(value)}.", key)
            for place, name in enumerate(group["parameters"]):
                if not isinstance(name, str) or name not in declared:
                    problems.report(f"There is no parameter {excerpt(name)}.", "parameters", place)
                elif name in grouped:
                    problems.report(f"The parameter '{name}' is in a group already.", "parameters", place)
                else:
                    grouped.add(name)


def hide(schemas: Mapping[str, ParameterSchema], names: Collection[str]) -> dict[str, ParameterSchema]:
    """Return declarations with more parameters hidden than the template says."""
    return {
        name: replace(schema, hidden=True) if name in names else schema for name, schema in schemas.items()
    }


def hidden_texts(schemas: Mapping[str, ParameterSchema], given: Mapping[str, Any]) -> Iterator[str]:
    """Yield what hidden parameters are given, be it right or wrong, piece by piece."""
    for name, schema in schemas.items():
        value = given.get(name, schema.default)
        if not schema.hidden or value is None or unknown.is_written_in(value):
            continue
        yield from texts_in(value)
        with suppress(ValueError):
            yield from texts_in(schema.convert(value))


# -- values -----------------------------------------------------------------------------------------


def evaluate_parameters(
    schemas: Mapping[str, ParameterSchema],
    given: Mapping[str, Any],
    custom: CustomConstraints,
    problems: Problems,
    *,
    is_unsure: bool = False,
) -> dict[str, Parameter]:
    """Return the parameters that have a good value; what is wrong with others is reported.

    ``given`` are the values by name, as ``environment.given_values`` returns them; with
    ``is_unsure``, what is not known yet of them is not judged.
    """
    result = {}
    values = {name: given.get(name, schema.default) for name, schema in schemas.items()}
    missing = [name for name, value in values.items() if value is None]
    with problems.at("parameters"):
        if missing:
            problems.report(f"The Parameter ({', '.join(missing)}) was not provided.")
        for name, schema in schemas.items():
            value = values[name]
            if value is None:
                continue
            if is_unsure and unknown.is_written_in(value):
                result[name] = Parameter(name=name, value=value, schema=schema)
                continue
            with problems.at(name):
                mistakes = len(problems.found)
                value = convert_value(schema, value, custom, problems)
                if len(problems.found) == mistakes:
                    result[name] = Parameter(name=name, value=value, schema=schema)
    return result


def pseudo_parameters(values: Mapping[str, Any]) -> dict[str, Parameter]:
    """Return the parameters that every template has."""
    return {
        name: Parameter(name=name, value=value, schema=ParameterSchema(name=name))
        for name, value in values.items()
    }


def report_unknown(
    environment: Mapping[str, Any], template: Mapping[str, Any], version: Version, problems: Problems
) -> None:
    """Report values for parameters that the template does not have; defaults may be for another template."""
    known = {*(template.get("parameters") or {}), *version.pseudo_parameters}
    with problems.at("parameters"):
        for name in environment.get("parameters") or {}:
            if name not in known:
                problems.report("The template has no such parameter; leave it out.", name)


def convert_value(schema: ParameterSchema, value: Any, custom: CustomConstraints, problems: Problems) -> Any:
    """Return a value converted and checked; mistakes are reported."""
    if schema.hidden and value == HIDDEN:
        problems.report(f"'{HIDDEN}' is what is shown in place of a hidden value; give the value itself.")
        return None
    try:
        converted = schema.convert(value)
    except ValueError as error:
        problems.report("It has the wrong type." if schema.hidden else str(error))
        return None
    for objection in schema.objections(converted, custom):
        problems.report(objection)
    return converted


def _string(value: Any) -> str:
    if isinstance(value, dict | list):
        raise ValueError(f"It has to be a text, not {kind_of(value)}.")  # noqa: TRY004  # see convert
    return str(value)


def _list(value: Any) -> list[str]:
    if isinstance(value, list):
        return ["" if item is None else _string(item) for item in value]
    if isinstance(value, dict):
        raise ValueError("It has to be a list or a text with commas, not a map.")  # noqa: TRY004  # see convert
    text = str(value)
    return text.split(",") if text else []


def _json(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    if not value:
        return {}
    try:
        data = json.loads(value)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"It has to be JSON: {error}.") from error
    try:
        check_data(data, "It", limit=MAX_TEXT_BYTES)
    except Invalid as error:
        raise ValueError(str(error)) from error
    return data


def _boolean(value: Any) -> bool:
    text = str(value).strip().lower()
    if text in ("true", "t", "yes", "y", "on", "1"):
        return True
    if text in ("false", "f", "no", "n", "off", "0"):
        return False
    raise ValueError(f"It has to be true or false, not {excerpt(value)}.")


_TYPES: dict[str, Callable[[Any], Any]] = {
    "string": _string,
    "number": as_number,
    "comma_delimited_list": _list,
    "json": _json,
    "boolean": _boolean,
}
