# SPDX-License-Identifier: Apache-2.0
"""OS::Heat::StructuredDeployment: a map with the values of inputs filled in, applied on a server."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heatconv.resources import constraints, exception, properties
from heatconv.resources.heat.software_deployment import Properties, SoftwareDeployment
from heatconv.resources.i18n import _


class StructuredDeployment(SoftwareDeployment):
    """A map in which each ``{get_input: NAME}`` gives way to the input's value, applied on a server."""

    INPUT_KEY, INPUT_VALUES_VALIDATE = ("input_key", "input_values_validate")

    properties_schema = {
        **SoftwareDeployment.properties_schema,
        INPUT_KEY: properties.Schema(
            properties.Schema.STRING,
            _("The key, alone in its map, that stands for an input's value."),
            default="get_input",
        ),
        INPUT_VALUES_VALIDATE: properties.Schema(
            properties.Schema.STRING,
            _("What becomes of an input without a value: LAX makes it null, STRICT fails."),
            default="LAX",
            constraints=[constraints.AllowedValues(["LAX", "STRICT"])],
        ),
    }

    def _filled_in(self, config: Any, inputs: list[dict[str, Any]], given: Properties) -> Any:
        """Return the map with the values of its inputs in it."""
        values = {item["name"]: item["value"] for item in inputs}
        return filled_in(
            config or {}, given[self.INPUT_KEY], values, strict=given[self.INPUT_VALUES_VALIDATE] == "STRICT"
        )


def filled_in(value: Any, key: str, inputs: Mapping[str, Any], *, strict: bool) -> Any:
    """Return a value in which maps of nothing but ``key`` gave way to the input they name.

    Raises:
        Error: ``strict``, and there is no such input.
    """
    if isinstance(value, Mapping):
        if len(value) == 1 and isinstance(value.get(key), str):
            return _input(value[key], inputs, strict=strict)
        return {name: filled_in(item, key, inputs, strict=strict) for name, item in value.items()}
    if isinstance(value, list):
        return [filled_in(item, key, inputs, strict=strict) for item in value]
    return value


def _input(name: str, inputs: Mapping[str, Any], *, strict: bool) -> Any:
    if strict and name not in inputs:
        raise exception.Error(f"The config asks for the input {name!r}; give it a value in input_values.")
    return inputs.get(name)
