# SPDX-License-Identifier: Apache-2.0
"""What a software config takes and what it tells: the schemas of its inputs and outputs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from heatconv.model.unknown import contains_unknown
from heatconv.resources import constraints, exception
from heatconv.resources.i18n import _
from heatconv.resources.schema import Problem, Schema, map_problems

NAME, DESCRIPTION, TYPE, DEFAULT = ("name", "description", "type", "default")
REPLACE_ON_CHANGE, ERROR_OUTPUT, VALUE = ("replace_on_change", "error_output", "value")

#: How the values of an input's type look to a property.
_TYPES = {
    "String": Schema(Schema.STRING),
    "Number": Schema(Schema.NUMBER),
    "CommaDelimitedList": Schema(Schema.LIST, allow_conversion=True),
    "Json": Schema(Schema.MAP, allow_conversion=True),
    "Boolean": Schema(Schema.BOOLEAN),
}


def _type_of(what: str) -> Schema:
    return Schema(
        Schema.STRING,
        what,
        default="String",
        constraints=[constraints.AllowedValues(list(_TYPES))],
    )


INPUT = {
    NAME: Schema(Schema.STRING, _("The name of the input."), required=True),
    DESCRIPTION: Schema(Schema.STRING, _("What the input is for.")),
    TYPE: _type_of(_("The type of the input's values.")),
    DEFAULT: Schema(Schema.ANY, _("The value where a deployment gives none.")),
    REPLACE_ON_CHANGE: Schema(
        Schema.BOOLEAN,
        _("Whether a deployment is replaced, rather than updated, when the value changes."),
        default=False,
    ),
}

OUTPUT = {
    NAME: Schema(Schema.STRING, _("The name of the output."), required=True),
    DESCRIPTION: Schema(Schema.STRING, _("What the output tells.")),
    TYPE: _type_of(_("The type of the output's value.")),
    ERROR_OUTPUT: Schema(
        Schema.BOOLEAN,
        _("Whether the deployment failed if this output has a value."),
        default=False,
    ),
}

INPUTS = Schema(
    Schema.LIST,
    _("What the config takes."),
    schema=Schema(Schema.MAP, schema=INPUT),
)
OUTPUTS = Schema(
    Schema.LIST,
    _("What the config tells."),
    schema=Schema(Schema.MAP, schema=OUTPUT),
)

Item = Mapping[str, Any]


def inputs(given: Sequence[Item] | None) -> list[dict[str, Any]]:
    """Return inputs as they are stored; one that has a value, of a derived config, keeps it.

    Raises:
        StackValidationFailed: one of them is not as it has to be.
    """
    declared = [{key: item[key] for key in item if key != VALUE} for item in given or ()]
    completed = _completed(declared, INPUT, "inputs")
    _refuse(default_problems(completed, "inputs"))
    for item, kept in zip(given or (), completed, strict=True):
        if VALUE in item:
            kept[VALUE] = item[VALUE]
        if not kept[REPLACE_ON_CHANGE]:
            del kept[REPLACE_ON_CHANGE]
    return completed


def outputs(given: Sequence[Item] | None) -> list[dict[str, Any]]:
    """Return outputs as they are stored.

    Raises:
        StackValidationFailed: one of them is not as it has to be.
    """
    return _completed(given or (), OUTPUT, "outputs")


def default_problems(given: Sequence[Item], path: str) -> Iterator[Problem]:
    """Yield the defaults that are not of their input's type."""
    for index, item in enumerate(given):
        default = item.get(DEFAULT)
        # An empty text once was the default of any type, and templates still have it.
        if default is not None and default != "" and not contains_unknown(default):
            yield from _TYPES[item[TYPE]].problems(default, f"{path}[{index}].{DEFAULT}")


def _completed(given: Sequence[Item], schema: Mapping[str, Schema], path: str) -> list[dict[str, Any]]:
    """Return items with their defaults, less what has no value."""
    for index, item in enumerate(given):
        _refuse(map_problems(schema, item, f"{path}[{index}]"))
    values = [{key: each.value(item.get(key)) for key, each in schema.items()} for item in given]
    return [{key: value for key, value in item.items() if value is not None} for item in values]


def _refuse(problems: Iterator[Problem]) -> None:
    for path, sentence in problems:
        raise exception.StackValidationFailed(path=path, message=sentence)
