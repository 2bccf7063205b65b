# SPDX-License-Identifier: Apache-2.0
"""OS::Heat::ResourceChain: resources of some types with the same properties, one after another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heatconv.resources import attributes, exception, group, properties, support
from heatconv.resources.i18n import _

_schema = properties.Schema
_attribute = attributes.Schema


class ResourceChain(group.Group):
    """Members named 0, 1, 2 and so on, each of which is made when the one before it is there.

    With ``concurrent`` they are all made at the same time.
    """

    support_status = support.SupportStatus(version="6.0.0")

    PROPERTIES = (RESOURCES, CONCURRENT, RESOURCE_PROPERTIES) = (
        "resources",
        "concurrent",
        "resource_properties",
    )
    ATTRIBUTES = (REFS, ATTR_ATTRIBUTES) = ("refs", "attributes")

    properties_schema = {
        RESOURCES: _schema(
            _schema.LIST,
            _("The types of the members."),
            required=True,
            update_allowed=True,
        ),
        CONCURRENT: _schema(
            _schema.BOOLEAN,
            _("Whether no member waits for the one before it."),
            default=False,
        ),
        RESOURCE_PROPERTIES: _schema(_schema.MAP, _("The properties of each member.")),
    }

    attributes_schema = {
        REFS: _attribute(_("What refers to each member, in their order."), type=_attribute.LIST),
        ATTR_ATTRIBUTES: _attribute(
            _("The attribute of each member that the path behind this names, by the member's name."),
            type=_attribute.MAP,
        ),
    }

    def validate(self) -> Any:
        super().validate()
        for number, type_ in enumerate(self.properties[self.RESOURCES]):
            if not isinstance(type_, str):
                raise exception.StackValidationFailed(
                    path=["resources", self.name, "properties", f"{self.RESOURCES}[{number}]"],
                    message=_("It has to be the name of a resource type."),
                )

    @classmethod
    def types_made(cls, properties: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
        listed = properties.get(cls.RESOURCES)
        types = listed if isinstance(listed, list) else []
        return {
            f"{cls.RESOURCES}[{number}]": (str(number), type_)
            for number, type_ in enumerate(types)
            if isinstance(type_, str)
        }

    @classmethod
    def size_made(cls, properties: Mapping[str, Any]) -> int:
        listed = properties.get(cls.RESOURCES)
        return len(listed) if isinstance(listed, list) else 0

    @classmethod
    def properties_made(cls, properties: Mapping[str, Any]) -> Mapping[str, Any]:
        given = properties.get(cls.RESOURCE_PROPERTIES)
        return given if isinstance(given, Mapping) else {}

    def member_names(self) -> list[str]:
        return [str(number) for number in range(len(self.properties[self.RESOURCES]))]

    def member(self, name: str) -> group.Snippet:
        number = int(name)
        first = number == 0 or self.properties[self.CONCURRENT]
        return {
            "type": self.properties[self.RESOURCES][number],
            "properties": dict(self.properties[self.RESOURCE_PROPERTIES] or {}),
            "metadata": {},
            "depends_on": [] if first else [str(number - 1)],
        }
