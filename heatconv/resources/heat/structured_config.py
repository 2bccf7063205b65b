# SPDX-License-Identifier: Apache-2.0
"""OS::Heat::StructuredConfig: a map to be applied on servers."""

from __future__ import annotations

from heatconv.resources import properties
from heatconv.resources.heat.software_config import SoftwareConfig
from heatconv.resources.i18n import _


class StructuredConfig(SoftwareConfig):
    """A map to be applied on servers, for tools that take YAML or JSON."""

    properties_schema = {
        **SoftwareConfig.properties_schema,
        SoftwareConfig.CONFIG: properties.Schema(properties.Schema.MAP, _("What is to be applied.")),
    }
