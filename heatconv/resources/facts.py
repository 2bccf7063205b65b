# SPDX-License-Identifier: Apache-2.0
"""What a resource is told, and where it keeps what it learns.

A plugin sees its own resource and a few facts about the stack, never the
stack's rows.  The worker makes these records of rows it has claimed, and
implements ``Keeper`` with writes that only count while it holds that claim.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol
from urllib.parse import quote

from heatconv.model.states import Action, Status

DEFAULT_TIMEOUT_MINS = 60


class Clients(Protocol):
    """The clients of the services that a user's resources live in."""

    def client(self, name: str, version: str | None = None) -> Any:
        """Return the client of a service."""

    def client_plugin(self, name: str) -> Any:
        """Return what is known about a service's client: finders, exceptions."""


class Keeper(Protocol):
    """Where a resource keeps what it learns; every call is on disk when it returns.

    Each raises ``heatconv.errors.StaleWrite`` if the resource is somebody
    else's by now, and has then changed nothing.
    """

    def set_physical_id(self, physical_id: str | None) -> None:
        """Keep the id of the thing that was made."""

    def set_data(self, data: Mapping[str, str]) -> None:
        """Keep the plugin's own notes in place of those before."""

    def set_metadata(self, metadata: Mapping[str, Any]) -> None:
        """Keep the metadata in place of those before."""


@dataclass(frozen=True)
class Identifier:
    """The way to a stack, or with ``path`` to something inside of it."""

    tenant: str
    stack_name: str
    stack_id: str
    path: str = ""

    def arn(self) -> str:
        """Return the identifier as one text."""
        name = quote(self.stack_name, safe="")
        return f"arn:openstack:heat::{self.tenant}:stacks/{name}/{self.stack_id}{self.path}"


@dataclass(frozen=True, kw_only=True)
class StackFacts:
    """What a plugin may know of the stack its resource is in."""

    id: str
    name: str
    project_id: str
    action: str = Action.CREATE
    timeout_mins: int | None = None
    deadline: datetime | None = None  #: when the action under way times out
    stack_user_project_id: str | None = None
    context: Any = None  #: of the request that asked for the action
    clients: Clients | None = field(default=None, compare=False)

    def timeout_secs(self) -> int:
        """Return how long an action on the stack may take."""
        return (self.timeout_mins or DEFAULT_TIMEOUT_MINS) * 60

    def identifier(self) -> Identifier:
        """Return the identifier of the stack."""
        return Identifier(self.project_id, self.name, self.id)


@dataclass(frozen=True, kw_only=True)
class Incarnation:
    """The row behind a resource: one physical thing, made or to be made.

    ``action`` and ``status`` are those from before the action that is about to
    start.
    """

    id: str  #: the row's id, a uuid
    physical_id: str | None = None
    action: Action = Action.INIT
    status: Status = Status.COMPLETE
    reason: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    data: Mapping[str, str] = field(default_factory=dict)
    created_at: datetime | None = None
    updated_at: datetime | None = None
