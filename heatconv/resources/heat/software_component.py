# SPDX-License-Identifier: Apache-2.0
"""OS::Heat::SoftwareComponent: a config for each action of a component's life."""

from __future__ import annotations

from collections import Counter
from typing import Any

from heatconv.resources import attributes, constraints, exception, properties, support
from heatconv.resources.heat.software_config import DeclaredConfig
from heatconv.resources.i18n import _

COMPONENT = "component"  #: the group that tells a component from a config


class SoftwareComponent(DeclaredConfig):
    """Several configs for one piece of software, each for some actions of its life."""

    support_status = support.SupportStatus(version="2014.2")

    CONFIGS = "configs"
    CONFIG_KEYS = (CONFIG_ACTIONS, CONFIG_CONFIG, CONFIG_TOOL) = ("actions", "config", "tool")

    properties_schema = {
        CONFIGS: properties.Schema(
            properties.Schema.LIST,
            _("The configs, of which no two are for the same action."),
            required=True,
            constraints=[constraints.Length(min=1)],
            schema=properties.Schema(
                properties.Schema.MAP,
                schema={
                    CONFIG_ACTIONS: properties.Schema(
                        properties.Schema.LIST,
                        _("The actions it is for: CREATE, UPDATE, DELETE, SUSPEND, RESUME."),
                        schema=properties.Schema(properties.Schema.STRING),
                        default=["CREATE", "UPDATE"],
                        constraints=[constraints.Length(min=1)],
                    ),
                    CONFIG_CONFIG: properties.Schema(properties.Schema.STRING, _("What is to be run.")),
                    CONFIG_TOOL: properties.Schema(
                        properties.Schema.STRING,
                        _("The tool on the server that knows what to do with it."),
                        required=True,
                    ),
                },
            ),
        ),
        **DeclaredConfig.properties_schema,
    }

    attributes_schema = {
        **DeclaredConfig.attributes_schema,
        CONFIGS: attributes.Schema(_("The configs."), type=attributes.Schema.LIST),
    }

    def validate(self) -> None:
        super().validate()
        uses = Counter(
            action for config in self.properties[self.CONFIGS] or () for action in config[self.CONFIG_ACTIONS]
        )
        twice = sorted(action for action, count in uses.items() if count > 1)
        if twice:
            raise exception.StackValidationFailed(
                path=["resources", self.name, "properties", self.CONFIGS],
                message=f"More than one config is for {', '.join(twice)}; which comes first is not known.",
            )

    def content(self) -> dict[str, Any]:
        configs = {self.CONFIGS: self.properties[self.CONFIGS]}
        return super().content() | {"group": COMPONENT, "config": configs}

    def _resolve_attribute(self, name: str) -> Any:
        config = super()._resolve_attribute(name)
        return (config or {}).get(self.CONFIGS) if name == self.CONFIGS else config
