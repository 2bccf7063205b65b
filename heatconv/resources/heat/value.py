# SPDX-License-Identifier: Apache-2.0
"""OS::Heat::Value: gives a name, and if asked a type, to a value."""

from __future__ import annotations

from typing import Any

from heatconv.model.unknown import contains_unknown
from heatconv.resources import attributes, constraints, exception, properties, resource, support
from heatconv.resources.i18n import _
from heatconv.resources.schema import Problem


class Value(resource.Resource):
    """A value, computed once and used in many places."""

    support_status = support.SupportStatus(version="7.0.0")
    only_here = True
    notes_may_wait = True
    compares_alone = True

    PROPERTIES = (VALUE, TYPE) = ("value", "type")
    ATTRIBUTES = (VALUE_ATTR,) = ("value",)

    _SCHEMAS = {
        "string": properties.Schema(properties.Schema.STRING),
        "number": properties.Schema(properties.Schema.NUMBER),
        "comma_delimited_list": properties.Schema(properties.Schema.LIST, allow_conversion=True),
        "json": properties.Schema(properties.Schema.MAP, allow_conversion=True),
        "boolean": properties.Schema(properties.Schema.BOOLEAN),
    }

    properties_schema = {
        VALUE: properties.Schema(properties.Schema.ANY, _("The value."), required=True, update_allowed=True),
        TYPE: properties.Schema(
            properties.Schema.STRING,
            _("The type that the value is converted to."),
            constraints=[constraints.AllowedValues(list(_SCHEMAS))],
            update_allowed=True,
        ),
    }

    attributes_schema = {
        VALUE_ATTR: attributes.Schema(_("The value."), cache_mode=attributes.Schema.CACHE_NONE),
    }

    def validate(self) -> None:
        super().validate()
        problems = self._conversion_problems()
        if problems:
            path, sentence = problems[0]
            raise exception.StackValidationFailed(path=path, message=sentence)

    def _conversion_problems(self) -> list[Problem]:
        schema = self._SCHEMAS.get(self.properties[self.TYPE])
        given = self.properties.data.get(self.VALUE)
        if schema is None or contains_unknown(given):
            return []
        return list(schema.problems(given, f"resources.{self.name}.properties.{self.VALUE}"))

    def handle_create(self) -> None:
        # What could not be known before is known now.
        self.validate()
        self.resource_id_set(self.physical_resource_name())

    def handle_update(self, json_snippet: Any, tmpl_diff: Any, prop_diff: Any) -> None:
        type(self)(self.name, json_snippet.definition, self.stack).validate()

    def foresee_attribute(self, name: str) -> Any:
        return self._resolve_attribute(name)

    def _resolve_attribute(self, name: str) -> Any:
        schema = self._SCHEMAS.get(self.properties[self.TYPE])
        value = self.properties[self.VALUE]
        return value if schema is None else schema.value(value)
