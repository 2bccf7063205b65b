# SPDX-License-Identifier: Apache-2.0
"""AWS::CloudFormation::WaitConditionHandle, and OS::Heat's that is one for each update."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heatconv.resources import properties, support, wait_condition

#: What a signal consists of, all of it, and the name that handles have for it.
KEYS = {"Status": "status", "Reason": "reason", "Data": "data", "UniqueId": "id"}


class WaitConditionHandle(wait_condition.BaseWaitConditionHandle):
    """The place that what was set up reports to; what refers to it gets the signed URL for that."""

    support_status = support.SupportStatus(version="2014.1")
    only_here = True

    def get_reference_id(self) -> str:
        return self.name if self.resource_id is None else self._get_signed_url()

    def handle_signal(self, details: Any = None) -> Any:
        if details is None:
            return None
        if not isinstance(details, Mapping) or details.keys() != KEYS.keys():
            raise ValueError(f"it has to be a map of {', '.join(KEYS)}")
        return super().handle_signal({KEYS[key]: value for key, value in details.items()})


class UpdateWaitConditionHandle(WaitConditionHandle):
    """A handle that every update of the stack replaces, so that what waits for it waits again."""

    changes_with_every_update = True

    def needs_replace(self, after_props: properties.Properties) -> bool:
        return True
