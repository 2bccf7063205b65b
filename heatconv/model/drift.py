# SPDX-License-Identifier: Apache-2.0
"""Drift: how what is really there differs from what was made, and what is to be done about it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from heatconv.model.definition import canonical
from heatconv.model.records import ResourceRow
from heatconv.model.states import DeletionPolicy


class Mode(StrEnum):
    """What a policy has the observer do."""

    OFF = "off"  #: nothing, not even look
    DETECT = "detect"  #: look and tell
    HEAL = "heal"  #: look, tell, and make it as it was wanted again


class Kind(StrEnum):
    """How a resource has drifted."""

    MISSING = "MISSING"  #: it is not there any more
    CHANGED = "CHANGED"  #: a property is not as it was made
    UNEXPECTED = (
        "UNEXPECTED"  #: all properties are as they were made, but one has a value that nobody gave it
    )
    ERROR = "ERROR"  #: its service says that it is broken
    INSIDE = "INSIDE"  #: of the owner of a nested stack: something in there has drifted; not told to users


#: The kinds that are about properties, whose live values are known.
OF_PROPERTIES = frozenset({Kind.CHANGED, Kind.UNEXPECTED})


class DriftStatus(StrEnum):
    """How a stack as a whole was found."""

    IN_SYNC = "IN_SYNC"
    DRIFTED = "DRIFTED"
    UNKNOWN = "UNKNOWN"  #: never looked at, or something could not be


class Handling(StrEnum):
    """Whether the next traversal puts a drift right."""

    OPEN = "OPEN"  #: it does
    HELD = "HELD"  #: not before a user says so, or its turn has come
    NEVER = "NEVER"  #: it is somebody else's thing


LONGEST_INTERVAL = 31_536_000  #: seconds between two looks, at most: a year


@dataclass(frozen=True, kw_only=True)
class Policy:
    """What is wanted of the observer for one stack; None is as the operator has it."""

    mode: Mode | None = None
    interval: float | None = None  #: seconds between two looks

    @classmethod
    def from_json(cls, data: Mapping[str, Any] | None) -> Policy:
        """Return the policy of a stack's ``convergence`` object."""
        given = data or {}
        mode = given.get("policy")
        return cls(mode=Mode(mode) if mode else None, interval=given.get("interval"))


METADATA_KEY = "convergence"  #: where a resource's metadata have a policy of its own


def mode_of(row: ResourceRow, of_stack: Mode) -> Mode:
    """Return what is done about a resource: what its metadata say, else what its stack's policy says.

    What is not this stack's to replace is never healed: somebody else's thing,
    or one that is to outlive its resource.
    """
    if of_stack is Mode.OFF:
        return Mode.OFF
    own = row.metadata.get(METADATA_KEY)
    said = own.get("policy") if isinstance(own, Mapping) else None
    mode = Mode(said) if said in tuple(Mode) else of_stack
    kept = row.applied is not None and (
        row.applied.external_id is not None or row.applied.deletion_policy is not DeletionPolicy.DELETE
    )
    return Mode.DETECT if kept and mode is Mode.HEAL else mode


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What one look at a resource found; ``differences`` are the live values of what is different."""

    row: ResourceRow
    kind: Kind | None  #: None: it is as it was made
    differences: Mapping[str, Any] = field(default_factory=dict)
    reason: str = ""

    @property
    def digest(self) -> str:
        """What is equal for two findings that say the same."""
        said = canonical([self.kind, self.differences, self.reason])
        return hashlib.sha1(said.encode(), usedforsecurity=False).hexdigest()


@dataclass(frozen=True, kw_only=True)
class Drift:
    """A drift as it was recorded, of a resource that nobody has touched since."""

    resource_id: str
    stack_id: str
    name: str
    kind: Kind
    handling: Handling
    reason: str
    since: datetime
    differences: Mapping[str, Any] = field(default_factory=dict)
    row: ResourceRow


@dataclass(frozen=True, kw_only=True)
class StackDrift:
    """What is known of a stack as a whole."""

    stack_id: str
    status: DriftStatus
    since: datetime
    observed_at: datetime | None  #: when all of it had been looked at last
    traversal_id: str | None = None  #: the last traversal that healed it
