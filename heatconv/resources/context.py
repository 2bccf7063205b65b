# SPDX-License-Identifier: Apache-2.0
"""Whom a plugin acts for, and the way from there to the services."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from heatconv.resources.clients import Clients
from heatconv.resources.clients.by_thread import ClientsByThread
from heatconv.resources.stack_users import StackUsers


@dataclass(frozen=True, kw_only=True)
class Context:
    """The user on whose behalf a resource is acted on; ``self.context`` of a plugin."""

    project_id: str
    user_id: str | None = None
    username: str | None = None
    roles: tuple[str, ...] = ()
    is_admin: bool = False
    request_id: str | None = None
    endpoints: Mapping[str, str] = field(default_factory=dict)  #: a service's type -> its URL
    #: who makes users for single resources; None where nobody does
    stack_users: StackUsers | None = field(default=None, repr=False, compare=False)
    #: what threads have from acting for the same user before
    clients_by_thread: ClientsByThread = field(default_factory=ClientsByThread, repr=False, compare=False)

    @property
    def tenant_id(self) -> str:
        """The project, by the name that older plugins know."""
        return self.project_id

    @property
    def clients(self) -> Clients:
        """The clients of the services, acting for this user; those of the thread that asks."""
        return self.clients_by_thread.of(self)
