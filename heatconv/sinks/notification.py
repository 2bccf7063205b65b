# SPDX-License-Identifier: Apache-2.0
"""Events as notifications on the message bus, by the names that Heat's listeners know."""

from __future__ import annotations

from typing import Any, Protocol

from heatconv import errors
from heatconv.db.delivery.events import STACK_TYPE
from heatconv.model.records import Event, Stack
from heatconv.model.states import Status
from heatconv.resources.facts import Identifier
from heatconv.sinks.contract import moment


class Notify(Protocol):
    """Publishes notifications."""

    def __call__(self, event_type: str, payload: dict[str, Any], *, is_error: bool) -> None:
        """Publish a payload; return when the bus has it."""


_ENDINGS = {Status.IN_PROGRESS: "start", Status.COMPLETE: "end", Status.FAILED: "error"}


class Notification:
    """Publishes events."""

    def __init__(self, notify: Notify | None, /, **keys: Any) -> None:
        """Take the keys of an environment's sink, less the type, of which there are none.

        Raises:
            Invalid: there are some, or the operator publishes no notifications.
        """
        if keys:
            raise errors.Invalid(problems=[("", "A notification has the key type, and no other.")])
        if notify is None:
            reason = "There are no notifications here: [oslo_messaging_notifications] driver is not set."
            raise errors.Invalid(problems=[("type", reason)])
        self._notify = notify

    def send(self, stack: Stack, event: Event) -> None:
        """Publish an event."""
        event_type, payload = notification(stack, event)
        self._notify(event_type, payload, is_error=event.status is Status.FAILED)

    def close(self) -> None:
        """Keep the bus: it is the daemon's."""


def notification(stack: Stack, event: Event) -> tuple[str, dict[str, Any]]:
    """Return an event's type and payload as a notification."""
    of_stack = event.resource_type == STACK_TYPE and event.resource_id is None
    what, about = ("stack", _stack(stack)) if of_stack else ("resource", _resource(event))
    payload = {
        "tenant_id": stack.project_id,
        "user_identity": stack.user_id,
        "username": stack.user_name,
        "stack_identity": Identifier(stack.project_id, stack.name, stack.id).arn(),
        "stack_name": stack.name,
        "state": f"{event.action}_{event.status}",
        "state_reason": event.reason,
        "event_id": event.uuid,
        "event_time": moment(event.created_at),
        **about,
    }
    return f"orchestration.{what}.{event.action.lower()}.{_ENDINGS[event.status]}", payload


def _stack(stack: Stack) -> dict[str, Any]:
    return {
        "create_at": moment(stack.created_at),
        "updated_at": moment(stack.updated_at),
        "deleted_at": moment(stack.deleted_at),
        "tags": list(stack.tags),
        "description": stack.description,
    }


def _resource(event: Event) -> dict[str, Any]:
    return {
        "resource_name": event.resource_name,
        "resource_type": event.resource_type,
        "physical_resource_id": event.physical_id,
    }
