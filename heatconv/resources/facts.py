# SPDX-License-Identifier: Apache-2.0
"""What a resource is told, and where it keeps what it learns.

A plugin sees its own resource and a few facts about the stack, never the
stack's rows.  The worker makes these records of rows it has claimed, and
implements ``Keeper`` with writes that only count while it holds that claim.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from types import SimpleNamespace
from typing import Any, Protocol
from urllib.parse import quote

from heatconv import errors
from heatconv.model.records import ResourceRow
from heatconv.model.states import Action, Status
from heatconv.resources.clients import Clients
from heatconv.resources.context import Context
from heatconv.resources.nested import NestedStacks
from heatconv.resources.software import Software

DEFAULT_TIMEOUT_MINS = 60


class Keeper(Protocol):
    """Where a resource keeps what it learns; every call is on disk when it returns, unless the type may wait.

    Each raises ``heatconv.errors.StaleWrite`` if the resource is somebody
    else's by now, and has then changed nothing.
    """

    def set_physical_id(self, physical_id: str | None) -> None:
        """Keep the id of the thing that was made."""

    def set_data(self, data: Mapping[str, str]) -> None:
        """Keep the plugin's own notes in place of those before."""

    def set_metadata(self, metadata: Mapping[str, Any]) -> None:
        """Keep the metadata in place of those before."""

    def get_metadata(self) -> Mapping[str, Any]:
        """Return the metadata as they are now: signals change them at any time."""

    def forget_attributes(self) -> None:
        """Note that what was told to others may not be so any more."""


class Unkept:
    """A ``Keeper`` that keeps nothing: for a resource that no row stands behind any more."""

    def set_physical_id(self, physical_id: str | None) -> None:
        """Forget it."""

    def set_data(self, data: Mapping[str, str]) -> None:
        """Forget them."""

    def set_metadata(self, metadata: Mapping[str, Any]) -> None:
        """Forget it."""

    def get_metadata(self) -> Mapping[str, Any]:
        """Know of none."""
        return {}

    def forget_attributes(self) -> None:
        """Forget them."""


@dataclass(frozen=True)
class Identifier:
    """The way to a stack, or with ``path`` to something inside of it."""

    tenant: str
    stack_name: str
    stack_id: str
    path: str = ""

    def stack_path(self) -> str:
        """Return the name and the id of the stack, as URLs and clients have them."""
        return f"{quote(self.stack_name, safe='')}/{self.stack_id}"

    def arn(self) -> str:
        """Return the identifier as one text."""
        name = quote(self.stack_name, safe="")
        return f"arn:openstack:heat::{self.tenant}:stacks/{name}/{self.stack_id}{self.path}"


@dataclass(frozen=True, kw_only=True)
class Peer:
    """Another resource of the stack, as it was when a plugin asked for it."""

    name: str
    type: str
    resource_id: str | None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    notes: Mapping[str, str] = field(default_factory=dict)
    properties: Mapping[str, Any] = field(default_factory=dict)  #: what it was made of
    secrets: frozenset[str] = frozenset()  #: texts in all that which must not be shown

    @classmethod
    def of(cls, row: ResourceRow) -> Peer:
        """Return what may be known of a row."""
        return cls(
            name=row.name,
            type=row.type,
            resource_id=row.physical_id,
            metadata=row.metadata,
            notes=row.data,
            properties=row.applied.properties if row.applied else {},
            secrets=row.secrets,
        )

    def metadata_get(self) -> dict[str, Any]:
        """Return the metadata."""
        return dict(self.metadata)

    def data(self) -> dict[str, str]:
        """Return the notes of the resource's plugin."""
        return dict(self.notes)


def _nobody(_refid: str) -> None:
    """Find no resource: whoever makes the facts does not look."""


def _no_address(name: str) -> str:
    raise errors.NotSupported(feature=f"Sending signals to resource {name}, for want of a signed URL,")


def _nothing_known(name: str) -> Sequence[str]:
    raise errors.NotSupported(feature=f"Asking which resources require {name} here")


@dataclass(frozen=True)
class Among:
    """Some resources of a template: those of a type that have one of some values in one of some properties.

    Values are as they are written, a reference being the name of what it refers to.  Where
    nobody knows yet what a resource has there, it is one of them.
    """

    type: str
    properties: tuple[str, ...]
    values: frozenset[str]


@dataclass(frozen=True, kw_only=True)
class StackFacts:
    """What a plugin may know of the stack its resource is in.

    ``context`` is that of the project, acting for no particular user, unless
    another one is given.
    """

    convergence = True
    strict_validate = True
    defn = SimpleNamespace(_resource_data=None)  #: what Heat's plugins hand on to ``Resource.load``

    id: str
    name: str
    project_id: str
    action: str = Action.CREATE
    timeout_mins: int | None = None
    deadline: datetime | None = None  #: when the action under way times out
    stack_user_project_id: str | None = None
    current_traversal: str = ""
    context: Any = field(default=None, compare=False)  #: whom plugins act for, a ``Context``
    #: the resource of this stack that ``get_resource`` gives a reference id of, read fresh
    resource_by_refid: Callable[[str], Peer | None] = field(default=_nobody, compare=False)
    #: the same as a plugin, to be told something in the course of a signal; read fresh
    plugin_by_refid: Callable[[str], Any] = field(default=_nobody, compare=False)
    #: where a signal to the resource of a name can be sent, by anybody who knows the URL
    signal_url: Callable[[str], str] = field(default=_no_address, compare=False)
    #: the names of the resources that require the one of a name
    required_by: Callable[[str], Sequence[str]] = field(default=_nothing_known, compare=False)
    #: the software configs and deployments of the project; None where there are none to be had
    software: Software | None = field(default=None, compare=False)
    #: the stacks that the stack's resources own; None where nobody could make one
    nested: NestedStacks | None = field(default=None, compare=False)
    #: the resources of the template by name, while a plugin is asked what its own depends on
    resources: Mapping[str, Any] = field(default_factory=dict, compare=False)

    def __post_init__(self) -> None:
        if self.context is None:
            object.__setattr__(self, "context", Context(project_id=self.project_id))

    @property
    def clients(self) -> Clients:
        """The clients of the services that the stack's resources live in."""
        found: Clients = self.context.clients
        return found

    def values(self) -> Iterable[Any]:
        """Return the resources of the template, while a plugin is asked what its own depends on."""
        return self.resources.values()

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
    handed_over: bool = False  #: to a replacement; or back to what it replaced
    wanted_attributes: tuple[str, ...] = ()  #: what is referred to of it, by ``Reference.key``
    created_at: datetime | None = None
    updated_at: datetime | None = None

    @classmethod
    def of(cls, row: ResourceRow) -> Incarnation:
        """Return what a plugin knows of a row."""
        return cls(
            id=row.id,
            physical_id=row.physical_id,
            action=row.action,
            status=row.status,
            reason=row.reason,
            metadata=row.metadata,
            data=row.data,
            handed_over=row.handover is not None,
            wanted_attributes=row.wanted_attributes,
            created_at=row.created_at,
            updated_at=row.updated_at,
        )
