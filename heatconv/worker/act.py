# SPDX-License-Identifier: Apache-2.0
"""Drive a resource's plugin through one action, with no transaction open.

What a plugin learns is written the moment it is known, fenced by the claim; an
action that is not finished at once comes back as ``Waiting``, to be polled.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any, assert_never

from heatconv import errors
from heatconv.db.convergence import actions, resources, sync_points
from heatconv.db.convergence.traversal_ends import NO_CHECK
from heatconv.db.plumbing.session import Database
from heatconv.model import deletion, tokens
from heatconv.model.definition import Definition
from heatconv.model.endings import Failed, Gone, Made, Passed, Visited
from heatconv.model.ids import new_id
from heatconv.model.nodes import Direction
from heatconv.model.records import Attempt, Job, ResourceRow, changed
from heatconv.model.secrets import account, sentence
from heatconv.model.states import VISITS, Action, DeletionPolicy, Status
from heatconv.model.steps import Compare, Fail, Remove, Replace, Resume, Skip, Start, Step, Unchanged
from heatconv.resources import resource as plugins
from heatconv.resources.clients.status import http_status
from heatconv.resources.gone import is_gone
from heatconv.resources.registry import Registry
from heatconv.worker import faults, handover, late, outputs, setbacks
from heatconv.worker.endings import Ending, Lost, Waiting
from heatconv.worker.keeper import Orphaned, nothing_unknown
from heatconv.worker.looks import has_arrived, insist_on_life, is_whole, leaves_unknown
from heatconv.worker.plugin_factory import PluginFactory

LOG = logging.getLogger(__name__)

FIRST_DELAY, MAX_DELAY, GROWTH = 0.5, 10.0, 1.4  #: seconds between polls, unless the plugin says
GROWING = 10  #: polls after which the delay grows no more, so that the power of a large number is never taken

#: What a newer wish may give up; that of a resource that came out broken is a DELETE.
_OVERTAKEN = frozenset({Action.CREATE, Action.UPDATE, Action.DELETE})

Act = Callable[[Job, Attempt], Ending]


class Actor:
    """Takes the steps that ``decide`` found, through the plugins of a registry."""

    def __init__(
        self,
        database: Database,
        registry: Registry,
        plugin_factory: PluginFactory,
        *,
        retry_limit: int,
        client_retry_limit: int,
    ) -> None:
        """Keep what is handed in.

        Args:
            retry_limit: how often what came out broken is made anew.
            client_retry_limit: how often in a row a service may not take a call.
        """
        self._database = database
        self._registry = registry
        self._plugins = plugin_factory
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
            return setbacks.lost(waiting.job, waiting.attempt, plugin)
        left = deletion.given_up(job.stack, job.row)
        if left is not None:
            return self._guarded(job, left, lambda *_: self._leave(job, waiting.attempt, left, waiting))
        if self._is_overtaken(job, waiting):
            return Lost(job=job)  # whoever takes it up has the newer definition's inputs
        if waiting.replaces:
            return self._guarded(job, waiting.attempt, self._make_replacement, waiting)
        if plugin is None:
            return self._guarded(job, waiting.attempt, self._resume)
        return self._guarded(waiting.job, waiting.attempt, lambda *_: self._look(waiting, plugin), waiting)

    # -- steps ---------------------------------------------------------------------------

    def _start(self, job: Job, attempt: Attempt) -> Ending:
        stopped = self._stop_at("pre", job, attempt)
        if stopped is not None:
            return stopped
        plugin = self._plugins.make(job, attempt.definition)
        if attempt.action is Action.DELETE and plugin.resource_id is None:
            _find(plugin)
        if attempt.action is Action.CHECK and job.stack.action is not Action.CHECK:
            insist_on_life(plugin)
        if attempt.action is Action.CHECK and not plugin.implements("handle_check"):
            return Visited(job=job, action=Action.CHECK, reason=f"{NO_CHECK} for {job.row.type}")
        noted = self._note_instant(job, attempt, plugin)
        if noted is None:
            return Lost(job=job)
        attempt = noted
        try:
            with nothing_unknown(plugin):
                token = plugin.start(attempt.action, *_arguments(attempt))
        except Exception as error:
            if attempt.action is Action.DELETE and attempt.again and is_gone(plugin, error):
                return self._complete(job, attempt, plugin)
            raise
        return self._wait_first(job, attempt, plugin, token)

    # -- what others began ------------------------------------------------------------------

    def _resume(self, job: Job, attempt: Attempt) -> Ending:
        """Take over: go on with the token; without one, with what can be found out, and never with a guess.

        That a token was lost is no failure.  What was made is undone and made anew
        unless it is seen to be whole; whatever else was begun is begun again.
        """
        LOG.info("stack %s: %s: taking up its %s", job.stack.id, job.node, attempt.action)
        if job.row.hook is not None:
            return setbacks.paused(job, attempt)
        plugin = self._plugins.make(job, attempt.definition)
        if attempt.started and not attempt.lost:
            return self._look(setbacks.waiting_for(job, attempt, plugin, attempt.token), plugin)
        attempt = changed(attempt, started=False, lost=False, again=True)
        match attempt.action:
            case Action.CREATE:
                return self._resume_create(job, attempt, plugin)
            case Action.UPDATE:
                return self._resume_update(job, attempt, plugin)
            case Action.SNAPSHOT:
                return self._resume_snapshot(job, attempt, plugin)
            case Action.DELETE if plugin.delete_kind() is plugins.DeleteKind.SNAPSHOT:
                return self._start(job, changed(attempt, begun=True))
            case _:
                return self._start(job, attempt)

    def _resume_create(self, job: Job, attempt: Attempt, plugin: plugins.Resource) -> Ending:
        if plugin.resource_id is None:
            _find(plugin)
        if plugin.comes_late:
            attempt = changed(attempt, unheard=late.LOOKS)
        # What gives way may be there as an older wish had it: it is told of this one again.
        if plugin.resource_id is None or plugin.gives_way or plugin.definition.external_id is not None:
            return self._guarded(job, attempt, self._start)
        if plugin.goes_on():
            going = changed(attempt, started=True)
            return self._look(setbacks.waiting_for(job, going, plugin, plugin.token_of()), plugin)
        if is_whole(plugin):
            self._is_alone(job, attempt, plugin)
            return self._complete(job, attempt, plugin)
        LOG.info("stack %s: %s: its create was interrupted; making it anew", job.stack.id, job.node)
        return self._undo(job, attempt)

    def _resume_update(self, job: Job, attempt: Attempt, wanted: plugins.Resource) -> Ending:
        row = job.row
        if row.handover is not None:
            return self._compare(job, attempt)
        if row.applied is not None and not wanted.goes_by_what_it_finds and not wanted.gives_way:
            update = self._plugins.make(job, row.applied).plan_update(attempt.definition)
            if update is not None and has_arrived(wanted, update):
                return self._complete(job, attempt, wanted)
        return self._compare(job, attempt)

    def _resume_snapshot(self, job: Job, attempt: Attempt, plugin: plugins.Resource) -> Ending:
        """Take the snapshot again; the one that was begun goes, if the plugin noted what it was."""
        if attempt.begun and attempt.notes != plugin.data() and plugin.implements("handle_delete_snapshot"):
            try:
                plugin.handle_delete_snapshot(plugin.prepare_abandon())
            except Exception as error:
                if not is_gone(plugin, error):
                    raise
            attempt = changed(attempt, begun=False)
        return self._start(job, attempt)

    def _undo(self, job: Job, attempt: Attempt) -> Ending:
        """Delete what an interrupted create made, whatever its policy: nobody was ever given it."""
        definition = attempt.definition.changed(deletion_policy=DeletionPolicy.DELETE)
        return self._remove(job, changed(attempt, definition=definition))

    def _note_instant(self, job: Job, attempt: Attempt, plugin: plugins.Resource) -> Attempt | None:
        """Save that something is asked for which nobody could find again, before it is asked for.

        If it was asked for before, an event tells what that may have left behind.
        Costs nothing where a type can be searched.  Returns the attempt with that, None
        if the row is not held any more.
        """
        unknown = leaves_unknown(plugin, attempt)
        if unknown is None:
            return attempt
        if attempt.begun:
            LOG.warning("stack %s: %s: %s", job.stack.id, job.node, unknown)
            return attempt if actions.try_tell(self._database, job.row, attempt, unknown) else None
        if attempt.action is Action.DELETE:
            return attempt
        noted = changed(attempt, begun=True, notes=plugin.data())
        return noted if self._save(job, noted) else None

    def _take_up(self, job: Job, attempt: Attempt, newer: Attempt | None) -> Ending:
        if newer is not None and job.direction is Direction.CLEANUP:
            return self._guarded(job, newer, lambda *_: self._leave(job, attempt, newer))
        if newer is None or attempt.action not in _OVERTAKEN:
            return self._guarded(job, attempt, self._resume)
        if not self._gives_way(attempt):
            return self._guarded(job, attempt, lambda *_: self._overtake(job, attempt, newer))
        if not self._registry.may_become(attempt.definition, newer.definition):
            # Not even looked at any more: the stack may not have the template any more that it is made of.
            return self._replace(job, newer)
        return self._guarded(job, newer, self._renew)

    def _gives_way(self, attempt: Attempt) -> bool:
        """Tell whether what is newly wanted need not wait for an action that is under way."""
        type_ = self._registry.get(attempt.definition.implemented_by)
        return type_.gives_way and attempt.action in (Action.CREATE, Action.UPDATE)

    def _is_overtaken(self, job: Job, waiting: Waiting) -> bool:
        """Tell whether it is time for a newer wish that nobody has held against an action yet.

        One whose token only its worker has is not held against it: nobody could take it up.
        """
        row, attempt = job.row, waiting.attempt
        if row.desired_sha1 in (None, attempt.sha1, attempt.overtaken_by):
            return False
        if attempt.action not in _OVERTAKEN or (attempt.token is None and waiting.token is not None):
            return False
        ready = sync_points.ready_nodes(self._database, row.id)
        return ready is not None and any(node.direction is Direction.UPDATE for node in ready[2])

    def _overtake(self, job: Job, attempt: Attempt, newer: Attempt) -> Ending:
        """Give an action up for another incarnation if that is what a newer wish takes; else let it end."""
        if attempt.overtaken_by == newer.sha1:
            return self._resume(job, attempt)
        if self._is_in_vain(job, attempt, newer.definition):
            LOG.info("stack %s: %s: its %s is given up", job.stack.id, job.node, attempt.action)
            if attempt.started and attempt.action is not Action.DELETE:
                self._plugins.make(job, attempt.definition).cancel(attempt.action, attempt.token)
            noted = not attempt.begun or self._note_instant(
                job, attempt, self._plugins.make(job, attempt.definition)
            )
            if not noted:
                return Lost(job=job)
            return self._replace(job, newer)
        waits = changed(attempt, overtaken_by=newer.sha1)
        reason = f"waiting for its {job.row.action} under way to end, to be changed then"
        if not actions.try_write(
            self._database, job.row, {"progress": waits.to_json(), "status_reason": reason}
        ):
            return Lost(job=job)
        return self._resume(job, waits)

    def _is_in_vain(self, job: Job, attempt: Attempt, wanted: Definition) -> bool:
        """Tell whether what an action makes would be replaced at once, or may be given up for a change."""
        if "replace" in wanted.restricted_actions:
            return False
        if not self._registry.may_become(attempt.definition, wanted):
            return True
        plugin = self._plugins.make(job, attempt.definition)
        try:
            update = plugin.plan_update(wanted)
        except plugins.UpdateReplace:
            return True
        except Exception as error:  # noqa: BLE001 - a plugin may raise anything; it will again when it is time
            LOG.info(
                "%s: what a newer wish takes is not known: %s", job.node, sentence(str(error), job.secrets)
            )
            return False
        may_be_given_up = attempt.action is Action.CREATE and plugin.implements("handle_create_cancel")
        return update is not None and may_be_given_up

    def _leave(self, job: Job, deleting: Attempt, left: Attempt, waiting: Waiting | None = None) -> Ending:
        """Give up a deletion that is under way, and leave what there is left of the physical resource."""
        if deleting.started:
            plugin, token = (waiting.plugin, waiting.token) if waiting else (None, deleting.token)
            (plugin or self._plugins.make(job, deleting.definition)).cancel(Action.DELETE, token)
        LOG.info("stack %s: %s: its deletion is given up", job.stack.id, job.node)
        if not actions.try_leave(self._database, job.row, left):
            return Lost(job=job)
        return self._start(job, left)

    def _renew(self, job: Job, newer: Attempt) -> Ending:
        """Turn the action that is under way to what is wanted by now."""
        if newer.action is Action.UPDATE:
            return self._compare(job, newer)
        if not actions.try_begin(self._database, job.row, newer):
            return Lost(job=job)
        return self._start(job, newer)

    def _unchanged(self, job: Job, attempt: Attempt) -> Ending:
        row = job.row
        type_ = self._registry.get(attempt.definition.implemented_by)
        if type_.changes_with_every_update or type_.gives_way:  # what is inside it may be different
            return self._compare(job, attempt)
        if row.handover is not None:
            return self._compare(job, attempt)
        if "pre-update" in attempt.definition.hooks:
            return self._compare(job, attempt)
        if set(row.wanted_attributes) <= row.attributes.keys():
            return Made(
                job=job,
                attempt=attempt,
                output=outputs.output_of(row, row.reference_id, row.attributes, attempt.definition.secrets),
                physical_id=row.physical_id,
                action=None,
            )
        return outputs.made(job, attempt, self._plugins.make(job, attempt.definition), None)

    def _compare(self, job: Job, attempt: Attempt) -> Ending:
        stopped = self._stop_at("pre", job, attempt)
        if stopped is not None:
            return stopped  # with its state as it was: nothing is begun before somebody lets it
        if job.row.handover is not None:
            return self._take_back(job, attempt)
        row = job.row
        if row.applied is None or not self._registry.may_become(row.applied, attempt.definition):
            raise plugins.UpdateReplace(row.name)
        plugin = self._plugins.make(job, row.applied)
        update = plugin.plan_update(attempt.definition)
        if update is None:
            return outputs.made(job, attempt, self._plugins.make(job, attempt.definition), None)
        if "update" in attempt.definition.restricted_actions:
            return setbacks.restricted(job, attempt, "update")
        if not actions.try_begin(self._database, row, attempt):
            return Lost(job=job)
        with nothing_unknown(plugin):
            token = plugin.start(Action.UPDATE, update.json_snippet, update.tmpl_diff, update.prop_diff)
        return self._wait_first(job, attempt, plugin, token)

    def _replace(self, job: Job, attempt: Attempt) -> Ending:
        if "replace" in attempt.definition.restricted_actions:
            return setbacks.restricted(job, attempt, "replace")
        waiting = changed(setbacks.waiting_for(job, attempt, None, None), replaces=True)
        return self._guarded(job, attempt, self._make_replacement, waiting)

    def _make_replacement(self, job: Job, attempt: Attempt) -> Ending:
        try:
            handover.hand_over(self._database, job, self._plugins.make)
        except plugins.PollDelay as delayed:
            waiting = changed(setbacks.waiting_for(job, attempt, None, None), replaces=True)
            return setbacks.later(waiting, delayed.period)
        except handover.Refused as refused:
            said = f"It cannot hand over to a replacement: {sentence(str(refused), job.secrets)}"
            return setbacks.not_begun(job, attempt, f"resources.{job.row.name}: {said}", said)
        create = changed(attempt, action=Action.CREATE, token=None, started=False)
        new_job = actions.try_replace(self._database, job, new_id(), Replace(create))
        if new_job is None:
            return Lost(job=job)
        LOG.info("stack %s: %s: replaced by %s", job.stack.id, job.node, new_job.row.id)
        return self._guarded(new_job, create, self._start)

    def _take_back(self, job: Job, attempt: Attempt) -> Ending:
        """Take back what was handed over to a replacement, and compare then."""
        try:
            back = handover.take_back(self._database, job, self._plugins.make)
        except plugins.PollDelay as delayed:
            return setbacks.later(setbacks.waiting_for(job, attempt, None, None), delayed.period)
        except handover.Busy:
            return setbacks.later(setbacks.waiting_for(job, attempt, None, None), handover.BUSY)
        return self._guarded(back, attempt, self._compare)

    def _stop_at(self, when: str, job: Job, attempt: Attempt) -> Ending | None:
        """Wait at a breakpoint before or after an action, if there is one and it was not passed yet."""
        hook = f"{when}-{attempt.action.lower()}"
        if hook not in attempt.definition.hooks or hook in attempt.passed:
            return None
        if attempt.action is Action.DELETE and job.direction is Direction.UPDATE:
            return None  # of something broken, to be made anew
        attempt = changed(attempt, passed=(*attempt.passed, hook))
        if not actions.try_pause(self._database, job.row, hook, attempt):
            return Lost(job=job)
        LOG.info("stack %s: %s waits until %s is cleared", job.stack.id, job.node, hook)
        return setbacks.paused(job, attempt)

    # -- waiting --------------------------------------------------------------------------

    def _wait_first(self, job: Job, attempt: Attempt, plugin: plugins.Resource, token: Any) -> Ending:
        """Look once; only what is not finished at once has its token saved."""
        started = _kept(job, changed(attempt, started=True), token)
        if token is not None and not self._save(job, started, plugin):
            return setbacks.lost(job, attempt, plugin)
        waiting = setbacks.waiting_for(job, started, plugin, token)
        ending = self._guarded(job, started, lambda *_: self._look(waiting, plugin), waiting)
        if token is None and isinstance(ending, Waiting) and not self._save(job, started, plugin):
            return setbacks.lost(job, attempt, plugin)
        return ending

    def _look(self, waiting: Waiting, plugin: plugins.Resource) -> Ending:
        job, attempt = waiting.job, changed(waiting.attempt, faults=0)
        delay = min(FIRST_DELAY * GROWTH ** min(waiting.polls, GROWING), MAX_DELAY)
        try:
            with nothing_unknown(plugin):
                complete = plugin.is_complete(attempt.action, waiting.token)
            if complete and self._is_alone(job, attempt, plugin):
                return self._complete(job, attempt, plugin)
            if complete:
                delay, attempt = late.pause(attempt.unheard), late.looked(attempt)
        except plugins.PollDelay as delayed:
            delay = float(delayed.period)
        if setbacks.is_overdue(job):
            plugin.cancel(attempt.action, waiting.token)
            return setbacks.timed_out(job, attempt)
        now = _kept(job, attempt, waiting.token)
        if (now.token, now.lost) != (attempt.token, attempt.lost):
            attempt = now
            if not self._save(job, attempt, plugin):
                return setbacks.lost(job, attempt, plugin)
        return changed(waiting, attempt=attempt, delay=delay, polls=waiting.polls + 1)

    def _save(self, job: Job, attempt: Attempt, plugin: plugins.Resource | None = None) -> bool:
        """Write how far an action is, and by what id its plugin knows what it is about."""
        known = {"physical_id": plugin.resource_id} if plugin is not None and plugin.only_here else {}
        return actions.try_write(self._database, job.row, {"progress": attempt.to_json(), **known})

    def _reread(self, job: Job) -> Job | None:
        """Return a job with its row as it is now; None if it is not held any more."""
        held, row = job.row, resources.find(self._database, job.row.id)
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
            return self._deleted(job, attempt, plugin)
        if attempt.action is Action.ADOPT:
            attempt = changed(attempt, definition=attempt.definition.changed(adopt=None))
        plugin.become(attempt.definition)
        return outputs.made(job, attempt, plugin, attempt.action)

    def _deleted(self, job: Job, attempt: Attempt, plugin: plugins.Resource) -> Ending:
        if attempt.unheard and late.is_possible(plugin):
            more = self._delete_more(job, attempt, plugin)
            if more is not None:
                return more
        if job.direction is Direction.UPDATE:
            return self._make_anew(job, attempt)
        return Gone(job=job, action=Action.DELETE)

    def _delete_more(self, job: Job, attempt: Attempt, plugin: plugins.Resource) -> Ending | None:
        """Go on with what was made beside what is deleted by now, or may yet be made."""
        again = changed(attempt, token=None, started=False)
        found = late.found(plugin)
        if found is None:
            looked, delay = late.looked(again), late.pause(attempt.unheard)
            later = Waiting(job=job, attempt=looked, plugin=None, token=None, delay=delay)
            return later if job.direction is Direction.CLEANUP else None
        if not self._save(job, again):
            return Lost(job=job)
        plugin.resource_id_set(found)
        return Waiting(job=job, attempt=again, plugin=None, token=None, delay=0)

    def _is_alone(self, job: Job, attempt: Attempt, plugin: plugins.Resource) -> bool:
        """Tell whether there is nothing beside what a create made; what was made late is removed."""
        if attempt.action is not Action.CREATE or not attempt.unheard:
            return True
        return late.is_alone(plugin, lambda: self._plugins.make(job, attempt.definition))

    # -- what came out broken ----------------------------------------------------------------

    def _remove_broken(self, job: Job, attempt: Attempt) -> Ending:
        """Delete what a create made, so that it can be made anew (Heat's action_retry_limit)."""
        return self._remove(job, changed(attempt, retries=attempt.retries + 1))

    def _remove(self, job: Job, attempt: Attempt) -> Ending:
        delete = changed(attempt, action=Action.DELETE, token=None, started=False, begun=False)
        now = self._reread(job) if self._save(job, delete) else None
        return Lost(job=job) if now is None else self._guarded(now, delete, self._start)

    def _make_anew(self, job: Job, attempt: Attempt) -> Ending:
        """Create again what was deleted because it was broken, after a growing, uneven pause."""
        row = job.row
        definition = attempt.definition.changed(deletion_policy=_policy(row, attempt.definition))
        create = changed(
            attempt, action=Action.CREATE, definition=definition, token=None, started=False, again=False
        )
        forgotten = {"physical_id": None, "progress": create.to_json()}
        if not actions.try_write(self._database, row, forgotten):
            return Lost(job=job)
        delay = faults.pause(attempt.retries - 1) if attempt.retries else 0
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
        what = f"stack {job.stack.id}: {job.node}: {attempt.action} of {job.row.name}"
        secrets = job.secrets.union(attempt.definition.secrets)
        said = sentence(str(error), secrets)
        # That no engine answered is a fault of ours: however often, it is no failure of the resource's.
        ours = isinstance(error, errors.TransportError)
        patient = attempt.faults < self._client_retry_limit
        if ours or (patient and faults.is_passing(error, attempt.action)):
            LOG.info("%s: %s; trying again", what, said)
            if not attempt.faults:
                self._show_fault(job, said)
            return setbacks.again(job, attempt, error, waiting)
        if patient and self._came_late(job, attempt):
            LOG.info("%s: %s; but what was asked for before is there by now", what, said)
            return setbacks.again(job, attempt, error, waiting)
        if self._worth_another(attempt, error):
            LOG.info("%s: %s; making it anew", what, said)
            return self._remove_broken(job, attempt)
        if attempt.action is Action.DELETE and self._never_made(job, attempt):
            LOG.info("%s: %s; but there is nothing to delete", what, said)
            return self._deleted(job, attempt, self._plugins.make(job, attempt.definition))
        # What a service answered tells enough; where it was asked is of no use to anybody.
        expected = isinstance(error, errors.HeatconvError) or http_status(error) is not None
        LOG.warning("%s failed: %s", what, said if expected else account(error, secrets))
        reason = sentence(str(setbacks.failure_of(error, job.row.name)), secrets)
        return Failed(
            job=job,
            action=attempt.action,
            reason=reason,
            definition=attempt.definition,
            overtaken=_is_of_an_older_wish(job, attempt),
        )

    def _show_fault(self, job: Job, said: str) -> None:
        """Show why an action waits; if the row is not held any more, whoever looks next finds out."""
        now = resources.find(self._database, job.row.id)
        if now is not None and now.status is Status.IN_PROGRESS:
            actions.try_write(self._database, job.row, {"status_reason": f"{said}; trying again"})

    def _never_made(self, job: Job, attempt: Attempt) -> bool:
        """Tell whether nothing was made: no create was ever completed, and nobody knows or finds an id."""
        row = resources.find(self._database, job.row.id)
        if row is None or row.physical_id is not None or row.applied_sha1 is not None:
            return False
        return self._finds(job, attempt) is False

    def _came_late(self, job: Job, attempt: Attempt) -> bool:
        """Tell whether a create fails since the one before it, which nobody heard of, was carried out."""
        if attempt.action is not Action.CREATE or not attempt.unheard:
            return False
        row = resources.find(self._database, job.row.id)
        return row is not None and row.physical_id is None and self._finds(job, attempt) is True

    def _finds(self, job: Job, attempt: Attempt) -> bool | None:
        """Tell whether what a create made is found; None if nobody knows."""
        try:
            return self._plugins.make(job, attempt.definition).find_existing() is not None
        except Exception as error:  # noqa: BLE001 - a plugin may raise anything
            LOG.info("%s: %s; nobody knows whether it was made", job.node, account(error, job.secrets))
            return None

    def _worth_another(self, attempt: Attempt, error: Exception) -> bool:
        return (
            attempt.action is Action.CREATE
            and isinstance(error, errors.ResourceError)
            and error.retryable
            and attempt.retries < self._retry_limit
        )


def _find(plugin: plugins.Resource) -> None:
    """Look for what an interrupted create may have made."""
    found = plugin.find_existing()
    if found is not None:
        plugin.resource_id_set(found)


def _is_of_an_older_wish(job: Job, attempt: Attempt) -> bool:
    """Tell whether an action was taken up for a node that wants something else than the action makes."""
    taken_up = job.direction is Direction.UPDATE and attempt.action in _OVERTAKEN
    return taken_up and job.row.desired_sha1 not in (None, attempt.sha1)


def _arguments(attempt: Attempt) -> tuple[Any, ...]:
    """Return what starting an action takes beside its name."""
    return (dict(attempt.definition.adopt or {}),) if attempt.action is Action.ADOPT else ()


def _reached(job: Job, wanted: Definition, requires: Mapping[str, int]) -> Attempt:
    """Return the update that would make a row as wanted, be there anything to do or not."""
    sha1 = job.row.desired_sha1 or ""
    return Attempt(action=Action.UPDATE, definition=wanted, sha1=sha1, requires=requires)


def _next_action(job: Job) -> Action:
    row = job.row
    if job.stack.action in VISITS:
        return job.stack.action
    made = row.action is not Action.INIT and not (
        row.action is Action.CREATE and row.status is not Status.COMPLETE
    )
    return Action.UPDATE if made else Action.CREATE


def _kept(job: Job, attempt: Attempt, token: Any) -> Attempt:
    """Return an attempt with a copy of its token as that can be saved."""
    try:
        return changed(attempt, token=tokens.copied(token), lost=False)
    except tokens.NotSaved as part:
        if not attempt.lost:
            LOG.warning(
                "%s: the plugin's token cannot be saved (%s); if this worker dies, its %s is begun again",
                job.node,
                part,
                attempt.action,
            )
        return changed(attempt, token=None, lost=True)


def _policy(row: ResourceRow, definition: Definition) -> DeletionPolicy:
    """Return what becomes of a thing by the definition that it is made of, not by that of an undone try."""
    return definition.deletion_policy if row.desired is None else row.desired.deletion_policy
