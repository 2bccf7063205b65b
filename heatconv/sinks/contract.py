# SPDX-License-Identifier: Apache-2.0
"""What a sink is, and an event as it is sent."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Protocol

from heatconv.model.records import Event, Stack


class Sink(Protocol):
    """Where events are delivered to."""

    def send(self, stack: Stack, event: Event, /) -> None:
        """Deliver an event of a stack; whatever is raised means that it was not."""

    def close(self) -> None:
        """Let go of what was needed for that; there may be more to send all the same."""


def body(event: Event) -> dict[str, Any]:
    """Return an event in the form that Heat's event sinks have it in."""
    return {
        "timestamp": moment(event.created_at),
        "version": "0.1",
        "type": "os.heat.event",
        "id": event.uuid,
        "payload": {
            "resource_name": event.resource_name,
            "physical_resource_id": event.physical_id,
            "stack_id": event.stack_id,
            "resource_action": event.action,
            "resource_status": event.status,
            "resource_status_reason": event.reason,
            "resource_type": event.resource_type,
            "resource_properties": dict(event.properties or {}),
            "version": "0.1",
        },
    }


def moment(time: datetime | None) -> str | None:
    """Return a moment, in UTC, to the second."""
    return None if time is None else time.strftime("%Y-%m-%dT%H:%M:%SZ")
