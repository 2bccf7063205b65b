# SPDX-License-Identifier: Apache-2.0
"""How taking a step ends: values that ``check`` records and acts upon."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from heatconv.model.definition import Definition
from heatconv.model.nodes import NodeData
from heatconv.model.records import Attempt, Job
from heatconv.model.states import Action
from heatconv.resources.resource import Resource as Plugin


@dataclass(frozen=True, kw_only=True)
class Made:
    """The resource is as ``attempt`` wants it; ``action`` is what was done, None if nothing."""

    job: Job
    attempt: Attempt
    output: NodeData
    physical_id: str | None
    action: Action | None


@dataclass(frozen=True, kw_only=True)
class Visited:
    """The resource was visited: suspended, resumed, checked, taken a snapshot of."""

    job: Job
    action: Action
    reason: str = "state changed"


@dataclass(frozen=True, kw_only=True)
class Gone:
    """What the row stood for does not exist any more."""

    job: Job
    action: Action | None


@dataclass(frozen=True, kw_only=True)
class Passed:
    """There was nothing to do."""

    job: Job


@dataclass(frozen=True, kw_only=True)
class Waiting:
    """The action goes on in the real world; look again after ``delay`` seconds.

    Without a ``plugin`` the action has to be taken up again from its row; or, if
    it ``replaces`` the row's resource, that still has to hand over.
    """

    job: Job
    attempt: Attempt
    plugin: Plugin | None
    token: Any
    delay: float
    polls: int = 0
    replaces: bool = False


@dataclass(frozen=True, kw_only=True)
class Failed:
    """The action failed for good.

    ``refused``: why it was not begun; the resource is as it was, and its event says no more.
    ``overtaken``: a newer wish waited for it to end, and is carried out now.
    """

    job: Job
    action: Action
    reason: str
    definition: Definition | None
    refused: str | None = None
    overtaken: bool = False


@dataclass(frozen=True, kw_only=True)
class Lost:
    """The lock was broken, or the traversal superseded before anything was begun.

    ``orphan`` is a plugin whose physical id could not be recorded any more.
    """

    job: Job
    orphan: Plugin | None = None


Ending = Made | Visited | Gone | Passed | Waiting | Failed | Lost
