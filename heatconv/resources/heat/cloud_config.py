# SPDX-License-Identifier: Apache-2.0
"""OS::Heat::CloudConfig: a map as cloud-init reads it."""

from __future__ import annotations

from typing import Any

import yaml

from heatconv.resources import properties, support
from heatconv.resources.heat.software_config import UNGROUPED, BaseConfig
from heatconv.resources.i18n import _


class CloudConfig(BaseConfig):
    """A map of cloud-init's own settings, kept as the text that cloud-init reads."""

    support_status = support.SupportStatus(version="2014.1")

    PROPERTIES = (CLOUD_CONFIG,) = ("cloud_config",)

    properties_schema = {
        CLOUD_CONFIG: properties.Schema(properties.Schema.MAP, _("The settings by name.")),
    }

    def content(self) -> dict[str, Any]:
        settings = yaml.safe_dump(self.properties[self.CLOUD_CONFIG] or {}, default_flow_style=False)
        return {"group": UNGROUPED, "config": f"#cloud-config\n{settings}"}
