# SPDX-License-Identifier: Apache-2.0
"""OS::Heat::ScalingPolicy: a signal that changes how many members a group has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heatconv.resources import (
    attributes,
    constraints,
    exception,
    properties,
    scaling,
    signal_responder,
    support,
)
from heatconv.resources.i18n import _

_schema = properties.Schema
_attribute = attributes.Schema


class AutoScalingPolicy(signal_responder.SignalResponder):
    """Scales a group each time it is signalled, whatever the signal says.

    A signal is taken as soon as what it wants is written down, in the group's
    metadata: those that come while the group still scales count on top of each
    other.  The engine lets the group follow.
    """

    only_here = True

    ADJUSTMENTS: Mapping[str, str] = {
        name: name for name in sorted(scaling.ADJUSTMENT_TYPES)
    }  #: as users call them

    PROPERTIES = (
        AUTO_SCALING_GROUP_NAME,
        SCALING_ADJUSTMENT,
        ADJUSTMENT_TYPE,
        COOLDOWN,
        MIN_ADJUSTMENT_STEP,
    ) = ("auto_scaling_group_id", "scaling_adjustment", "adjustment_type", "cooldown", "min_adjustment_step")

    ATTRIBUTES = (ALARM_URL, SIGNAL_URL) = ("alarm_url", "signal_url")

    properties_schema = {
        AUTO_SCALING_GROUP_NAME: _schema(_schema.STRING, _("The group, by get_resource."), required=True),
        SCALING_ADJUSTMENT: _schema(
            _schema.NUMBER,
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
            _schema.NUMBER,
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
        ALARM_URL: _attribute(
            _("The signed URL to POST signals to; they take no token."),
            type=_attribute.STRING,
            cache_mode=_attribute.CACHE_NONE,
        ),
        SIGNAL_URL: _attribute(
            _("The same URL."),
            support_status=support.SupportStatus(version="5.0.0"),
            type=_attribute.STRING,
            cache_mode=_attribute.CACHE_NONE,
        ),
    }

    def validate(self) -> Any:
        super().validate()
        is_percentage = self._adjustment_type == scaling.PERCENT_CHANGE_IN_CAPACITY
        if self.properties[self.MIN_ADJUSTMENT_STEP] is not None and not is_percentage:
            names = {kind: name for name, kind in self.ADJUSTMENTS.items()}
            raise exception.ResourcePropertyValueDependency(
                prop1=self.MIN_ADJUSTMENT_STEP,
                prop2=self.ADJUSTMENT_TYPE,
                value=names[scaling.PERCENT_CHANGE_IN_CAPACITY],
            )

    @property
    def _adjustment_type(self) -> str | None:
        return self.ADJUSTMENTS.get(self.properties[self.ADJUSTMENT_TYPE])

    def handle_update(self, json_snippet: Any, tmpl_diff: Any, prop_diff: Any) -> None:
        """Scale otherwise from the next signal on."""

    def handle_signal(self, details: Any = None) -> str:
        before, after = self._group().adjust(
            self.properties[self.SCALING_ADJUSTMENT],
            self._adjustment_type,
            self.properties[self.MIN_ADJUSTMENT_STEP],
            self.properties[self.COOLDOWN],
        )
        return _("from %(before)d to %(after)d members") % {"before": before, "after": after}

    def _group(self) -> Any:
        reference = self.properties[self.AUTO_SCALING_GROUP_NAME]
        group = self.stack.plugin_by_refid(reference)
        if not hasattr(group, "adjust"):
            raise exception.NotFound(_("There is no group %s that could be scaled.") % reference)
        return group

    def _resolve_attribute(self, name: str) -> Any:
        return None if self.resource_id is None else self._get_signed_url()
