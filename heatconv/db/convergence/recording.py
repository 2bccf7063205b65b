# SPDX-License-Identifier: Apache-2.0
"""What the end of a check writes to its row, what has happened with it, and what the node has to say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from heatconv.db import rows
from heatconv.db.convergence import propagation, row_locks
from heatconv.db.convergence.actions import event_of
from heatconv.db.convergence.claimants import Claimant
from heatconv.model.endings import Made
from heatconv.model.nodes import Direction, NodeData
from heatconv.model.records import Job, ResourceRow, changed
from heatconv.model.secrets import masked
from heatconv.model.states import Action, Status


@dataclass(frozen=True, kw_only=True)
class End:
    """What the end of a check writes to its row, what it propagates, and who goes on."""

    job: Job
    write: row_locks.Write | None = None
    happened: Sequence[Mapping[str, Any]] = ()
    data: NodeData | None = None
    applies_current_definition: bool = True
    then: Claimant | None = None

    @property
    def sender(self) -> propagation.Sender:
        """The node, and what it has to say to those that wait for it."""
        return propagation.Sender(self.job.stack.id, self.job.traversal_id, self.job.node, self.data)


def made(made: Made, then: Claimant | None) -> End:
    """Return the end of an action that has made a resource as it is wanted, or of finding it so."""
    job, action = made.job, made.action
    return End(
        job=job,
        write=row_locks.Write(row=job.row, columns=_columns(made), let_go=True, touch=action is not None),
        happened=() if action is None else (_complete(made, action),),
        data=made.output if job.direction is Direction.UPDATE else None,
        applies_current_definition=made.applies_current_definition,
        then=then,
    )


def made_at_once(made: Made) -> End:
    """Return the beginning and the end of an action that has made a resource whose row nobody held."""
    row, action = made.job.row, made.attempt.action
    return End(
        job=made.job,
        write=row_locks.Write(row=row, columns={"action": action, "hook": None, **_columns(made)}),
        happened=(row_locks.begun_event(row, made.attempt), _complete(made, action)),
        data=made.output,
    )


def visited(job: Job, action: Action, status: Status, reason: str, then: Claimant | None) -> End:
    """Return the end of a visit; one that a newer traversal came upon is only recorded."""
    changes = {"action": action, "status": status, "status_reason": reason, "progress": None}
    return End(
        job=job,
        write=row_locks.Write(row=job.row, columns=changes, let_go=True, touch=True),
        happened=(event_of(job.row, action, status, reason),),
        applies_current_definition=job.stack.action is action,
        then=then,
    )


def _columns(made: Made) -> dict[str, Any]:
    """Return what is written to the row of a resource that is as it is wanted."""
    job, attempt, output, action = made.job, made.attempt, made.output, made.action
    row, applied = job.row, attempt.definition
    columns: dict[str, Any] = {
        "type": applied.type,
        "applied": applied.to_json(),
        "applied_sha1": attempt.sha1,
        "applied_template_id": job.stack.raw_template_id,
        "requires": dict(attempt.requires),
        "physical_id": made.physical_id,
        "reference_id": output.reference_id,
        "attributes": rows.output_columns(output),
        "output_version": output.output_version,
        "version": row.version + (action is Action.UPDATE),
        "status": Status.COMPLETE,
        "progress": None,
    }
    if made.notes is not None:
        columns["data"] = dict(made.notes)
    if action is not None:
        columns["status_reason"] = "state changed"
    return columns


def _complete(made: Made, action: Action) -> dict[str, Any]:
    """Return the event that an action is complete."""
    applied = made.attempt.definition
    now: ResourceRow = changed(made.job.row, physical_id=made.physical_id, type=applied.type)
    shown = {name: masked(value, applied.secrets) for name, value in applied.properties.items()}
    return event_of(now, action, Status.COMPLETE, "state changed", shown)
