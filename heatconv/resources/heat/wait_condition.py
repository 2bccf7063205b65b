# SPDX-License-Identifier: Apache-2.0
"""OS::Heat::WaitCondition: is complete when enough signals have come."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime
from typing import Any

from heatconv.resources import attributes, constraints, exception, properties, resource, support
from heatconv.resources.i18n import _
from heatconv.resources.wait_condition import FAILURE, Signals, signals_in

PATIENCE = 60.0  #: seconds until it looks again, should the signal that wakes it have been missed


class WaitConditionFailure(exception.Error):
    """A signal said that something went wrong; the text is what."""


class WaitConditionTimeout(exception.Error):
    """Not enough signals came in time."""


class WaitCondition(resource.Resource):
    """A point that a stack does not pass before somebody has said so, by signals to a handle.

    What it waits for is in the token, which holds the instant it gives up at
    and the number of signals, so that another worker goes on with it.
    """

    support_status = support.SupportStatus(version="2014.2")
    only_here = True

    PROPERTIES = (HANDLE, TIMEOUT, COUNT) = ("handle", "timeout", "count")
    ATTRIBUTES = (DATA,) = ("data",)

    properties_schema = {
        HANDLE: properties.Schema(
            properties.Schema.STRING, _("The handle, by get_resource, that signals come to."), required=True
        ),
        TIMEOUT: properties.Schema(
            properties.Schema.NUMBER,
            _("The seconds to wait for signals."),
            required=True,
            constraints=[constraints.Range(1, 43200)],
        ),
        COUNT: properties.Schema(
            properties.Schema.INTEGER,
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

    @classmethod
    def awaited(cls, token: Any) -> str | None:
        if token is None:
            return None
        until = datetime.fromtimestamp(token["until"], UTC)
        return f"signals to its handle ({token['count']} in all, until {until:%Y-%m-%dT%H:%M:%SZ})"

    def handle_create(self) -> Any:
        return self._wait_for(self.properties[self.COUNT])

    def check_create_complete(self, token: Any) -> bool:
        self._look(token)
        self.resource_id_set(self.physical_resource_name())
        return True

    def handle_update(self, json_snippet: Any, tmpl_diff: Any, prop_diff: Any) -> Any:
        return self._wait_for(prop_diff[self.COUNT]) if self.COUNT in prop_diff else None

    def check_update_complete(self, token: Any) -> bool:
        if token is not None:
            self._look(token)
        return True

    def _resolve_attribute(self, name: str) -> str:
        return json.dumps({key: signal.get("data") for key, signal in self._signals().items()})

    def _wait_for(self, count: int) -> dict[str, Any]:
        return {"count": count, "until": time.time() + self.properties[self.TIMEOUT]}

    def _look(self, token: dict[str, Any]) -> None:
        """Return if what was waited for has come.

        Raises:
            PollDelay: it has not.
            WaitConditionFailure, WaitConditionTimeout: it never will.
        """
        signals = self._signals()
        failures = [str(signal["reason"]) for signal in signals.values() if signal["status"] == FAILURE]
        if failures:
            raise WaitConditionFailure("; ".join(failures))
        if len(signals) >= token["count"]:
            return
        left = token["until"] - time.time()
        if left <= 0:
            reasons = "; ".join(str(signal["reason"]) for signal in signals.values())
            received = f"{len(signals)} of {token['count']} received"
            raise WaitConditionTimeout(f"{received} - {reasons}" if reasons else received)
        raise resource.PollDelay(min(left, PATIENCE))

    def _signals(self) -> Signals:
        handle = self.stack.resource_by_refid(self.properties[self.HANDLE])
        if handle is None:
            raise exception.Error(
                f"{self.properties[self.HANDLE]} is not the handle of a wait condition in this stack."
            )
        return signals_in(handle.metadata_get())
