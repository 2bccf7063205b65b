# SPDX-License-Identifier: Apache-2.0
"""What drives Heat's plugins, where that takes another way than with our own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heatconv.openstack.progress import SavingDriver
from heatconv.resources.declared import implements
from heatconv.resources.resource import Resource

QUOTAS = "quotas"


class CloudDriver(SavingDriver):
    """Drives a plugin whose service has its own ways to tell what it was given."""

    @classmethod
    def is_observable(cls, type_: type[Resource]) -> bool:
        """Tell whether anything can be known of how physical resources of a type are now.

        Not of what is no object of its own; nor of quotas, whose physical id is
        made up and would be taken for that of a project.
        """
        own = ("get_live_state", "get_live_resource_data")
        known = bool(type_.entity) and type_.entity != QUOTAS and super().is_observable(type_)
        return known or any(implements(type_, hook) for hook in own)

    def differences(self, live: Mapping[str, Any]) -> dict[str, Any]:
        """Return what is live of the comparable properties and is neither as made nor as written.

        A service may tell the name where it was given the id that the name stands for, and
        nothing at all of what is secret.
        """
        written = self.plugin.definition.properties
        found = super().differences(live)
        return {name: value for name, value in found.items() if value not in (None, written.get(name))}
