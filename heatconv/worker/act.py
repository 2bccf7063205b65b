# SPDX-License-Identifier: Apache-2.0
"""Drive a resource's plugin through one action, with no transaction open.

What a plugin learns is written the moment it is known, fenced by the claim; an
action that is not finished at once comes back as ``Waiting``, to be polled.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, assert_never

from heatconv import errors
from heatconv.db import checks, resources
from heatconv.db.session import Database
from heatconv.model.deferred import Reference
from heatconv.model.definition import Definition
from heatconv.model.ids import new_id
from heatconv.model.nodes import Direction, NodeData
from heatconv.model.records import Attempt, Job, Resource, changed
from heatconv.model.states import Action, Status
from heatconv.model.steps import Compare, Fail, Remove, Replace, Resume, Skip, Start, Step, Unchanged
from heatconv.resources import resource as plugins
from heatconv.resources.facts import Incarnation, StackFacts
from heatconv.resources.registry import Registry
from heatconv.worker import faults
from heatconv.worker.endings import Ending, Failed, Gone, Lost, Made, Passed, Waiting
from heatconv.worker.keeper import Orphaned, RowKeeper, nothing_unknown

LOG = logging.getLogger(__name__)

FIRST_DELAY, MAX_DELAY, GROWTH = 0.5, 10.0, 1.4  #: seconds between polls, unless the plugin says

Act = Callable[[Job, Attempt], Ending]


class Actor:
    """Takes the steps that ``decide`` found, through the plugins of a registry."""

    def __init__(
        self, database: Database, registry: Registry, *, retry_limit: int, client_retry_limit: int
    ) -> None:
        """Keep what is handed in.

        Args:
            retry_limit: how often what came out broken is made anew.
            client_retry_limit: how often in a row a service may not take a call.
        """
        self._database = database
        self._registry = registry
        self._retry_limit = retry_limit
        self._client_retry_limit = client_retry_limit

    def take(self, job: Job, step: Step) -> Ending:
        """Take a step on a row that is held."""
        match step:
            case Skip():
                return Passed(job=job)
            case Remove():
                return Gone(job=job, action=None)
            case Fail(reason):
                return Failed(job=job, action=_next_action(job), reason=reason, definition=None)
            case Start(attempt):
                return self._guarded(job, attempt, self._start)
            case Resume(attempt):
                return self._guarded(job, attempt, self._resume)
            case Unchanged(wanted, requires):
                return self._guarded(job, _reached(job, wanted, requires), self._unchanged)
            case Compare(wanted, requires):
                return self._guarded(job, _reached(job, wanted, requires), self._compare)
            case Replace(attempt):
                return self._replace(job, attempt)
        assert_never(step)

    def poll(self, waiting: Waiting) -> Ending:
        """Look again at an action that goes on, if it still is this worker's.

        One that was stopped for a while may find it taken over, and must not
        repeat what a newer wish has changed.
        """
        plugin, job = waiting.plugin, self._reread(waiting.job)
        if job is None:
            return Lost(job=waiting.job)
        if plugin is None:
            return self._guarded(job, waiting.attempt, self._resume)
        return self._guarded(waiting.job, waiting.attempt, lambda *_: self._look(waiting, plugin), waiting)

    def remove_orphan(self, orphan: plugins.Resource) -> None:
        """Delete what was made when the lock had been broken already, and nobody else has found."""
        LOG.warning("removing %s, which was made without a lock", orphan)
        try:
            orphan.start(Action.DELETE)
        except errors.StaleWrite:
            LOG.debug("that %s is gone has nowhere to be recorded", orphan)
        except Exception:
            LOG.exception("%s was made without a lock and could not be removed", orphan)

    # -- steps ---------------------------------------------------------------------------

    def _start(self, job: Job, attempt: Attempt) -> Ending:
        plugin = self._plugin(job, attempt.definition)
        with nothing_unknown(plugin):
            token = plugin.start(attempt.action)
        return self._wait_first(job, attempt, plugin, token)

    def _resume(self, job: Job, attempt: Attempt) -> Ending:
        """Take over: the token, else the physical id, else what can be found, else start again."""
        LOG.info("stack %s: %s: taking up its %s", job.stack.id, job.node, attempt.action)
        if attempt.action is Action.UPDATE and not attempt.started:
            return self._compare(job, attempt)
        plugin = self._plugin(job, attempt.definition)
        if attempt.started:
            return self._look(_waiting(job, attempt, plugin, attempt.token), plugin)
        if attempt.action is Action.CREATE and plugin.resource_id is None:
            found = plugin.find_existing()
            if found is not None:
                plugin.resource_id_set(found)
        if attempt.action is Action.CREATE and plugin.resource_id is not None:
            return self._look(_waiting(job, replace(attempt, started=True), plugin, None), plugin)
        return self._start(job, attempt)

    def _unchanged(self, job: Job, attempt: Attempt) -> Ending:
        row = _row(job)
        if set(row.wanted_attributes) <= row.attributes.keys():
            return Made(
                job=job,
                attempt=attempt,
                output=_output(row, row.reference_id, row.attributes),
                physical_id=row.physical_id,
                metadata=row.metadata,
                action=None,
            )
        return self._made(job, attempt, self._plugin(job, attempt.definition), None)

    def _compare(self, job: Job, attempt: Attempt) -> Ending:
        row = _row(job)
        if row.applied is None or row.applied.implemented_by != attempt.definition.implemented_by:
            raise plugins.UpdateReplace(row.name)
        plugin = self._plugin(job, row.applied)
        update = plugin.plan_update(attempt.definition)
        if update is None:
            return self._made(job, attempt, self._plugin(job, attempt.definition), None)
        if not checks.try_begin(self._database, row, attempt):
            return Lost(job=job)
        with nothing_unknown(plugin):
            token = plugin.start(Action.UPDATE, update.json_snippet, update.tmpl_diff, update.prop_diff)
        return self._wait_first(job, attempt, plugin, token)

    def _replace(self, job: Job, attempt: Attempt) -> Ending:
        create = replace(attempt, action=Action.CREATE, token=None, started=False)
        new_job = checks.try_replace(self._database, job, new_id(), Replace(create))
        if new_job is None:
            return Lost(job=job)
        LOG.info("stack %s: %s: replaced by %s", job.stack.id, job.node, _row(new_job).id)
        return self._guarded(new_job, create, self._start)

    # -- waiting --------------------------------------------------------------------------

    def _wait_first(self, job: Job, attempt: Attempt, plugin: plugins.Resource, token: Any) -> Ending:
        """Look once; only what is not finished at once has its token saved."""
        started = replace(attempt, token=_as_json(job, token), started=True)
        if token is not None and not self._save(job, started):
            return Lost(job=job)
        waiting = _waiting(job, started, plugin, token)
        ending = self._guarded(job, started, lambda *_: self._look(waiting, plugin), waiting)
        if token is None and isinstance(ending, Waiting) and not self._save(job, started):
            return Lost(job=job)
        return ending

    def _look(self, waiting: Waiting, plugin: plugins.Resource) -> Ending:
        job, attempt = waiting.job, replace(waiting.attempt, faults=0)
        delay = min(FIRST_DELAY * GROWTH**waiting.polls, MAX_DELAY)
        try:
            with nothing_unknown(plugin):
                complete = plugin.is_complete(attempt.action, waiting.token)
            if complete:
                return self._complete(job, attempt, plugin)
        except plugins.PollDelay as told:
            delay = float(told.period)
        if _is_overdue(job):
            plugin.cancel(attempt.action, waiting.token)
            return _timed_out(job, attempt)
        token = _as_json(job, waiting.token)
        if token != attempt.token:
            attempt = replace(attempt, token=token)
            if not self._save(job, attempt):
                return Lost(job=job)
        return replace(waiting, attempt=attempt, delay=delay, polls=waiting.polls + 1)

    def _save(self, job: Job, attempt: Attempt) -> bool:
        return checks.try_write(self._database, _row(job), {"progress": attempt.to_json()})

    def _reread(self, job: Job) -> Job | None:
        """Return a job with its row as it is now; None if it is not held any more."""
        held, row = _row(job), resources.find(self._database, _row(job).id)
        if row is None or (row.engine_id, row.atomic_key) != (held.engine_id, held.atomic_key):
            return None
        now: Job = changed(job, resource=row)
        return now

    # -- the end ---------------------------------------------------------------------------

    def _complete(self, job: Job, attempt: Attempt, plugin: plugins.Resource) -> Ending:
        if attempt.action is Action.DELETE:
            if job.direction is Direction.UPDATE:
                return self._make_anew(job, attempt)
            return Gone(job=job, action=Action.DELETE)
        plugin.become(attempt.definition)
        return self._made(job, attempt, plugin, attempt.action)

    def _made(self, job: Job, attempt: Attempt, plugin: plugins.Resource, action: Action | None) -> Ending:
        row = _row(job)
        references = [_reference(row.name, key) for key in row.wanted_attributes]
        return Made(
            job=job,
            attempt=attempt,
            output=_output(row, plugin.get_reference_id(), plugin.output(references)),
            physical_id=plugin.resource_id,
            metadata=plugin.incarnation.metadata,
            action=action,
        )

    # -- what came out broken ----------------------------------------------------------------

    def _remove_broken(self, job: Job, attempt: Attempt) -> Ending:
        """Delete what a create made, so that it can be made anew (Heat's action_retry_limit)."""
        delete = replace(attempt, action=Action.DELETE, token=None, started=False)
        now = self._reread(job) if self._save(job, delete) else None
        return Lost(job=job) if now is None else self._guarded(now, delete, self._start)

    def _make_anew(self, job: Job, attempt: Attempt) -> Ending:
        """Create again what was deleted because it was broken, after a growing, uneven pause."""
        create = replace(
            attempt, action=Action.CREATE, token=None, started=False, retries=attempt.retries + 1
        )
        forgotten = {"physical_id": None, "progress": create.to_json()}
        if not checks.try_write(self._database, _row(job), forgotten):
            return Lost(job=job)
        delay = faults.pause(attempt.retries)
        return Waiting(job=job, attempt=create, plugin=None, token=None, delay=delay)

    # -- around a plugin ---------------------------------------------------------------------

    def _guarded(self, job: Job, attempt: Attempt, act: Act, waiting: Waiting | None = None) -> Ending:
        """Run plugin code; whatever it raises becomes an ending.

        After a fault that may pass, ``waiting`` goes on; without it the action
        is taken up from its row, as if by another worker.
        """
        try:
            return act(job, attempt)
        except plugins.UpdateReplace:
            return self._replace(job, attempt)
        except Orphaned as orphaned:
            return Lost(job=job, orphan=orphaned.plugin)
        except errors.StaleWrite:
            return Lost(job=job)
        except errors.StorageError:
            # A fault of ours is never a failure of the resource's: whoever claims it goes on.
            LOG.exception("stack %s: %s: what it came to could not be written", job.stack.id, job.node)
            return Lost(job=job)
        except Exception as error:  # noqa: BLE001 - a plugin may raise anything
            return self._after_error(job, attempt, error, waiting)

    def _after_error(self, job: Job, attempt: Attempt, error: Exception, waiting: Waiting | None) -> Ending:
        what = f"stack {job.stack.id}: {job.node}: {attempt.action} of {_row(job).name}"
        if faults.is_passing(error, attempt.action) and attempt.faults < self._client_retry_limit:
            LOG.info("%s: %s; trying again", what, error)
            return _again(job, attempt, error, waiting)
        if self._worth_another(attempt, error):
            LOG.info("%s: %s; making it anew", what, error)
            return self._remove_broken(job, attempt)
        expected = isinstance(error, errors.HeatconvError)
        LOG.warning("%s failed: %s", what, error, exc_info=None if expected else error)
        reason = f"{type(error).__name__}: resources.{_row(job).name}: {error}"
        return Failed(job=job, action=attempt.action, reason=reason, definition=attempt.definition)

    def _worth_another(self, attempt: Attempt, error: Exception) -> bool:
        return (
            attempt.action is Action.CREATE
            and isinstance(error, errors.ResourceError)
            and error.retryable
            and attempt.retries < self._retry_limit
        )

    def _plugin(self, job: Job, definition: Definition) -> plugins.Resource:
        """Return the plugin of a row, as ``definition`` has it."""
        row = _row(job)
        plugin = self._registry.get(definition.implemented_by)(row.name, definition, _facts(job))
        plugin.attach(
            Incarnation(
                id=row.id,
                physical_id=row.physical_id,
                action=row.action,
                status=row.status,
                reason=row.reason,
                metadata=row.metadata,
                data=row.data,
                created_at=row.created_at,
                updated_at=row.updated_at,
            ),
            RowKeeper(self._database, row),
        )
        return plugin


def _again(job: Job, attempt: Attempt, error: Exception, waiting: Waiting | None) -> Ending:
    """Wait after a fault that may pass; not beyond the stack's deadline."""
    if _is_overdue(job):
        return _timed_out(job, attempt)
    faulty = replace(attempt, faults=attempt.faults + 1)
    delay = faults.pause(attempt.faults, error)
    if waiting is not None:
        return replace(waiting, attempt=faulty, delay=delay)
    return Waiting(job=job, attempt=faulty, plugin=None, token=None, delay=delay)


def _is_overdue(job: Job) -> bool:
    return job.stack.deadline is not None and datetime.now(UTC).replace(tzinfo=None) > job.stack.deadline


def _timed_out(job: Job, attempt: Attempt) -> Ending:
    return Failed(job=job, action=attempt.action, reason="Timed out", definition=attempt.definition)


def _row(job: Job) -> Resource:
    assert job.resource is not None  # noqa: S101 - nodes without a row are passed by before
    return job.resource


def _facts(job: Job) -> StackFacts:
    return StackFacts(
        id=job.stack.id,
        name=job.stack.name,
        project_id=job.stack.project_id,
        action=job.stack.action,
        timeout_mins=job.stack.timeout_mins,
        deadline=job.stack.deadline,
    )


def _waiting(job: Job, attempt: Attempt, plugin: plugins.Resource, token: Any) -> Waiting:
    return Waiting(job=job, attempt=attempt, plugin=plugin, token=token, delay=0)


def _reached(job: Job, wanted: Definition, requires: Mapping[str, int]) -> Attempt:
    """Return the update that would make a row as wanted, be there anything to do or not."""
    sha1 = _row(job).desired_sha1 or ""
    return Attempt(action=Action.UPDATE, definition=wanted, sha1=sha1, requires=requires)


def _next_action(job: Job) -> Action:
    row = _row(job)
    made = row.action is not Action.INIT and not (
        row.action is Action.CREATE and row.status is not Status.COMPLETE
    )
    return Action.UPDATE if made else Action.CREATE


def _reference(name: str, key: str) -> Reference:
    attribute, *path = json.loads(key)
    return Reference(name, attribute, tuple(path))


def _output(row: Resource, reference_id: str | None, attributes: Mapping[str, Any]) -> NodeData:
    """Return what a row tells its dependents; its version grows if that is news to one of them."""
    news = reference_id != row.reference_id or any(
        key in row.attributes and row.attributes[key] != value for key, value in attributes.items()
    )
    return NodeData(
        name=row.name,
        resource_id=row.id,
        reference_id=reference_id,
        attributes=attributes,
        output_version=row.output_version + news,
    )


def _as_json(job: Job, token: Any) -> Any:
    """Return a copy of a token as it can be saved."""
    try:
        return json.loads(json.dumps(token))
    except (TypeError, ValueError):
        LOG.warning(
            "%s: the plugin's token is not JSON (%s); the action cannot be taken over from this worker",
            job.node,
            type(token).__name__,
        )
        return None
