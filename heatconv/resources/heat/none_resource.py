# SPDX-License-Identifier: Apache-2.0
"""OS::Heat::None: stands for any type and does nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heatconv.model.definition import Definition
from heatconv.resources import resource, support
from heatconv.resources.driver import PluginDriver
from heatconv.resources.properties import Properties


class Unchanging(PluginDriver):
    """Drives what accepts any other definition as it is."""

    def plan_update(self, after: Definition) -> None:
        """Find nothing to do."""


class NoneResource(resource.Resource):
    """A resource that takes any property, has any attribute (null), and never changes."""

    support_status = support.SupportStatus(version="5.0.0")
    only_here = True
    notes_may_wait = True
    _driver = Unchanging

    def parse_properties(self, definition: Definition, lenient: bool = False) -> Properties:
        return Properties({}, {})

    def handle_create(self) -> None:
        self.resource_id_set(self.physical_resource_name())

    def get_attribute(self, key: str, *path: str | int) -> Any:
        return None

    def get_live_state(self, resource_properties: Properties) -> Mapping[str, Any]:
        return {}
