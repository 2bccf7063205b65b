# SPDX-License-Identifier: Apache-2.0
"""AWS::AutoScaling::AutoScalingGroup: servers of one launch configuration, whose number policies change."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from heatconv.resources import constraints, exception, group, properties, scalable_group, support
from heatconv.resources.aws import launch_configuration
from heatconv.resources.facts import Peer
from heatconv.resources.heat import instance_group
from heatconv.resources.i18n import _

_schema = properties.Schema
_members = instance_group.InstanceGroup

SUBNET = "SubnetId"  #: the property of a member that ``VPCZoneIdentifier`` becomes
NAME_TAG = "metering.AutoScalingGroupName"  #: by which those who measure the members know the group


class AutoScalingGroup(scalable_group.ScalableGroup, instance_group.InstanceGroup):
    """An instance group that is scaled; its members may be made as a server is that is there already."""

    support_status = support.SupportStatus(version="2014.1")

    PROPERTIES = (  # type: ignore[assignment]  # it has more
        AVAILABILITY_ZONES,
        LAUNCH_CONFIGURATION_NAME,
        MAX_SIZE,
        MIN_SIZE,
        COOLDOWN,
        DESIRED_CAPACITY,
        HEALTH_CHECK_GRACE_PERIOD,
        HEALTH_CHECK_TYPE,
        LOAD_BALANCER_NAMES,
        VPC_ZONE_IDENTIFIER,
        TAGS,
        INSTANCE_ID,
    ) = (
        "AvailabilityZones",
        "LaunchConfigurationName",
        "MaxSize",
        "MinSize",
        "Cooldown",
        "DesiredCapacity",
        "HealthCheckGracePeriod",
        "HealthCheckType",
        "LoadBalancerNames",
        "VPCZoneIdentifier",
        "Tags",
        "InstanceId",
    )
    ROLLING_UPDATE = "AutoScalingRollingUpdate"

    properties_schema = {
        AVAILABILITY_ZONES: _schema(_schema.LIST, _("Of no effect."), required=True),
        LAUNCH_CONFIGURATION_NAME: _schema(
            _schema.STRING, _("The launch configuration, by get_resource."), update_allowed=True
        ),
        INSTANCE_ID: _schema(
            _schema.STRING,
            _("A server that the members are to be like, in place of a launch configuration."),
            constraints=[constraints.ServiceConstraint("nova.server")],
        ),
        MAX_SIZE: _schema(
            _schema.INTEGER, _("The most members there may be."), required=True, update_allowed=True
        ),
        MIN_SIZE: _schema(
            _schema.INTEGER, _("The fewest members there may be."), required=True, update_allowed=True
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
        HEALTH_CHECK_GRACE_PERIOD: _schema(_schema.INTEGER, _("Of no effect."), implemented=False),
        HEALTH_CHECK_TYPE: _schema(
            _schema.STRING,
            _("Of no effect."),
            constraints=[constraints.AllowedValues(["EC2", "ELB"])],
            implemented=False,
        ),
        LOAD_BALANCER_NAMES: _members.properties_schema[_members.LOAD_BALANCER_NAMES],
        VPC_ZONE_IDENTIFIER: _schema(
            _schema.LIST,
            _("The subnet that the members are in: one and no more."),
            schema=_schema(_schema.STRING, _("Its id.")),
        ),
        TAGS: _members.properties_schema[_members.TAGS],
    }

    update_policy_schema = {ROLLING_UPDATE: _members.update_policy_schema[_members.ROLLING_UPDATE]}

    def validate(self) -> Any:
        super().validate()
        self.check_sizes()
        if self.properties[self.MIN_SIZE] < 0:
            self.refuse(self.MIN_SIZE, _("It must not be less than 0."))
        if len(self.properties[self.VPC_ZONE_IDENTIFIER] or [""]) != 1:
            self.refuse(self.VPC_ZONE_IDENTIFIER, _("It has to be one subnet and no more."))
        given = [name for name in (self.INSTANCE_ID, self.LAUNCH_CONFIGURATION_NAME) if self.properties[name]]
        if len(given) != 1:
            raise exception.StackValidationFailed(
                path=["resources", self.name, "properties"],
                message=_("Either InstanceId or LaunchConfigurationName has to be given."),
            )

    @classmethod
    def types_made(
        cls,
        properties: Mapping[str, Any],
    ) -> dict[str, tuple[str, str]]:
        said_by = cls.INSTANCE_ID if cls.INSTANCE_ID in properties else cls.LAUNCH_CONFIGURATION_NAME
        return {said_by: ("member", instance_group.MEMBER_TYPE)}

    @classmethod
    def size_made(cls, properties: Mapping[str, Any]) -> int:
        return max(group.number_in(properties, each) for each in (cls.DESIRED_CAPACITY, cls.MIN_SIZE))

    # -- the members ------------------------------------------------------------------------

    def member(self, name: str) -> group.Snippet:
        snippet = super().member(name)
        subnets = self.properties[self.VPC_ZONE_IDENTIFIER]
        if subnets:
            snippet["properties"][SUBNET] = subnets[0]
        return snippet

    @cached_property
    def _configuration(self) -> Peer:
        server_id = self.properties[self.INSTANCE_ID]
        if not server_id:
            return super()._configuration
        noted = self.data().get(launch_configuration.LIKE_A_SERVER)
        if noted is None:
            noted = json.dumps(launch_configuration.like_a_server(self, server_id))
            self.data_set(launch_configuration.LIKE_A_SERVER, noted)
        return Peer(name=self.name, type=self.type(), resource_id=None, properties=json.loads(noted))

    def _tags(self) -> list[dict[str, str]]:
        tag = {self.TAG_KEY: NAME_TAG, self.TAG_VALUE: str(self.physical_resource_name())}
        return [*super()._tags(), tag]
