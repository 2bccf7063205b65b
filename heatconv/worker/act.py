# SPDX-License-Identifier: Apache-2.0
"""Drive a resource's plugin through one action, with no transaction open.

What a plugin learns is written the moment it is known, fenced by the claim; an
action that is not finished at once comes back as ``Waiting``, to be polled.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, assert_never

from heatconv import errors
from heatconv.db.convergence import actions
from heatconv.db.convergence.traversal_ends import NO_CHECK
from heatconv.db.plumbing.session import Database
from heatconv.model import deletion
from heatconv.model.endings import Failed, Gone, Made, Passed, Visited
from heatconv.model.nodes import Direction
from heatconv.model.records import Attempt, Job, changed
from heatconv.model.states import VISITS, Action
from heatconv.model.steps import Compare, Fail, Remove, Replace, Resume, Skip, Start, Step, Unchanged
from heatconv.resources.declared import implements
from heatconv.resources.driver import PluginDriver
from heatconv.resources.exception import PollDelay, UpdateReplace
from heatconv.resources.gone import is_gone
from heatconv.resources.registry import Registry
from heatconv.worker import deletions, late, outputs, replacement, resume, setbacks
from heatconv.worker.attempts import Attempts, arguments, kept, reached
from heatconv.worker.deletions import Deletions
from heatconv.worker.endings import Ending, Lost, Waiting
from heatconv.worker.keeper import Orphaned, nothing_unknown
from heatconv.worker.looks import insist_on_life
from heatconv.worker.mishaps import Again, Anew, Mishaps, NothingThere
from heatconv.worker.overtaking import OVERTAKEN, GivenUp, Overtaking, ToEnd
from heatconv.worker.plugin_factory import PluginFactory

LOG = logging.getLogger(__name__)

FIRST_DELAY, MAX_DELAY, GROWTH = 0.5, 10.0, 1.4  #: seconds between polls, unless the plugin says
GROWING = 10  #: polls after which the delay grows no more, so that the power of a large number is never taken

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
        self._attempts = Attempts(database)
        self._deletions = Deletions(database, self._attempts)
        self._overtaking = Overtaking(database, registry, plugin_factory)
        self._mishaps = Mishaps(
            database, plugin_factory, retry_limit=retry_limit, client_retry_limit=client_retry_limit
        )

    def take(self, job: Job, step: Step) -> Ending:
        """Take a step on a row that is held."""
        match step:
            case Skip():
                return Passed(job=job)
            case Remove():
                return Gone(job=job, action=None)
            case Fail(reason):
                return setbacks.impossible(job, reason)
            case Start(attempt):
                return self._guarded(job, attempt, self._start)
            case Resume(attempt, newer):
                return self._take_up(job, attempt, newer)
            case Unchanged(wanted, requires):
                return self._guarded(job, reached(job, wanted, requires), self._unchanged)
            case Compare(wanted, requires):
                return self._guarded(job, reached(job, wanted, requires), self._compare)
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
        driver, job = waiting.driver, self._attempts.reread(waiting.job)
        if job is None:
            return setbacks.lost(waiting.job, waiting.attempt, driver)
        left = deletion.given_up(job.stack, job.row)
        if left is not None:
            return self._guarded(job, left, lambda *_: self._leave(job, waiting.attempt, left, waiting))
        if self._overtaking.is_due(job, waiting):
            return Lost(job=job)  # whoever takes it up has the newer definition's inputs
        if waiting.replaces:
            return self._guarded(job, waiting.attempt, self._make_replacement, waiting)
        if driver is None:
            return self._guarded(job, waiting.attempt, self._resume)
        return self._guarded(waiting.job, waiting.attempt, lambda *_: self._look(waiting, driver), waiting)

    # -- steps ---------------------------------------------------------------------------

    def _start(self, job: Job, attempt: Attempt) -> Ending:
        stopped = self._attempts.stop_at("pre", job, attempt)
        if stopped is not None:
            return stopped
        driver = self._plugins.make(job, attempt.definition)
        if attempt.action is Action.DELETE and driver.plugin.resource_id is None:
            resume.find(driver.plugin)
        if attempt.action is Action.CHECK and job.stack.action is not Action.CHECK:
            insist_on_life(driver)
        if attempt.action is Action.CHECK and not implements(type(driver.plugin), "handle_check"):
            return Visited(job=job, action=Action.CHECK, reason=f"{NO_CHECK} for {job.row.type}")
        noted = self._attempts.note_instant(job, attempt, driver)
        if noted is None:
            return Lost(job=job)
        attempt = noted
        try:
            with nothing_unknown(driver):
                token = driver.start(attempt.action, *arguments(attempt))
        except Exception as error:
            if attempt.action is Action.DELETE and attempt.again and is_gone(driver.plugin, error):
                return self._complete(job, attempt, driver)
            raise
        return self._wait_first(job, attempt, driver, token)

    # -- what others began ------------------------------------------------------------------

    def _resume(self, job: Job, attempt: Attempt) -> Ending:
        """Take over from whoever began."""
        LOG.info("stack %s: %s: taking up its %s", job.stack.id, job.node, attempt.action)
        if job.row.hook is not None:
            return setbacks.paused(job, attempt)
        driver = self._plugins.make(job, attempt.definition)
        match resume.way(job, attempt, driver, self._plugins):
            case resume.GoOn(going, token):
                return self._look(setbacks.waiting_for(job, going, driver, token), driver)
            case resume.Whole(ended):
                self._is_alone(job, ended, driver)
                return self._complete(job, ended, driver)
            case resume.Begin(again):
                return self._guarded(job, again, self._start)
            case resume.Compare(again):
                return self._compare(job, again)
            case resume.Undo(broken):
                LOG.info("stack %s: %s: its create was interrupted; making it anew", job.stack.id, job.node)
                return self._remove(job, deletions.begun(broken, whatever_policy=True))

    def _take_up(self, job: Job, attempt: Attempt, newer: Attempt | None) -> Ending:
        if newer is not None and job.direction is Direction.CLEANUP:
            return self._guarded(job, newer, lambda *_: self._leave(job, attempt, newer))
        if newer is None or attempt.action not in OVERTAKEN:
            return self._guarded(job, attempt, self._resume)
        if not self._overtaking.gives_way(attempt):
            return self._guarded(job, attempt, lambda *_: self._overtake(job, attempt, newer))
        if not self._registry.may_become(attempt.definition, newer.definition):
            # Not even looked at any more: the stack may not have the template any more that it is made of.
            return self._replace(job, newer)
        return self._guarded(job, newer, self._renew)

    def _overtake(self, job: Job, attempt: Attempt, newer: Attempt) -> Ending:
        """Give an action up for another incarnation if that is what a newer wish takes; else let it end."""
        match self._overtaking.hold(job, attempt, newer):
            case GivenUp():
                return self._replace(job, newer)
            case ToEnd(waits):
                return self._resume(job, waits)
            case Lost() as lost:
                return lost

    def _leave(self, job: Job, deleting: Attempt, left: Attempt, waiting: Waiting | None = None) -> Ending:
        """Give up a deletion that is under way, and leave what there is left of the physical resource."""
        if deleting.started:
            driver, token = (waiting.driver, waiting.token) if waiting else (None, deleting.token)
            (driver or self._plugins.make(job, deleting.definition)).cancel(Action.DELETE, token)
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
        stopped = self._attempts.stop_at("pre", job, attempt)
        if stopped is not None:
            return stopped  # with its state as it was: nothing is begun before somebody lets it
        if job.row.handover is not None:
            return self._take_back(job, attempt)
        row = job.row
        if row.applied is None or not self._registry.may_become(row.applied, attempt.definition):
            raise UpdateReplace(row.name)
        driver = self._plugins.make(job, row.applied)
        update = driver.plan_update(attempt.definition)
        if update is None:
            return outputs.made(job, attempt, self._plugins.make(job, attempt.definition), None)
        if "update" in attempt.definition.restricted_actions:
            return setbacks.restricted(job, attempt, "update")
        if not actions.try_begin(self._database, row, attempt):
            return Lost(job=job)
        with nothing_unknown(driver):
            token = driver.start(Action.UPDATE, update.json_snippet, update.tmpl_diff, update.prop_diff)
        return self._wait_first(job, attempt, driver, token)

    def _replace(self, job: Job, attempt: Attempt) -> Ending:
        if "replace" in attempt.definition.restricted_actions:
            return setbacks.restricted(job, attempt, "replace")
        waiting = replacement.waiting_for(job, attempt)
        return self._guarded(job, attempt, self._make_replacement, waiting)

    def _make_replacement(self, job: Job, attempt: Attempt) -> Ending:
        taken = replacement.take_place(self._database, job, attempt, self._plugins)
        if not isinstance(taken, Job):
            return taken
        return self._guarded(taken, replacement.created(attempt), self._start)

    def _take_back(self, job: Job, attempt: Attempt) -> Ending:
        """Take back what was handed over to a replacement, and compare then."""
        back = replacement.take_back(self._database, job, attempt, self._plugins)
        return self._guarded(back, attempt, self._compare) if isinstance(back, Job) else back

    # -- waiting --------------------------------------------------------------------------

    def _wait_first(self, job: Job, attempt: Attempt, driver: PluginDriver, token: Any) -> Ending:
        """Look once; only what is not finished at once has its token saved."""
        started = kept(job, changed(attempt, started=True), token)
        if token is not None and not self._attempts.save(job, started, driver):
            return setbacks.lost(job, attempt, driver)
        waiting = setbacks.waiting_for(job, started, driver, token)
        ending = self._guarded(job, started, lambda *_: self._look(waiting, driver), waiting)
        if token is None and isinstance(ending, Waiting) and not self._attempts.save(job, started, driver):
            return setbacks.lost(job, attempt, driver)
        return ending

    def _look(self, waiting: Waiting, driver: PluginDriver) -> Ending:
        job, attempt = waiting.job, changed(waiting.attempt, faults=0)
        delay = min(FIRST_DELAY * GROWTH ** min(waiting.polls, GROWING), MAX_DELAY)
        try:
            with nothing_unknown(driver):
                complete = driver.is_complete(attempt.action, waiting.token)
            if complete and self._is_alone(job, attempt, driver):
                if attempt.action is Action.CREATE and attempt.again and not driver.plugin.is_intact():
                    LOG.info(
                        "stack %s: %s: it lacks what another took; making it anew", job.stack.id, job.node
                    )
                    return self._remove(job, deletions.begun(attempt, whatever_policy=True))
                return self._complete(job, attempt, driver)
            if complete:
                delay, attempt = late.pause(attempt.unheard), late.looked(attempt)
        except PollDelay as delayed:
            delay = float(delayed.period)
        return self._attempts.wait(changed(waiting, attempt=attempt, delay=delay), driver)

    # -- the end ---------------------------------------------------------------------------

    def _complete(self, job: Job, attempt: Attempt, driver: PluginDriver) -> Ending:
        if attempt.action in VISITS:
            return Visited(job=job, action=attempt.action)
        stopped = self._attempts.stop_at("post", job, attempt)
        if stopped is not None:
            return stopped
        if attempt.action is Action.DELETE:
            return self._deletions.ended(job, attempt, driver)
        if attempt.action is Action.ADOPT:
            attempt = changed(attempt, definition=attempt.definition.changed(adopt=None))
        driver.plugin.become(attempt.definition)
        return outputs.made(job, attempt, driver, attempt.action)

    def _is_alone(self, job: Job, attempt: Attempt, driver: PluginDriver) -> bool:
        """Tell whether there is nothing beside what a create made; what was made late is removed."""
        if attempt.action is not Action.CREATE or not attempt.unheard:
            return True
        return late.is_alone(driver, lambda: self._plugins.make(job, attempt.definition))

    # -- what came out broken ----------------------------------------------------------------

    def _remove(self, job: Job, deletion: Attempt) -> Ending:
        """Delete what a create made, so that it can be made anew."""
        now = self._attempts.reread(job) if self._attempts.save(job, deletion) else None
        return Lost(job=job) if now is None else self._guarded(now, deletion, self._start)

    # -- around a plugin ---------------------------------------------------------------------

    def _guarded(self, job: Job, attempt: Attempt, act: Act, waiting: Waiting | None = None) -> Ending:
        """Run plugin code; whatever it raises becomes an ending.

        After a fault that may pass, ``waiting`` goes on; without it the action
        is taken up from its row, as if by another worker.
        """
        try:
            return act(job, attempt)
        except UpdateReplace:
            return self._replace(job, attempt)
        except Orphaned as orphaned:
            return Lost(job=job, orphan=orphaned.driver)
        except errors.StaleWrite:
            return Lost(job=job)
        except errors.StorageError:
            # A fault of ours is never a failure of the resource's: whoever claims it goes on.
            LOG.exception("stack %s: %s: what it came to could not be written", job.stack.id, job.node)
            return Lost(job=job)
        except Exception as error:  # noqa: BLE001 - a plugin may raise anything
            return self._after_error(job, attempt, error, waiting)

    def _after_error(self, job: Job, attempt: Attempt, error: Exception, waiting: Waiting | None) -> Ending:
        match self._mishaps.judge(job, attempt, error):
            case Again(said):
                if said is not None:
                    self._attempts.show_fault(job, said)
                return setbacks.again(job, attempt, error, waiting)
            case Anew():
                broken = changed(attempt, retries=attempt.retries + 1)  # Heat's action_retry_limit
                return self._remove(job, deletions.begun(broken))
            case NothingThere():
                return self._deletions.ended(job, attempt, self._plugins.make(job, attempt.definition))
            case Failed() as failed:
                return failed
