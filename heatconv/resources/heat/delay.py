# SPDX-License-Identifier: Apache-2.0
"""OS::Heat::Delay: lets some time pass."""

from __future__ import annotations

import random
import time
from typing import Any

from heatconv.resources import constraints, exception, properties, resource, support
from heatconv.resources.i18n import _

_seconds = constraints.Range(min=0)


class Delay(resource.Resource):
    """A pause between what it requires and what requires it, of a length that may be uneven.

    The instant a pause ends is in the token: it goes on, and does not begin
    again, when another worker takes over.
    """

    support_status = support.SupportStatus(version="11.0.0")
    only_here = True
    compares_alone = True

    PROPERTIES = (MIN_WAIT, MAX_JITTER, JITTER_MULTIPLIER, DELAY_ACTIONS) = (
        "min_wait",
        "max_jitter",
        "jitter_multiplier",
        "actions",
    )

    properties_schema = {
        MIN_WAIT: properties.Schema(
            properties.Schema.NUMBER,
            _("The seconds to wait at least."),
            default=0,
            constraints=[_seconds],
            update_allowed=True,
        ),
        MAX_JITTER: properties.Schema(
            properties.Schema.NUMBER,
            _("The most, in units of jitter_multiplier seconds, that is added to that at random."),
            default=0,
            constraints=[_seconds],
            update_allowed=True,
        ),
        JITTER_MULTIPLIER: properties.Schema(
            properties.Schema.NUMBER,
            _("The seconds that max_jitter counts in."),
            default=1.0,
            constraints=[_seconds],
            update_allowed=True,
        ),
        DELAY_ACTIONS: properties.Schema(
            properties.Schema.LIST,
            _("The actions that take the time."),
            default=[resource.Resource.CREATE],
            constraints=[constraints.AllowedValues(["CREATE", "DELETE", "SUSPEND", "RESUME"])],
            update_allowed=True,
        ),
    }

    def validate(self) -> None:
        super().validate()
        if self._longest() > self.stack.timeout_secs():
            raise exception.StackValidationFailed(
                path=["resources", self.name, "properties"],
                message=_("It would wait longer than the %d seconds that an action on the stack may take.")
                % self.stack.timeout_secs(),
            )

    def _longest(self) -> float:
        jitter: float = self.properties[self.MAX_JITTER] * self.properties[self.JITTER_MULTIPLIER]
        return self.properties[self.MIN_WAIT] + jitter  # type: ignore[no-any-return]  # a NUMBER

    def handle_create(self) -> Any:
        return self._begin(self.CREATE)

    def check_create_complete(self, token: Any) -> bool:
        self._end(token)
        self.resource_id_set(self.physical_resource_name())
        return True

    def handle_update(self, json_snippet: Any, tmpl_diff: Any, prop_diff: Any) -> None:
        """Wait otherwise from the next action on."""

    def handle_delete(self) -> Any:
        return None if self.resource_id is None else self._begin(self.DELETE)

    def check_delete_complete(self, token: Any) -> bool:
        return self._end(token)

    def handle_suspend(self) -> Any:
        return self._begin(self.SUSPEND)

    def check_suspend_complete(self, token: Any) -> bool:
        return self._end(token)

    def handle_resume(self) -> Any:
        return self._begin(self.RESUME)

    def check_resume_complete(self, token: Any) -> bool:
        return self._end(token)

    def _begin(self, action: str) -> dict[str, float] | None:
        """Return the token of a pause; None if the action takes none."""
        if action not in self.properties[self.DELAY_ACTIONS]:
            return None
        return {"until": time.time() + random.uniform(self.properties[self.MIN_WAIT], self._longest())}

    @staticmethod
    def _end(token: dict[str, float] | None) -> bool:
        """Tell that a pause is over, or when it will be."""
        left = token["until"] - time.time() if token is not None else 0
        if left > 0:
            raise resource.PollDelay(left)
        return True
