# SPDX-License-Identifier: Apache-2.0
"""AWS::CloudFormation::WaitCondition: is complete when enough signals have come."""

from __future__ import annotations

from heatconv.resources import attributes, constraints, properties, support
from heatconv.resources.heat import wait_condition
from heatconv.resources.i18n import _

_schema = properties.Schema


class WaitCondition(wait_condition.WaitCondition):
    """A point that a stack does not pass before somebody has said so, by signals to a handle."""

    support_status = support.SupportStatus(version="2014.1")

    PROPERTIES = (HANDLE, TIMEOUT, COUNT) = ("Handle", "Timeout", "Count")
    ATTRIBUTES = (DATA,) = ("Data",)

    properties_schema = {
        HANDLE: _schema(_schema.STRING, _("The handle, by Ref, that signals come to."), required=True),
        TIMEOUT: _schema(
            _schema.INTEGER,
            _("The seconds to wait for signals."),
            required=True,
            constraints=[constraints.Range(1, 43200)],
        ),
        COUNT: _schema(
            _schema.INTEGER,
            _("How many signals it takes."),
            default=1,
            constraints=[constraints.Range(min=1)],
            update_allowed=True,
        ),
    }

    attributes_schema = {
        DATA: attributes.Schema(
            _("The data of the signals by their id, as the JSON text of a map."),
            cache_mode=attributes.Schema.CACHE_NONE,
            type=attributes.Schema.STRING,
        ),
    }
