# SPDX-License-Identifier: Apache-2.0
"""AWS::AutoScaling::ScalingPolicy: a signal that changes how many members a group has."""

from __future__ import annotations

from collections.abc import Mapping

from heatconv.resources import attributes, constraints, properties, scaling
from heatconv.resources.heat import scaling_policy
from heatconv.resources.i18n import _

_schema = properties.Schema


class ScalingPolicy(scaling_policy.AutoScalingPolicy):
    """Scales a group each time it is signalled; what refers to it gets the URL for that."""

    ADJUSTMENTS: Mapping[str, str] = {
        "ChangeInCapacity": scaling.CHANGE_IN_CAPACITY,
        "ExactCapacity": scaling.EXACT_CAPACITY,
        "PercentChangeInCapacity": scaling.PERCENT_CHANGE_IN_CAPACITY,
    }

    PROPERTIES = (
        AUTO_SCALING_GROUP_NAME,
        SCALING_ADJUSTMENT,
        ADJUSTMENT_TYPE,
        COOLDOWN,
        MIN_ADJUSTMENT_STEP,
    ) = ("AutoScalingGroupName", "ScalingAdjustment", "AdjustmentType", "Cooldown", "MinAdjustmentStep")

    ATTRIBUTES = (ALARM_URL,) = ("AlarmUrl",)  # type: ignore[assignment]  # it has fewer

    properties_schema = {
        AUTO_SCALING_GROUP_NAME: _schema(_schema.STRING, _("The group, by get_resource."), required=True),
        SCALING_ADJUSTMENT: _schema(
            _schema.INTEGER,
            _("By how much, or to how many, the group is scaled."),
            required=True,
            update_allowed=True,
        ),
        ADJUSTMENT_TYPE: _schema(
            _schema.STRING,
            _("Whether that is a number of members to have, to add, or a percentage to add."),
            required=True,
            constraints=[constraints.AllowedValues(list(ADJUSTMENTS))],
            update_allowed=True,
        ),
        COOLDOWN: _schema(
            _schema.INTEGER,
            _("The seconds after a scaling in which there is no other; by default the group's."),
            update_allowed=True,
        ),
        MIN_ADJUSTMENT_STEP: _schema(
            _schema.INTEGER,
            _("By how many members a percentage changes the group at least."),
            constraints=[constraints.Range(min=0)],
            update_allowed=True,
        ),
    }

    attributes_schema = {
        ALARM_URL: attributes.Schema(
            _("The signed URL to POST signals to; they take no token."),
            type=attributes.Schema.STRING,
            cache_mode=attributes.Schema.CACHE_NONE,
        ),
    }

    def get_reference_id(self) -> str:
        return self.name if self.resource_id is None else self._get_signed_url()
