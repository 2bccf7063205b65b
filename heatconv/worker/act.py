# SPDX-License-Identifier: Apache-2.0
"""Drive a resource's plugin through one action, with no transaction open.

What a plugin learns is written the moment it is known, fenced by the claim; an
action that is not finished at once comes back as ``Waiting``, to be polled.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, assert_never

from heatconv import errors
from heatconv.db import checks, resources
from heatconv.db.session import Database
from heatconv.db.software import ProjectSoftware
from heatconv.db.software_configs import Quotas
from heatconv.db.traversals import NO_CHECK
from heatconv.model.deferred import Reference
from heatconv.model.definition import Definition
from heatconv.model.ids import new_id
from heatconv.model.nodes import Direction, NodeData
from heatconv.model.records import Attempt, Job, Resource, Stack, changed
from heatconv.model.secrets import account, found_in, redacted_values, sentence
from heatconv.model.states import VISITS, Action, Status
from heatconv.model.steps import Compare, Fail, Remove, Replace, Resume, Skip, Start, Step, Unchanged
from heatconv.resources import resource as plugins
from heatconv.resources.facts import Incarnation, Peer, StackFacts, Unkept
from heatconv.resources.registry import Registry
from heatconv.rpc.engine_client import EngineClient
from heatconv.worker import faults
from heatconv.worker.endings import Ending, Failed, Gone, Lost, Made, Passed, Visited, Waiting
from heatconv.worker.keeper import Orphaned, RowKeeper, nothing_unknown
from heatconv.worker.nested import OwnedStacks

LOG = logging.getLogger(__name__)

FIRST_DELAY, MAX_DELAY, GROWTH = 0.5, 10.0, 1.4  #: seconds between polls, unless the plugin says

PAUSE = 60.0  #: seconds until an action at a breakpoint looks, unless it is woken

Act = Callable[[Job, Attempt], Ending]


SignalUrl = Callable[[Stack, str], str]  #: of a stack and the name of a resource in it


def no_signal_url(_stack: Stack, name: str) -> str:
    """Refuse to tell where a signal can be sent, where nobody could receive one."""
    raise errors.NotSupported(feature=f"Sending signals to resource {name} here")


class Actor:
    """Takes the steps that ``decide`` found, through the plugins of a registry."""

    def __init__(
        self,
        database: Database,
        registry: Registry,
        *,
        retry_limit: int,
        client_retry_limit: int,
        signal_url: SignalUrl,
        software_quotas: Quotas,
        engine: EngineClient | None,
    ) -> None:
        """Keep what is handed in.

        Args:
            retry_limit: how often what came out broken is made anew.
            client_retry_limit: how often in a row a service may not take a call.
            signal_url: where a signal to a stack's resource of some name can be sent.
            software_quotas: how many software configs and deployments a project may have.
            engine: who makes nested stacks; None where there are none.
        """
        self._software_quotas = software_quotas
        self._engine = engine
        self._database = database
        self._registry = registry
        self._signal_url = signal_url
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
                said = sentence(reason, job.secrets)
                return Failed(job=job, action=_next_action(job), reason=said, definition=None)
            case Start(attempt):
                return self._guarded(job, attempt, self._start)
            case Resume(attempt, newer):
                return self._take_up(job, attempt, newer)
            case Unchanged(wanted, requires):
                return self._guarded(job, _reached(job, wanted, requires), self._unchanged)
            case Compare(wanted, requires):
                return self._guarded(job, _reached(job, wanted, requires), self._compare)
            case Replace(attempt):
                return self._replace(job, attempt)
        assert_never(step)

    def asks_engine(self, job: Job) -> bool:
        """Tell whether acting on a job's row is to wait for the answers of an engine."""
        row = job.resource
        definition = None if row is None else row.desired or row.applied
        return definition is not None and self._registry.asks_engine(definition.implemented_by)

    def poll(self, waiting: Waiting) -> Ending:
        """Look again at an action that goes on, if it still is this worker's.

        One that was stopped for a while may find it taken over, and must not
        repeat what a newer wish has changed.
        """
        plugin, job = waiting.plugin, self._reread(waiting.job)
        if job is None:
            return _lost(waiting.job, waiting.attempt, plugin)
        if plugin is None:
            return self._guarded(job, waiting.attempt, self._resume)
        return self._guarded(waiting.job, waiting.attempt, lambda *_: self._look(waiting, plugin), waiting)

    def remove_orphan(self, orphan: plugins.Resource, known: str | None) -> bool:
        """Delete what was made when the lock had been broken already, and nobody else has found.

        Args:
            orphan: the plugin that made it, or may have.
            known: the physical id that the row has now.

        Returns whether nothing of it is left; if not, this is to be called again.
        """
        try:
            made = orphan.resource_id or orphan.find_existing()
            if made is None or made == known:
                return True
            LOG.warning("removing %s (%s), which was made without a lock", orphan, made)
            orphan.attach(replace(orphan.incarnation, physical_id=made), Unkept())
            return orphan.is_complete(Action.DELETE, orphan.start(Action.DELETE))
        except plugins.PollDelay:
            return False
        except Exception as error:  # noqa: BLE001 - whatever it was, it is tried again
            LOG.warning(
                "%s was made without a lock and could not be removed yet: %s",
                orphan,
                account(error, orphan.definition.secrets),
            )
            return False

    # -- steps ---------------------------------------------------------------------------

    def _start(self, job: Job, attempt: Attempt) -> Ending:
        stopped = self._stop_at("pre", job, attempt)
        if stopped is not None:
            return stopped
        plugin = self._plugin(job, attempt.definition)
        if attempt.action is Action.DELETE and plugin.resource_id is None:
            _find(plugin)
        if attempt.action is Action.CHECK and not plugin.implements("handle_check"):
            return Visited(job=job, action=Action.CHECK, reason=f"{NO_CHECK} for {_row(job).type}")
        with nothing_unknown(plugin):
            token = plugin.start(attempt.action, *_arguments(attempt))
        return self._wait_first(job, attempt, plugin, token)

    def _resume(self, job: Job, attempt: Attempt) -> Ending:
        """Take over: the token, else the physical id, else what can be found, else start again."""
        LOG.info("stack %s: %s: taking up its %s", job.stack.id, job.node, attempt.action)
        if _row(job).hook is not None:
            return _timed_out(job, attempt) if _is_overdue(job) else _paused(job, attempt)
        if attempt.action is Action.UPDATE and not attempt.started:
            return self._compare(job, attempt)
        plugin = self._plugin(job, attempt.definition)
        if attempt.started:
            return self._look(_waiting(job, attempt, plugin, attempt.token), plugin)
        if attempt.action is Action.CREATE and plugin.resource_id is None:
            _find(plugin)
        # What gives way may be there as an older wish had it: it is told of this one again.
        if attempt.action is Action.CREATE and plugin.resource_id is not None and not plugin.gives_way:
            return self._look(_waiting(job, changed(attempt, started=True), plugin, None), plugin)
        return self._start(job, attempt)

    def _take_up(self, job: Job, attempt: Attempt, newer: Attempt | None) -> Ending:
        if newer is None or not self._gives_way(attempt):
            return self._guarded(job, attempt, self._resume)
        if newer.definition.implemented_by != attempt.definition.implemented_by:
            # Not even looked at any more: the stack may not have the template any more that it is made of.
            return self._replace(job, newer)
        return self._guarded(job, newer, self._renew)

    def _gives_way(self, attempt: Attempt) -> bool:
        """Tell whether what is newly wanted need not wait for an action that is under way."""
        type_ = self._registry.get(attempt.definition.implemented_by)
        return type_.gives_way and attempt.action in (Action.CREATE, Action.UPDATE)

    def _renew(self, job: Job, newer: Attempt) -> Ending:
        """Turn the action that is under way to what is wanted by now."""
        if newer.action is Action.UPDATE:
            return self._compare(job, newer)
        if not checks.try_begin(self._database, _row(job), newer):
            return Lost(job=job)
        return self._start(job, newer)

    def _unchanged(self, job: Job, attempt: Attempt) -> Ending:
        row = _row(job)
        type_ = self._registry.get(attempt.definition.implemented_by)
        if type_.changes_with_every_update or type_.gives_way:  # what is inside it may be different
            return self._compare(job, attempt)
        if set(row.wanted_attributes) <= row.attributes.keys():
            return Made(
                job=job,
                attempt=attempt,
                output=_output(row, row.reference_id, row.attributes, attempt.definition.secrets),
                physical_id=row.physical_id,
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
        if "update" in attempt.definition.restricted_actions:
            return _restricted(job, attempt, "update")
        if not checks.try_begin(self._database, row, attempt):
            return Lost(job=job)
        stopped = self._stop_at("pre", job, attempt)
        if stopped is not None:
            return stopped
        with nothing_unknown(plugin):
            token = plugin.start(Action.UPDATE, update.json_snippet, update.tmpl_diff, update.prop_diff)
        return self._wait_first(job, attempt, plugin, token)

    def _replace(self, job: Job, attempt: Attempt) -> Ending:
        if "replace" in attempt.definition.restricted_actions:
            return _restricted(job, attempt, "replace")
        create = changed(attempt, action=Action.CREATE, token=None, started=False)
        new_job = checks.try_replace(self._database, job, new_id(), Replace(create))
        if new_job is None:
            return Lost(job=job)
        LOG.info("stack %s: %s: replaced by %s", job.stack.id, job.node, _row(new_job).id)
        return self._guarded(new_job, create, self._start)

    def _stop_at(self, when: str, job: Job, attempt: Attempt) -> Ending | None:
        """Wait at a breakpoint before or after an action, if there is one and it was not passed yet."""
        hook = f"{when}-{attempt.action.lower()}"
        if hook not in attempt.definition.hooks or hook in attempt.passed:
            return None
        if attempt.action is Action.DELETE and job.direction is Direction.UPDATE:
            return None  # of something broken, to be made anew
        attempt = changed(attempt, passed=(*attempt.passed, hook))
        if not checks.try_pause(self._database, _row(job), hook, attempt):
            return Lost(job=job)
        LOG.info("stack %s: %s waits until %s is cleared", job.stack.id, job.node, hook)
        return _paused(job, attempt)

    # -- waiting --------------------------------------------------------------------------

    def _wait_first(self, job: Job, attempt: Attempt, plugin: plugins.Resource, token: Any) -> Ending:
        """Look once; only what is not finished at once has its token saved."""
        started = changed(attempt, token=_as_json(job, token), started=True)
        if token is not None and not self._save(job, started, plugin):
            return _lost(job, attempt, plugin)
        waiting = _waiting(job, started, plugin, token)
        ending = self._guarded(job, started, lambda *_: self._look(waiting, plugin), waiting)
        if token is None and isinstance(ending, Waiting) and not self._save(job, started, plugin):
            return _lost(job, attempt, plugin)
        return ending

    def _look(self, waiting: Waiting, plugin: plugins.Resource) -> Ending:
        job, attempt = waiting.job, changed(waiting.attempt, faults=0)
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
            attempt = changed(attempt, token=token)
            if not self._save(job, attempt, plugin):
                return _lost(job, attempt, plugin)
        return changed(waiting, attempt=attempt, delay=delay, polls=waiting.polls + 1)

    def _save(self, job: Job, attempt: Attempt, plugin: plugins.Resource | None = None) -> bool:
        """Write how far an action is, and by what id its plugin knows what it is about."""
        known = {"physical_id": plugin.resource_id} if plugin is not None and plugin.only_here else {}
        return checks.try_write(self._database, _row(job), {"progress": attempt.to_json(), **known})

    def _reread(self, job: Job) -> Job | None:
        """Return a job with its row as it is now; None if it is not held any more."""
        held, row = _row(job), resources.find(self._database, _row(job).id)
        if row is None or (row.engine_id, row.atomic_key) != (held.engine_id, held.atomic_key):
            return None
        now: Job = changed(job, resource=row)
        return now

    # -- the end ---------------------------------------------------------------------------

    def _complete(self, job: Job, attempt: Attempt, plugin: plugins.Resource) -> Ending:
        if attempt.action in VISITS:
            return Visited(job=job, action=attempt.action)
        stopped = self._stop_at("post", job, attempt)
        if stopped is not None:
            return stopped
        if attempt.action is Action.DELETE:
            if job.direction is Direction.UPDATE:
                return self._make_anew(job, attempt)
            return Gone(job=job, action=Action.DELETE)
        if attempt.action is Action.ADOPT:
            attempt = changed(attempt, definition=replace(attempt.definition, adopt=None))
        plugin.become(attempt.definition)
        return self._made(job, attempt, plugin, attempt.action)

    def _made(self, job: Job, attempt: Attempt, plugin: plugins.Resource, action: Action | None) -> Ending:
        row = _row(job)
        references = [_reference(row.name, key) for key in row.wanted_attributes]
        told = plugin.FnGetRefId(), plugin.output(references)
        secrets = redacted_values(plugin.incarnation.data).union(attempt.definition.secrets)
        return Made(
            job=job,
            attempt=attempt,
            output=_output(row, *told, secrets),
            physical_id=plugin.resource_id,
            action=action,
        )

    # -- what came out broken ----------------------------------------------------------------

    def _remove_broken(self, job: Job, attempt: Attempt) -> Ending:
        """Delete what a create made, so that it can be made anew (Heat's action_retry_limit)."""
        delete = changed(attempt, action=Action.DELETE, token=None, started=False)
        now = self._reread(job) if self._save(job, delete) else None
        return Lost(job=job) if now is None else self._guarded(now, delete, self._start)

    def _make_anew(self, job: Job, attempt: Attempt) -> Ending:
        """Create again what was deleted because it was broken, after a growing, uneven pause."""
        create = changed(
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
        secrets = job.secrets.union(attempt.definition.secrets)
        said = sentence(str(error), secrets)
        # That no engine answered is a fault of ours: however often, it is no failure of the resource's.
        ours = isinstance(error, errors.TransportError)
        patient = attempt.faults < self._client_retry_limit
        if ours or (patient and faults.is_passing(error, attempt.action)):
            LOG.info("%s: %s; trying again", what, said)
            return _again(job, attempt, error, waiting)
        if self._worth_another(attempt, error):
            LOG.info("%s: %s; making it anew", what, said)
            return self._remove_broken(job, attempt)
        expected = isinstance(error, errors.HeatconvError)
        LOG.warning("%s failed: %s", what, said if expected else account(error, secrets))
        reason = f"{type(error).__name__}: resources.{_row(job).name}: {said}"
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
        plugin = self._registry.get(definition.implemented_by)(row.name, definition, self._facts(job))
        plugin.attach(Incarnation.of(row), RowKeeper(self._database, row, only_here=plugin.only_here))
        return plugin

    def _facts(self, job: Job) -> StackFacts:
        stack = job.stack
        return StackFacts(
            id=stack.id,
            name=stack.name,
            project_id=stack.project_id,
            action=stack.action,
            timeout_mins=stack.timeout_mins,
            deadline=stack.deadline,
            resource_by_refid=lambda refid: self._peer(job, refid),
            signal_url=lambda name: self._signal_url(stack, name),
            required_by=lambda name: resources.requirers(self._database, stack.id, name),
            software=ProjectSoftware(self._database, stack.project_id, self._software_quotas),
            nested=OwnedStacks(self._database, self._engine, job) if self._engine else None,
        )

    def _peer(self, job: Job, refid: str) -> Peer | None:
        """Return the resource of a reference id, of those that a job's resource requires."""
        required = {*_row(job).requires, *(data.resource_id for data in job.inputs)}
        rows = resources.get_many(self._database, required)
        return next((Peer.of(row) for row in rows if row.reference_id == refid), None)


def _again(job: Job, attempt: Attempt, error: Exception, waiting: Waiting | None) -> Ending:
    """Wait after a fault that may pass; not beyond the stack's deadline."""
    if _is_overdue(job):
        return _timed_out(job, attempt)
    faulty = changed(attempt, faults=attempt.faults + 1)
    delay = faults.pause(attempt.faults, error)
    if waiting is not None:
        return changed(waiting, attempt=faulty, delay=delay)
    return Waiting(job=job, attempt=faulty, plugin=None, token=None, delay=delay)


def _lost(job: Job, attempt: Attempt, plugin: plugins.Resource | None) -> Ending:
    """Leave an action to whoever broke the lock; what a create made too late would be nobody's."""
    return Lost(job=job, orphan=plugin if attempt.action is Action.CREATE else None)


def _paused(job: Job, attempt: Attempt) -> Ending:
    """Wait to be woken when the breakpoint is cleared; now and then, look whether we slept through that."""
    return Waiting(job=job, attempt=attempt, plugin=None, token=None, delay=PAUSE)


def _find(plugin: plugins.Resource) -> None:
    """Look for what an interrupted create may have made."""
    found = plugin.find_existing()
    if found is not None:
        plugin.resource_id_set(found)


def _restricted(job: Job, attempt: Attempt, what: str) -> Ending:
    name = _row(job).name
    reason = (
        f"ResourceActionRestricted: resources.{name}: {what} is restricted for resource {name} by the"
        " environment"
    )
    return Failed(job=job, action=attempt.action, reason=reason, definition=attempt.definition, harmless=True)


def _arguments(attempt: Attempt) -> tuple[Any, ...]:
    """Return what starting an action takes beside its name."""
    return (dict(attempt.definition.adopt or {}),) if attempt.action is Action.ADOPT else ()


def _is_overdue(job: Job) -> bool:
    return job.stack.deadline is not None and datetime.now(UTC).replace(tzinfo=None) > job.stack.deadline


def _timed_out(job: Job, attempt: Attempt) -> Ending:
    return Failed(job=job, action=attempt.action, reason="Timed out", definition=attempt.definition)


def _row(job: Job) -> Resource:
    assert job.resource is not None  # noqa: S101 - nodes without a row are passed by before
    return job.resource


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


def _output(
    row: Resource, reference_id: str | None, attributes: Mapping[str, Any], secrets: Iterable[str]
) -> NodeData:
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
        secrets=found_in([reference_id, attributes], row.secrets.union(secrets)),
    )


def _as_json(job: Job, token: Any) -> Any:
    """Return a copy of a token as it can be saved."""
    if token is None:
        return None
    try:
        return json.loads(json.dumps(token))
    except (TypeError, ValueError):
        LOG.warning(
            "%s: the plugin's token is not JSON (%s); the action cannot be taken over from this worker",
            job.node,
            type(token).__name__,
        )
        return None
