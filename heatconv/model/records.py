# SPDX-License-Identifier: Apache-2.0
"""What the database holds, as frozen records.

The modules of ``heatconv.db`` return these and nothing else, so that no other
module knows a table.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple, TypeVar

from heatconv.model import tokens
from heatconv.model.definition import Definition
from heatconv.model.foreseen import Deed, Foreseen
from heatconv.model.nodes import Direction, Node, NodeData
from heatconv.model.secrets import redacted_values
from heatconv.model.states import Action, DeletionPolicy, Phase, Status

R = TypeVar("R")

#: The output version of a row that another one is about to be converged with, and may be by now.
POSSIBLE = -1


def changed(record: R, **fields: Any) -> R:
    """Return a copy of a record with other values; ``dataclasses.replace`` at a tenth of its cost."""
    copy: R = object.__new__(type(record))
    copy.__dict__.update(record.__dict__, **fields)
    return copy


@dataclass(frozen=True, kw_only=True)
class Stack:
    """A stack: what is wanted of it, and how far that is."""

    id: str
    name: str
    project_id: str
    user_id: str | None = None
    user_name: str | None = None
    changed_by: str | None = None  #: who asked for the current traversal; None: no user did
    guarded: bool = False  #: the environment of its template has guards
    owner_resource_id: str | None = None  #: the row that a nested stack belongs to
    root_id: str = ""  #: the stack around all those around a nested one; else its own
    depth: int = 0  #: how deep it is nested
    size: int = 0  #: how many resources its template wants
    description: str = ""
    raw_template_id: int  #: the template wanted
    prev_raw_template_id: int | None = None  #: the last one that reached COMPLETE
    current_traversal: str  #: the traversal that may change the stack's resources
    action: Action
    status: Status
    reason: str = ""
    phase: Phase
    disable_rollback: bool = True
    timeout_mins: int | None = None
    deadline: datetime | None = None  #: when the running traversal times out
    atomic_key: int = 0  #: +1 with every write
    created_at: datetime | None = None
    updated_at: datetime | None = None
    deleted_at: datetime | None = None
    tags: tuple[str, ...] = ()
    abandoned: bool = False  #: what its resources stand for stays when they are deleted
    policy: Mapping[str, Any] | None = None  #: what is to be done about drift, if not what the operator says


@dataclass(frozen=True, kw_only=True)
class RawTemplate:
    """A template as posted, with its environment and files, and what freezing made of it.

    ``outputs`` are frozen; ``parameters`` are as a user may see them.
    """

    id: int | None = None
    template: Mapping[str, Any]
    environment: Mapping[str, Any] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    outputs: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    parameters: Mapping[str, Any] = field(default_factory=dict)


class Extant(NamedTuple):
    """A resource row as preparing a traversal sees it: no definitions, only their digests.

    A tuple, for it is made of each row of a stack whatever has changed.
    """

    id: str
    name: str
    wanted: bool  #: the current template wants this very row
    desired_sha1: str | None
    applied_sha1: str | None
    requires: Mapping[str, int]  #: required row's id -> the output version it was converged with, or POSSIBLE
    attributes: Mapping[str, Any]
    output_version: int
    action: Action
    status: Status
    locked: bool
    drifted: bool = False  #: it is not what was made of it, by drift or by a handover: to be put right
    deletion_policy: str | None = None  #: of the newest template that names it; None: its definition's


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """An action under way on a resource, as saved in its row.

    ``definition`` is what the action makes of the resource, resolved; whoever
    takes the action over goes on from here.
    """

    action: Action
    definition: Definition
    sha1: str  #: of the frozen definition, to become the applied one
    requires: Mapping[str, int]
    token: Any = None  #: what ``handle_*`` returned
    started: bool = False  #: ``handle_*`` has returned
    lost: bool = False  #: the token could not be saved: nobody knows it but the worker that has it
    #: what cannot be found again was asked for and is not known: in a deletion, by the create before it
    begun: bool = False
    #: how often to look yet for what a create made whose answer nobody heard
    unheard: int = 0
    notes: Mapping[str, str] | None = None  #: those of the plugin before a snapshot was begun
    again: bool = False  #: it was begun before, and nobody knows how far that came; not saved
    retries: int = 0  #: how often what was made had to be removed and made anew
    faults: int = 0  #: how often in a row the service did not take a call
    passed: tuple[str, ...] = ()  #: the breakpoints that were cleared
    overtaken_by: str = ""  #: the digest of what is wanted by now, once that is known to have to wait
    #: nobody knows whether it was begun: the database was restored from a dump that is older
    forgotten: bool = False

    def to_json(self) -> dict[str, Any]:
        """Return the attempt as plain JSON data."""
        return {
            "action": self.action,
            "definition": self.definition.to_json(),
            "sha1": self.sha1,
            "requires": dict(self.requires),
            "token": self.token,
            **({"exact": tokens.encoded(self.token)} if tokens.has_tuples(self.token) else {}),
            "started": self.started,
            "lost": self.lost,
            "begun": self.begun,
            **({"unheard": self.unheard} if self.unheard else {}),
            **({} if self.notes is None else {"notes": dict(self.notes)}),
            "retries": self.retries,
            "faults": self.faults,
            "passed": list(self.passed),
            "overtaken_by": self.overtaken_by,
            **({"forgotten": True} if self.forgotten else {}),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Attempt:
        """Return the attempt that ``to_json`` made ``data`` of, or that of a version before."""
        return cls(
            action=Action(data["action"]),
            definition=Definition.from_json(data["definition"]),
            sha1=data["sha1"],
            requires=data["requires"],
            token=tokens.decoded(data["exact"]) if "exact" in data else data["token"],
            started=data["started"],
            lost=data.get("lost", False),
            begun=data.get("begun", True),
            unheard=data.get("unheard", 0),
            notes=data.get("notes"),
            retries=data["retries"],
            faults=data["faults"],
            passed=tuple(data["passed"]),
            overtaken_by=data.get("overtaken_by", ""),
            forgotten=data.get("forgotten", False),
        )


def state_shown(action: Action, status: Status, hook: str | None) -> tuple[Action, Status]:
    """Return the state that users are shown: what waits to be created has not been begun."""
    return (Action.INIT, Status.COMPLETE) if hook == "pre-create" else (action, status)


@dataclass(frozen=True, kw_only=True)
class ResourceRow:
    """One physical incarnation of a resource, as the worker that checks it sees it."""

    id: str
    stack_id: str
    name: str
    type: str
    version: int
    replaces: str | None = None
    replaced_by: str | None = None
    desired: Definition | None = None  #: frozen; None: not wanted any more
    desired_sha1: str | None = None
    deletion_policy: DeletionPolicy | None = None  #: the newest template's; None: that of ``applied``
    foreseen: Foreseen | None = None  #: what may be done by the plan that is applied; None: no plan is
    wanted_attributes: tuple[str, ...] = ()
    applied: Definition | None = None  #: resolved; None: never completed
    applied_sha1: str | None = None
    requires: Mapping[str, int] = field(default_factory=dict)
    physical_id: str | None = None  #: the name of the thing in the real world, once it exists
    reference_id: str | None = None
    attributes: Mapping[str, Any] = field(default_factory=dict)
    output_version: int = 0
    action: Action = Action.INIT
    status: Status = Status.COMPLETE
    reason: str = ""
    engine_id: str | None = None  #: the daemon that holds the lock
    atomic_key: int = 0
    progress: Attempt | None = None
    hook: str | None = None  #: the breakpoint that the action waits at
    #: the names of the plugin's notes from before it handed over to a replacement; None: it did not
    handover: tuple[str, ...] | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    metadata_key: int = 0  #: +1 with every write of the metadata
    data: Mapping[str, str] = field(default_factory=dict)
    created_at: datetime | None = None
    updated_at: datetime | None = None

    def may(self, deed: Deed) -> bool:
        """Tell whether something may be done to it: if a plan is applied, only what that says."""
        return self.foreseen is None or deed in self.foreseen.may

    @property
    def secrets(self) -> frozenset[str]:
        """The texts that must not be shown: those of its definitions and of its plugin's redacted notes."""
        definitions = (self.desired, self.applied, self.progress and self.progress.definition)
        known = {secret for definition in definitions if definition for secret in definition.secrets}
        return frozenset(known | redacted_values(self.data))


@dataclass(frozen=True, kw_only=True)
class Listed:
    """A resource row as those who ask what is there see it."""

    id: str
    stack_id: str
    name: str
    type: str
    version: int
    replaced_by: str | None = None
    desired: Definition | None  #: frozen; None: not wanted any more
    physical_id: str | None
    attributes: Mapping[str, Any]
    secrets: tuple[str, ...] = ()  #: texts among the attributes that must not be shown
    action: Action
    status: Status
    hook: str | None = None  #: the breakpoint that the action waits at
    reason: str
    created_at: datetime | None
    updated_at: datetime | None


class Drawn(NamedTuple):
    """A resource row as a picture of its stack shows it; there may be many."""

    id: str
    name: str
    type: str
    requires: frozenset[str] | None  #: names; None: it is not wanted any more
    action: Action
    status: Status


@dataclass(frozen=True, kw_only=True)
class Nested:
    """A living stack that belongs to a resource, and where that is."""

    id: str
    name: str
    owner_id: str  #: the resource's row
    owner_name: str
    parent_id: str  #: the resource's stack


@dataclass(frozen=True, kw_only=True)
class UnderWay:
    """A nested stack in the middle of a traversal."""

    id: str
    traversal_id: str
    action: Action


@dataclass(frozen=True, kw_only=True)
class Held:
    """A row that a worker holds: what it asks others to do for the row counts while this claim does."""

    id: str
    engine_id: str
    atomic_key: int


@dataclass(frozen=True, kw_only=True)
class Child:
    """A nested stack as the resource that owns it sees it."""

    id: str
    name: str
    project_id: str
    action: Action
    status: Status
    reason: str
    deleted: bool
    abandoned: bool  #: it goes, and what it stands for stays


@dataclass(frozen=True, kw_only=True)
class Member:
    """A resource of a nested stack as the resource that owns the stack sees it."""

    name: str
    definition: Definition  #: as it is wanted, frozen
    physical_id: str | None
    reference_id: str | None  #: what ``get_resource`` gives of it, once it is there
    action: Action
    status: Status
    created_at: datetime | None


@dataclass(frozen=True, kw_only=True)
class Job:
    """A node of a traversal as its check finds it: the row it acts on, and the stack's facts."""

    stack: Stack
    traversal_id: str
    node: Node
    resource: ResourceRow | None  #: None for the stack's own nodes, and for a row that is gone
    inputs: tuple[NodeData, ...] = ()
    lock_alive: bool = False  #: the row's lock is held by a daemon that heartbeats
    waited: float | None = field(default=None, compare=False)  #: seconds that it was READY, or rung for
    claimed_at: float = field(default_factory=time.monotonic, compare=False)  #: by ``time.monotonic``

    @property
    def row(self) -> ResourceRow:
        """The row that it acts on, of a job that has one: those without are passed by before."""
        assert self.resource is not None  # noqa: S101 - a mistake of ours, and of nobody else's
        return self.resource

    @property
    def direction(self) -> Direction:
        """Whether to make the resource so or to clear it away."""
        return self.node.direction

    @property
    def secrets(self) -> frozenset[str]:
        """The texts that must not be shown, of its resource and of what that was told."""
        own = self.resource.secrets if self.resource else frozenset()
        return own.union(*(data.secrets for data in self.inputs))


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """A stack as it was at some moment; ``data`` is as an export has it."""

    id: str  #: of the traversal that took it
    stack_id: str
    name: str | None
    action: Action
    status: Status
    reason: str
    data: Mapping[str, Any] | None
    created_at: datetime


@dataclass(frozen=True, kw_only=True)
class Event:
    """Something that happened to a resource or a stack."""

    uuid: str
    stack_id: str
    resource_name: str
    resource_type: str
    physical_id: str | None
    action: Action
    status: Status
    reason: str
    created_at: datetime
    resource_id: str | None = None
    properties: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Edition:
    """What a daemon was made from."""

    release: str
    schema_revision: str  #: the newest revision of the schema that it knows
    rpc_version: str  #: the newest version of the contract on the bus that it understands


@dataclass(frozen=True, kw_only=True)
class Service:
    """A daemon that heartbeats."""

    engine_id: str
    host: str
    binary: str
    topic: str
    report_interval: int  #: seconds between two heartbeats
    created_at: datetime
    updated_at: datetime
    alive: bool
    edition: Edition | None  #: None: it is of a release that did not say so yet
