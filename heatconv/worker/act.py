# SPDX-License-Identifier: Apache-2.0
"""Drive a resource's plugin through one action, with no transaction open.

What a plugin learns is written the moment it is known, fenced by the claim; an
action that is not finished at once comes back as ``Waiting``, to be polled.
"""

from __future__ import annotations

import json
import logging
import random
from collections.abc import Mapping
from dataclasses import dataclass, replace
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

LOG = logging.getLogger(__name__)

FIRST_DELAY, MAX_DELAY, GROWTH = 0.5, 10.0, 1.4  #: seconds between polls, unless the plugin says


@dataclass(frozen=True, kw_only=True)
class Made:
    """The resource is as ``attempt`` wants it; ``action`` is what was done, None if nothing."""

    job: Job
    attempt: Attempt
    output: NodeData
    physical_id: str | None
    metadata: Mapping[str, Any]
    action: Action | None


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
    """The action goes on in the real world; look again after ``delay`` seconds."""

    job: Job
    attempt: Attempt
    plugin: plugins.Resource
    token: Any
    delay: float
    backoff: float = FIRST_DELAY


@dataclass(frozen=True, kw_only=True)
class Failed:
    """The action failed for good."""

    job: Job
    action: Action
    reason: str
    definition: Definition | None


@dataclass(frozen=True, kw_only=True)
class Lost:
    """The lock was broken, or the traversal superseded before anything was begun."""

    job: Job


Outcome = Made | Gone | Passed | Waiting | Failed | Lost


class Actor:
    """Takes the steps that ``decide`` found, through the plugins of a registry."""

    def __init__(self, database: Database, registry: Registry, *, retry_limit: int) -> None:
        """Keep what is handed in; ``retry_limit`` is how often what came out broken is made anew."""
        self._database = database
        self._registry = registry
        self._retry_limit = retry_limit

    def take(self, job: Job, step: Step) -> Outcome:
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

    def poll(self, waiting: Waiting) -> Outcome:
        """Look again at an action that goes on."""
        go_on = self._start if not waiting.attempt.started else lambda *_: self._look(waiting)
        return self._guarded(waiting.job, waiting.attempt, go_on)

    # -- steps ---------------------------------------------------------------------------

    def _start(self, job: Job, attempt: Attempt) -> Outcome:
        plugin = self._plugin(job, attempt.definition)
        return self._wait_first(job, attempt, plugin, plugin.start(attempt.action))

    def _resume(self, job: Job, attempt: Attempt) -> Outcome:
        """Take over: the token, else the physical id, else what can be found, else start again."""
        LOG.info("stack %s: %s: taking over its %s", job.stack.id, job.node, attempt.action)
        if attempt.action is Action.UPDATE and not attempt.started:
            return self._compare(job, attempt)
        plugin = self._plugin(job, attempt.definition)
        if attempt.started:
            return self._look(_waiting(job, attempt, plugin, attempt.token))
        if attempt.action is Action.CREATE and plugin.resource_id is None:
            found = plugin.find_existing()
            if found is not None:
                plugin.resource_id_set(found)
        if attempt.action is Action.CREATE and plugin.resource_id is not None:
            return self._look(_waiting(job, replace(attempt, started=True), plugin, None))
        return self._start(job, attempt)

    def _unchanged(self, job: Job, attempt: Attempt) -> Outcome:
        row = _row(job)
        if set(row.wanted_attributes) <= row.attributes.keys():
            output = _output(row, row.reference_id, row.attributes)
            return Made(
                job=job,
                attempt=attempt,
                output=output,
                physical_id=row.physical_id,
                metadata=row.metadata,
                action=None,
            )
        return self._made(job, attempt, self._plugin(job, attempt.definition), None)

    def _compare(self, job: Job, attempt: Attempt) -> Outcome:
        row = _row(job)
        if row.applied is None or row.applied.type != attempt.definition.type:
            raise plugins.UpdateReplace(row.name)
        plugin = self._plugin(job, row.applied)
        update = plugin.plan_update(attempt.definition)
        if update is None:
            return self._made(job, attempt, self._plugin(job, attempt.definition), None)
        if not checks.try_begin(self._database, row, attempt):
            return Lost(job=job)
        token = plugin.start(Action.UPDATE, update.json_snippet, update.tmpl_diff, update.prop_diff)
        return self._wait_first(job, attempt, plugin, token)

    def _replace(self, job: Job, attempt: Attempt) -> Outcome:
        create = replace(attempt, action=Action.CREATE, token=None, started=False)
        new_job = checks.try_replace(self._database, job, new_id(), Replace(create))
        if new_job is None:
            return Lost(job=job)
        LOG.info("%s: replaced by %s", job.node, _row(new_job).id)
        return self._guarded(new_job, create, self._start)

    # -- waiting --------------------------------------------------------------------------

    def _wait_first(self, job: Job, attempt: Attempt, plugin: plugins.Resource, token: Any) -> Outcome:
        """Look once; only what is not finished at once has its token saved."""
        started = replace(attempt, token=_as_json(job, token), started=True)
        if token is not None and not self._save(job, started):
            return Lost(job=job)
        outcome = self._look(_waiting(job, started, plugin, token))
        if token is None and isinstance(outcome, Waiting) and not self._save(job, started):
            return Lost(job=job)
        return outcome

    def _look(self, waiting: Waiting) -> Outcome:
        job, attempt, plugin = waiting.job, waiting.attempt, waiting.plugin
        backoff = min(waiting.backoff * GROWTH, MAX_DELAY)
        try:
            if plugin.is_complete(attempt.action, waiting.token):
                return self._complete(job, attempt, plugin)
            delay = waiting.backoff
        except plugins.PollDelay as told:
            delay = float(told.period)
        if job.stack.deadline is not None and datetime.now(UTC).replace(tzinfo=None) > job.stack.deadline:
            return self._timed_out(waiting)
        token = _as_json(job, waiting.token)
        if token != attempt.token:
            attempt = replace(attempt, token=token)
            if not self._save(job, attempt):
                return Lost(job=job)
        return replace(waiting, attempt=attempt, delay=delay, backoff=backoff)

    def _timed_out(self, waiting: Waiting) -> Outcome:
        waiting.plugin.cancel(waiting.attempt.action, waiting.token)
        return Failed(
            job=waiting.job,
            action=waiting.attempt.action,
            reason="Timed out",
            definition=waiting.attempt.definition,
        )

    def _save(self, job: Job, attempt: Attempt) -> bool:
        return checks.try_write(self._database, _row(job), {"progress": attempt.to_json()})

    # -- the end ---------------------------------------------------------------------------

    def _complete(self, job: Job, attempt: Attempt, plugin: plugins.Resource) -> Outcome:
        if attempt.action is Action.DELETE:
            if job.direction is Direction.UPDATE:
                return self._make_anew(job, attempt, plugin)
            return Gone(job=job, action=Action.DELETE)
        plugin.become(attempt.definition)
        return self._made(job, attempt, plugin, attempt.action)

    def _made(self, job: Job, attempt: Attempt, plugin: plugins.Resource, action: Action | None) -> Outcome:
        row = _row(job)
        references = [_reference(row.name, key) for key in row.wanted_attributes]
        output = _output(row, plugin.get_reference_id(), plugin.output(references))
        return Made(
            job=job,
            attempt=attempt,
            output=output,
            physical_id=plugin.resource_id,
            metadata=plugin.incarnation.metadata,
            action=action,
        )

    # -- what came out broken ----------------------------------------------------------------

    def _remove_broken(self, job: Job, attempt: Attempt) -> Outcome:
        """Delete what a create made, so that it can be made anew (Heat's action_retry_limit)."""
        delete = replace(attempt, action=Action.DELETE, token=None, started=False)
        row = resources.find(self._database, _row(job).id)  # the plugin has learnt its physical id since
        if row is None or not self._save(job, delete):
            return Lost(job=job)
        return self._guarded(changed(job, resource=row), delete, self._start)

    def _make_anew(self, job: Job, attempt: Attempt, plugin: plugins.Resource) -> Outcome:
        """Create again what was deleted because it was broken, after a growing, uneven pause."""
        create = replace(
            attempt, action=Action.CREATE, token=None, started=False, retries=attempt.retries + 1
        )
        row = _row(job)
        if not checks.try_write(self._database, row, {"physical_id": None, "progress": create.to_json()}):
            return Lost(job=job)
        job = changed(job, resource=changed(row, physical_id=None))
        delay = min(2.0**attempt.retries, MAX_DELAY) * random.uniform(0.5, 1.5)
        return Waiting(job=job, attempt=create, plugin=plugin, token=None, delay=delay)

    # -- around a plugin ---------------------------------------------------------------------

    def _guarded(self, job: Job, attempt: Attempt, act: Any) -> Outcome:
        """Run plugin code; whatever it raises becomes an outcome."""
        try:
            outcome: Outcome = act(job, attempt)
        except plugins.UpdateReplace:
            return self._replace(job, attempt)
        except errors.StaleWrite:
            return Lost(job=job)
        except errors.StorageError:
            raise  # a fault of ours is never a failure of the resource's
        except Exception as error:
            if self._worth_another(attempt, error):
                LOG.info("%s: %s; making %s anew", job.node, error, _row(job).name)
                return self._remove_broken(job, attempt)
            expected = isinstance(error, errors.HeatconvError)
            LOG.warning(
                "%s: %s of %s failed: %s",
                job.node,
                attempt.action,
                _row(job).name,
                error,
                exc_info=not expected,
            )
            reason = f"{type(error).__name__}: resources.{_row(job).name}: {error}"
            return Failed(job=job, action=attempt.action, reason=reason, definition=attempt.definition)
        return outcome

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
        plugin = self._registry.get(definition.type)(row.name, definition, _facts(job))
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


class RowKeeper:
    """Keeps what a plugin learns in its row, at once, while the row is held."""

    def __init__(self, database: Database, row: Resource) -> None:
        self._database = database
        self._row = row

    def set_physical_id(self, physical_id: str | None) -> None:
        """Keep the id of the thing that was made."""
        self._write("physical_id", physical_id)

    def set_data(self, data: Mapping[str, str]) -> None:
        """Keep the plugin's own notes."""
        self._write("data", dict(data))

    def set_metadata(self, metadata: Mapping[str, Any]) -> None:
        """Keep the metadata."""
        self._write("metadata", dict(metadata))

    def _write(self, column: str, value: Any) -> None:
        if not checks.try_write(self._database, self._row, {column: value}):
            raise errors.StaleWrite(entity=f"resource {self._row.id}")


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
