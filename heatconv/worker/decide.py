# SPDX-License-Identifier: Apache-2.0
"""What there is to do for a node: a pure function of what its claim read."""

from __future__ import annotations

from typing import assert_never

from heatconv import errors
from heatconv.model import deletion
from heatconv.model.definition import Definition
from heatconv.model.nodes import Direction
from heatconv.model.records import Attempt, Job, ResourceRow, changed
from heatconv.model.states import VISITS, Action, DeletionPolicy, Status
from heatconv.model.steps import Compare, Fail, Remove, Replace, Resume, Skip, Start, Step, Unchanged
from heatconv.template.resolve import resolve
from heatconv.worker import late


def decide(job: Job) -> Step:
    """Return the first step for a node; level-based, whatever message woke us."""
    if job.resource is None:
        return Skip()  # a node of the stack itself, or a row that is gone already
    if job.stack.action in VISITS:
        return _decide_visit(job.stack.action, job.resource)
    match job.direction:
        case Direction.UPDATE:
            return _decide_update(job, job.resource)
        case Direction.CLEANUP:
            return _decide_cleanup(job, job.resource)
    assert_never(job.direction)


def _decide_update(job: Job, row: ResourceRow) -> Step:
    if row.desired is None or row.desired_sha1 is None:
        return Skip()
    going_on = row.progress if row.action is not Action.DELETE else None
    is_forgotten = going_on is not None and going_on.forgotten
    if is_forgotten:
        going_on = None  # and if it does, nobody knows by which inputs
    if going_on is not None and going_on.sha1 == row.desired_sha1:
        return Resume(going_on)
    try:
        wanted = resolve_definition(row.desired, job)
    except errors.ActionFailed as failure:
        return Resume(going_on) if going_on is not None else Fail(str(failure))
    requires = {data.resource_id: data.output_version for data in job.inputs}
    action = Action.CREATE if wanted.adopt is None else Action.ADOPT
    create = Attempt(action=action, definition=wanted, sha1=row.desired_sha1, requires=requires)
    create = changed(create, again=is_forgotten)
    if going_on is not None:
        return Resume(going_on, newer=changed(create, action=going_on.action))
    if row.action is Action.DELETE:
        return _look_at_retained(row) or Replace(create)
    if _never_made(row):
        return Start(create)
    if row.status is Status.COMPLETE and row.applied == wanted:
        return Unchanged(wanted, requires)
    return Compare(wanted, requires)


def _look_at_retained(row: ResourceRow) -> Step | None:
    """Look at what could not be deleted and is to be retained by now: well, it goes on as the resource."""
    retained = row.status is Status.FAILED and row.deletion_policy is DeletionPolicy.RETAIN
    if not retained or row.applied is None:
        return None
    sha1 = row.applied_sha1 or ""
    return Start(Attempt(action=Action.CHECK, definition=row.applied, sha1=sha1, requires=row.requires))


def _never_made(row: ResourceRow) -> bool:
    """Tell whether nothing real can stand behind a row that nobody works on."""
    if row.physical_id is not None:
        return False
    found_missing = row.action is Action.CHECK and row.applied_sha1 is None
    creating = row.action in (Action.CREATE, Action.ADOPT) or found_missing
    return row.action is Action.INIT or (creating and row.status is not Status.COMPLETE)


def _decide_visit(action: Action, row: ResourceRow) -> Step:
    """Visit a row that stands for something; one in the middle of another action is passed by.

    A check finds out that what could not be made is not there.
    """
    if row.desired is None:
        return Skip()
    if row.progress is not None:
        return Resume(row.progress) if row.action is action else Skip()
    if action is Action.CHECK and row.status is Status.FAILED and row.applied_sha1 is None:
        return Fail(row.reason if row.action is Action.CHECK else f"It was not created: {row.reason}")
    if row.applied is None or row.applied_sha1 is None or _never_made(row):
        return Skip()
    if not _calls_for(action, row):
        return Skip()
    return Start(Attempt(action=action, definition=row.applied, sha1=row.applied_sha1, requires=row.requires))


def _calls_for(action: Action, row: ResourceRow) -> bool:
    suspended = row.action is Action.SUSPEND or (row.action, row.status) == (Action.RESUME, Status.FAILED)
    somebody_elses = row.applied is not None and row.applied.external_id is not None
    match action:
        case Action.SUSPEND:
            return (row.action, row.status) != (Action.SUSPEND, Status.COMPLETE) and not somebody_elses
        case Action.RESUME:
            return suspended and not somebody_elses
        case _:
            return True


def _decide_cleanup(job: Job, row: ResourceRow) -> Step:
    if row.desired is not None:
        return Skip()
    if row.progress is not None and row.action is Action.DELETE:
        return Resume(row.progress, newer=deletion.given_up(job.stack, row))
    definition = row.progress.definition if row.progress is not None else row.applied
    if definition is None:
        return Remove()  # nothing was ever begun
    definition = deletion.to_be_deleted(job.stack, row, definition)
    # What a create may have made and nobody knows of, nobody can delete: that is told.
    begun = row.physical_id is None and row.progress is not None and row.progress.begun
    delete = Attempt(action=Action.DELETE, definition=definition, sha1="", requires={}, begun=begun)
    return Start(changed(delete, unheard=late.looks_for(row)))


def resolve_definition(frozen: Definition, job: Job) -> Definition:
    """Return a definition with what only run time knows filled in.

    Raises:
        ActionFailed: a function does not take what it got.
    """
    nodes = {data.name: data for data in job.inputs}
    secrets = dict.fromkeys(frozen.secrets)
    for data in job.inputs:
        secrets |= dict.fromkeys(data.secrets)
    return frozen.changed(
        secrets=tuple(secrets),
        properties=resolve(frozen.properties, nodes),
        metadata=resolve(frozen.metadata, nodes),
        update_policy=resolve(frozen.update_policy, nodes),
    )
