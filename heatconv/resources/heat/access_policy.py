# SPDX-License-Identifier: Apache-2.0
"""OS::Heat::AccessPolicy: which resources a user inside of a stack may ask about."""

from __future__ import annotations

from heatconv.resources import properties, resource
from heatconv.resources.i18n import _


class AccessPolicy(resource.Resource):
    """A list of resources; the users that refer to it may ask about these and no others."""

    only_here = True

    PROPERTIES = (ALLOWED_RESOURCES,) = ("AllowedResources",)

    properties_schema = {
        ALLOWED_RESOURCES: properties.Schema(
            properties.Schema.LIST,
            _("The names of the resources that may be asked about."),
            required=True,
        ),
    }

    def handle_create(self) -> None:
        self.resource_id_set(self.physical_resource_name())

    def access_allowed(self, resource_name: str) -> bool:
        """Tell whether a resource may be asked about."""
        return resource_name in self.properties[self.ALLOWED_RESOURCES]
