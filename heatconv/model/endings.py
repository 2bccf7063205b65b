# SPDX-License-Identifier: Apache-2.0
"""How a check ends: values that ``db.convergence.checks.end`` records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from heatconv.model.definition import Definition
from heatconv.model.nodes import NodeData
from heatconv.model.records import Attempt, Job
from heatconv.model.states import Action


@dataclass(frozen=True, kw_only=True)
class Made:
    """The resource is as ``attempt`` wants it; ``action`` is what was done, None if nothing."""

    job: Job
    attempt: Attempt
    output: NodeData
    physical_id: str | None
    action: Action | None
    notes: Mapping[str, str] | None = None  #: the plugin's own, if they are not kept yet

    @property
    def applies_current_definition(self) -> bool:
        """Whether that is what the node wants now, of the inputs that it has now."""
        now = {data.resource_id: data.output_version for data in self.job.inputs}
        return self.attempt.sha1 == self.job.row.desired_sha1 and self.attempt.requires == now


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
class Failed:
    """The action failed for good.

    ``definition`` is what was being applied: of a resource that never was complete it is
    kept, for whoever deletes what there may be of it.
    ``refused``: why it was not begun; the resource is as it was, and its event says no more, unless
    an older action was given up for it: then the resource has failed.
    ``overtaken``: a newer wish waited for it to end, and is carried out now.
    """

    job: Job
    action: Action
    reason: str
    definition: Definition | None
    refused: str | None = None
    overtaken: bool = False


Ended = Made | Visited | Gone | Passed | Failed
