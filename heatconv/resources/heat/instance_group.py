# SPDX-License-Identifier: Apache-2.0
"""OS::Heat::InstanceGroup: so many servers that are made of one launch configuration."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from typing import Any, NoReturn

from heatconv.model.definition import Definition
from heatconv.resources import (
    attributes,
    exception,
    group,
    group_attributes,
    properties,
    scaled_group,
    timeutils,
)
from heatconv.resources.aws import launch_configuration
from heatconv.resources.facts import Peer
from heatconv.resources.group_attributes import Of, Path
from heatconv.resources.i18n import _
from heatconv.resources.rolling import Pace
from heatconv.resources.scaled_group import MEMBERS

_schema = properties.Schema

MEMBER_TYPE = "OS::Heat::ScaledResource"  #: the type of a member; an environment maps it to another
ADDRESS = "PublicIp"  #: the attribute of a member that ``InstanceList`` is made of
GROUP_TAG = "metering.groupname"  #: by which those who measure the members know the group

LONGEST_PAUSE = 3600  #: seconds between two batches


class InstanceGroup(scaled_group.ScaledGroup):
    """Members that are what an environment maps ``OS::Heat::ScaledResource`` to.

    They have the properties and the metadata of the launch configuration, and
    the tags of the group.
    """

    PROPERTIES = (
        AVAILABILITY_ZONES,
        LAUNCH_CONFIGURATION_NAME,
        SIZE,
        LOAD_BALANCER_NAMES,
        TAGS,
    ) = ("AvailabilityZones", "LaunchConfigurationName", "Size", "LoadBalancerNames", "Tags")
    TAG_KEY, TAG_VALUE = ("Key", "Value")
    ROLLING_UPDATE = "RollingUpdate"
    MIN_INSTANCES_IN_SERVICE, MAX_BATCH_SIZE, PAUSE_TIME = (
        "MinInstancesInService",
        "MaxBatchSize",
        "PauseTime",
    )

    ATTRIBUTES = (INSTANCE_LIST,) = ("InstanceList",)

    properties_schema = {
        AVAILABILITY_ZONES: _schema(_schema.LIST, _("Of no effect."), required=True),
        LAUNCH_CONFIGURATION_NAME: _schema(
            _schema.STRING,
            _("The launch configuration, by get_resource."),
            required=True,
            update_allowed=True,
        ),
        SIZE: _schema(_schema.INTEGER, _("The number of members."), required=True, update_allowed=True),
        LOAD_BALANCER_NAMES: _schema(
            _schema.LIST, _("The load balancers that the members are put behind; it has to be empty.")
        ),
        TAGS: _schema(
            _schema.LIST,
            _("The tags of the members."),
            schema=_schema(
                _schema.MAP,
                _("A tag."),
                schema={
                    TAG_KEY: _schema(_schema.STRING, _("Its name."), required=True),
                    TAG_VALUE: _schema(_schema.STRING, _("What it says."), required=True),
                },
            ),
        ),
    }

    attributes_schema = {
        INSTANCE_LIST: attributes.Schema(
            _("The addresses of the members, with commas between them."), type=attributes.Schema.STRING
        ),
    }

    update_policy_schema = {
        ROLLING_UPDATE: _schema(
            _schema.MAP,
            _("How members are changed in batches."),
            schema={
                MIN_INSTANCES_IN_SERVICE: _schema(
                    _schema.INTEGER,
                    _("How many members are to be in service meanwhile; some may be made just for that."),
                    default=0,
                ),
                MAX_BATCH_SIZE: _schema(
                    _schema.INTEGER, _("How many members are worked on at once."), default=1
                ),
                PAUSE_TIME: _schema(
                    _schema.STRING,
                    _("How long to pause between two batches, as an ISO 8601 duration."),
                    default="PT0S",
                ),
            },
        ),
    }

    def validate(self) -> Any:
        super().validate()
        if self.properties[self.LOAD_BALANCER_NAMES]:
            raise exception.StackValidationFailed(
                path=["resources", self.name, "properties", self.LOAD_BALANCER_NAMES],
                message=_("Groups register with no load balancer: make each member a template that does."),
            )
        try:
            pace = self.updating()
        except ValueError as error:
            self._refuse_pause(str(error))
        else:
            if pace is not None and pace.pause > LONGEST_PAUSE:
                self._refuse_pause(_("It must not be longer than an hour."))

    def _refuse_pause(self, message: str) -> NoReturn:
        raise exception.StackValidationFailed(
            path=["resources", self.name, "update_policy", self.ROLLING_UPDATE, self.PAUSE_TIME],
            message=message,
        )

    @classmethod
    def types_made(
        cls,
        properties: Mapping[str, Any],  # noqa: ARG003 - a member is the same whatever they are
    ) -> dict[str, tuple[str, str]]:
        return {cls.LAUNCH_CONFIGURATION_NAME: ("member", MEMBER_TYPE)}

    @classmethod
    def size_made(cls, properties: Mapping[str, Any]) -> int:
        return group.number_in(properties, cls.SIZE)

    def get_reference_id(self) -> str:
        return self.physical_resource_name_or_FnGetRefId()

    # -- the members ------------------------------------------------------------------------

    def decide(self, changed: Mapping[str, Any] | None) -> None:
        metadata, size = self.metadata_get(refresh=True), self.properties[self.SIZE]
        names = metadata[MEMBERS] if MEMBERS in metadata else list(self.members())
        if MEMBERS not in metadata or size != len(names):
            self.metadata_set(metadata | {MEMBERS: self.resized(names, size)})

    def member(self, name: str) -> group.Snippet:
        made_of = self._configuration
        like = json.loads(made_of.notes.get(launch_configuration.LIKE_A_SERVER, "{}"))
        given = {key: value for key, value in {**like, **made_of.properties}.items() if value is not None}
        given.pop(launch_configuration.LaunchConfiguration.INSTANCE_ID, None)
        return {
            "type": MEMBER_TYPE,
            "properties": {**given, self.TAGS: self._tags()},
            "metadata": made_of.metadata_get(),
        }

    def updating(self) -> Pace | None:
        policy = self.update_policy[self.ROLLING_UPDATE]
        if policy is None:
            return None
        return Pace(
            batch=policy[self.MAX_BATCH_SIZE],
            pause=timeutils.parse_isoduration(policy[self.PAUSE_TIME]),
            in_service=policy[self.MIN_INSTANCES_IN_SERVICE],
        )

    def secrets(self) -> Collection[str]:
        return {*super().secrets(), *self._configuration.secrets}

    def become(self, definition: Definition) -> None:
        """Take on a definition, and with it another launch configuration."""
        super().become(definition)
        self.__dict__.pop("_configuration", None)

    @cached_property
    def _configuration(self) -> Peer:
        reference = self.properties[self.LAUNCH_CONFIGURATION_NAME]
        found: Peer | None = self.stack.resource_by_refid(reference)
        if found is None:
            raise exception.NotFound(
                _("There is no launch configuration %(ref)s that %(name)s refers to by get_resource.")
                % {"ref": reference, "name": self.name}
            )
        return found

    def _tags(self) -> list[dict[str, str]]:
        tags = list(self.properties[self.TAGS] or ())
        if any(tag[self.TAG_KEY].startswith("metering.") for tag in tags):
            return tags
        return [*tags, {self.TAG_KEY: GROUP_TAG, self.TAG_VALUE: str(self.physical_resource_name())}]

    # -- its attributes ------------------------------------------------------------------------

    @classmethod
    def may_have(cls, attribute: str) -> bool:
        """Tell whether a reference to an attribute can be right."""
        return attribute in {**cls.attributes_schema, **cls.base_attributes_schema}

    def attribute_of_members(self, names: Sequence[str], attribute: str, path: Path, of: Of) -> Any:
        if attribute != self.INSTANCE_LIST:
            raise exception.InvalidTemplateAttribute(resource=self.name, key=attribute)
        addresses = group_attributes.list_of(names, (ADDRESS,), of)
        if of is group_attributes.calls:
            return {"list_join": [",", addresses]}
        return ",".join(str(address) for address in addresses or () if address is not None) or None
