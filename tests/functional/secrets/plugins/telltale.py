# SPDX-License-Identifier: Apache-2.0
"""Test::Telltale: a resource that repeats its value wherever it can."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from heatconv.resources import attributes, properties, resource
from heatconv.resources.rsrc_defn import ResourceDefinition


class Telltale(resource.Resource):
    """A resource that keeps its value, echoes it, and quotes it when its template has it fail."""

    PROPERTIES = (VALUE, DATA, FAILS_IN) = ("value", "data", "fails_in")
    ATTRIBUTES = (VALUE_ATTR, ALL, BROKEN) = ("value", "all", "broken")

    properties_schema = {
        VALUE: properties.Schema(properties.Schema.STRING, default="", update_allowed=True),
        DATA: properties.Schema(properties.Schema.MAP, default={}, update_allowed=True),
        FAILS_IN: properties.Schema(properties.Schema.STRING, default="", update_allowed=True),
    }
    attributes_schema = {
        VALUE_ATTR: attributes.Schema("The value.", type=attributes.Schema.STRING),
        ALL: attributes.Schema("All that it was told.", type=attributes.Schema.MAP),
        BROKEN: attributes.Schema("An error."),
    }

    def _fail(self, where: str) -> None:
        if self.properties[self.FAILS_IN] == where:
            value = self.properties[self.VALUE]
            raise RuntimeError(f"{where} of {value!r}, {json.dumps(value)}, {quote(value)}, {value[:30]}")

    def validate(self) -> None:
        super().validate()
        self._fail("validate")

    def handle_create(self) -> None:
        self.resource_id_set(self.physical_resource_name())
        self.data_set("kept", self.properties[self.VALUE])
        self.data_set("redacted", self.properties[self.VALUE], redact=True)
        self._fail("create")

    def needs_replace_with_prop_diff(
        self, changed: set[str], after: properties.Properties, before: properties.Properties
    ) -> bool:
        self._fail("compare")
        return False

    def handle_update(self, json_snippet: ResourceDefinition, tmpl_diff: Any, prop_diff: Any) -> None:
        self.data_set("kept", json_snippet.definition.properties[self.VALUE])
        self._fail("update")

    def handle_delete(self) -> None:
        self._fail("delete")

    def handle_check(self) -> None:
        self._fail("check")

    def handle_suspend(self) -> None:
        self._fail("suspend")

    def handle_resume(self) -> None:
        self._fail("resume")

    def handle_snapshot(self) -> None:
        self._fail("snapshot")

    def handle_delete_snapshot(self, snapshot: Mapping[str, Any]) -> None:
        self._fail("delete_snapshot")

    def handle_restore(self, defn: ResourceDefinition, restore_data: Mapping[str, Any]) -> ResourceDefinition:
        self._fail("restore")
        return defn

    def handle_adopt(self, resource_data: Mapping[str, Any]) -> None:
        super().handle_adopt(resource_data)
        self._fail("adopt")

    def handle_signal(self, details: Any = None) -> str:
        self._fail("signal")
        return f"{self.properties[self.VALUE]} was told {details}"

    def _resolve_attribute(self, name: str) -> Any:
        values = {self.VALUE: self.properties[self.VALUE], self.DATA: self.properties[self.DATA]}
        match name:
            case self.VALUE_ATTR:
                return values[self.VALUE]
            case self.ALL:
                return {**values, values[self.VALUE] or "nothing": "is a key"}
        raise RuntimeError(f"nobody knows {values}")


def resource_mapping() -> Mapping[str, type[Telltale]]:
    """Return the resource types by name."""
    return {"Test::Telltale": Telltale}
