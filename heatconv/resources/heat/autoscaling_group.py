# SPDX-License-Identifier: Apache-2.0
"""OS::Heat::AutoScalingGroup: members whose number policies change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from heatconv.resources import (
    attributes,
    constraints,
    exception,
    group,
    group_attributes,
    properties,
    scalable_group,
    support,
)
from heatconv.resources.group_attributes import MEMBER, Of, Path
from heatconv.resources.i18n import _
from heatconv.resources.rolling import Pace

_schema = properties.Schema
_attribute = attributes.Schema

_PARTS = ("type", "properties", "metadata", "deletion_policy", "update_policy")


class AutoScalingResourceGroup(scalable_group.ScalableGroup):
    """Members, each as the template has it, whose number policies change."""

    support_status = support.SupportStatus(version="2014.1")

    PROPERTIES = (RESOURCE, MAX_SIZE, MIN_SIZE, COOLDOWN, DESIRED_CAPACITY, ROLLING_UPDATES) = (
        "resource",
        "max_size",
        "min_size",
        "cooldown",
        "desired_capacity",
        "rolling_updates",
    )
    MIN_IN_SERVICE, MAX_BATCH_SIZE, PAUSE_TIME = ("min_in_service", "max_batch_size", "pause_time")

    ATTRIBUTES = (OUTPUTS, OUTPUTS_LIST, CURRENT_SIZE, REFS, REFS_MAP) = (
        "outputs",
        "outputs_list",
        "current_size",
        "refs",
        "refs_map",
    )

    properties_schema = {
        RESOURCE: _schema(
            _schema.MAP,
            _("What a member is, as a template has it in its section for resources."),
            required=True,
            update_allowed=True,
        ),
        MAX_SIZE: _schema(
            _schema.INTEGER,
            _("The most members there may be."),
            required=True,
            constraints=[constraints.Range(min=0)],
            update_allowed=True,
        ),
        MIN_SIZE: _schema(
            _schema.INTEGER,
            _("The fewest members there may be."),
            required=True,
            constraints=[constraints.Range(min=0)],
            update_allowed=True,
        ),
        COOLDOWN: _schema(
            _schema.INTEGER,
            _("The seconds after a scaling in which there is no other."),
            update_allowed=True,
        ),
        DESIRED_CAPACITY: _schema(
            _schema.INTEGER,
            _("How many members there are at first, and again when a property changes."),
            update_allowed=True,
        ),
        ROLLING_UPDATES: _schema(
            _schema.MAP,
            _("How members are changed in batches."),
            schema={
                MIN_IN_SERVICE: _schema(
                    _schema.INTEGER,
                    _("How many members are to be in service meanwhile; some may be made just for that."),
                    default=0,
                    constraints=[constraints.Range(min=0)],
                ),
                MAX_BATCH_SIZE: _schema(
                    _schema.INTEGER,
                    _("How many members are worked on at once."),
                    default=1,
                    constraints=[constraints.Range(min=1)],
                ),
                PAUSE_TIME: _schema(
                    _schema.NUMBER,
                    _("The seconds to pause between two batches."),
                    default=0,
                    constraints=[constraints.Range(min=0)],
                ),
            },
            default={MIN_IN_SERVICE: 0, MAX_BATCH_SIZE: 1, PAUSE_TIME: 0},
            update_allowed=True,
        ),
    }

    attributes_schema = {
        OUTPUTS: _attribute(
            _("The attribute of each member that the path behind this names, by the member's name."),
            support_status=support.SupportStatus(version="2014.2"),
            type=_attribute.MAP,
        ),
        OUTPUTS_LIST: _attribute(
            _("The attribute of each member that the path behind this names, in their order."),
            support_status=support.SupportStatus(version="2014.2"),
            type=_attribute.LIST,
        ),
        CURRENT_SIZE: _attribute(
            _("The number of members."),
            support_status=support.SupportStatus(version="2015.1"),
            type=_attribute.INTEGER,
        ),
        REFS: _attribute(
            _("What refers to each member, in their order."),
            support_status=support.SupportStatus(version="7.0.0"),
            type=_attribute.LIST,
        ),
        REFS_MAP: _attribute(
            _("What refers to each member, by name."),
            support_status=support.SupportStatus(version="7.0.0"),
            type=_attribute.MAP,
        ),
    }

    def validate(self) -> Any:
        super().validate()
        self.check_sizes()
        if not isinstance(self.properties[self.RESOURCE].get("type"), str):
            self.refuse(self.RESOURCE, _("It has to name a resource type."))

    def get_reference_id(self) -> str:
        return self.physical_resource_name_or_FnGetRefId()

    @classmethod
    def types_made(cls, properties: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
        return group.type_in(properties, cls.RESOURCE, "member")

    @classmethod
    def size_made(cls, properties: Mapping[str, Any]) -> int:
        return max(group.number_in(properties, each) for each in (cls.DESIRED_CAPACITY, cls.MIN_SIZE))

    @classmethod
    def properties_made(cls, properties: Mapping[str, Any]) -> Mapping[str, Any]:
        return group.properties_in(properties, cls.RESOURCE)

    # -- the members ------------------------------------------------------------------------

    def member(self, name: str) -> group.Snippet:
        wanted = self.properties[self.RESOURCE]
        return {part: wanted[part] for part in _PARTS if wanted.get(part) is not None}

    def updating(self) -> Pace | None:
        return group.pace_of(self.properties[self.ROLLING_UPDATES])

    # -- its attributes ------------------------------------------------------------------------

    def attribute_of_members(self, names: Sequence[str], attribute: str, path: Path, of: Of) -> Any:
        if attribute.startswith(MEMBER):
            which = attribute.removeprefix(MEMBER).partition(".")[0]
            found = names[int(which)] if which.isdecimal() and int(which) < len(names) else None
            return group_attributes.one_of(found, attribute, path, of)
        match attribute:
            case self.CURRENT_SIZE:
                return len(names)
            case self.OUTPUTS:
                return group_attributes.map_of(names, path, of)
            case self.OUTPUTS_LIST:
                return group_attributes.list_of(names, path, of)
            case self.REFS | self.REFS_MAP:
                return group_attributes.usual(names, attribute, path, of)
            case _:
                raise exception.InvalidTemplateAttribute(resource=self.name, key=attribute)

    @classmethod
    def may_have(cls, attribute: str) -> bool:
        """Tell whether a reference to an attribute can be right."""
        return attribute.startswith(MEMBER) or attribute in {
            **cls.attributes_schema,
            **cls.base_attributes_schema,
        }
