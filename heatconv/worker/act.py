# SPDX-License-Identifier: Apache-2.0
"""Take the step that ``decide`` found: which action it comes to, and whether that still is the right one.

``acting`` carries the action out.  What another worker began is taken up here, what a
newer wish has overtaken is given up or turned, and what there is is compared with what
is wanted before anything is changed.
"""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable
from typing import assert_never

from heatconv.db.convergence import actions
from heatconv.db.plumbing.session import Database
from heatconv.metrics.declared import RESUMED
from heatconv.model import deletion
from heatconv.model.endings import Gone, Made, Passed
from heatconv.model.foreseen import Deed
from heatconv.model.nodes import Direction
from heatconv.model.records import Attempt, Job
from heatconv.model.states import MAKING, Action
from heatconv.model.steps import Compare, Fail, Remove, Replace, Resume, Skip, Start, Step, Unchanged
from heatconv.resources.comparing import Update
from heatconv.resources.driver import PluginDriver
from heatconv.resources.registry import Registry
from heatconv.worker import comparing, deletions, outputs, replacement, resume, setbacks
from heatconv.worker.acting import Acting
from heatconv.worker.attempts import Attempts, reached
from heatconv.worker.decide import decide
from heatconv.worker.endings import Ending, Lost, Waiting
from heatconv.worker.keeper import nothing_unknown
from heatconv.worker.overtaking import OVERTAKEN, GivenUp, Overtaking, ToEnd
from heatconv.worker.plugin_factory import PluginFactory
from heatconv.worker.stretches import Stretches

LOG = logging.getLogger(__name__)


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
        checks_at_once: Callable[[], int],
    ) -> None:
        """Keep what is handed in.

        Args:
            retry_limit: how often what came out broken is made anew.
            client_retry_limit: how often in a row a service may not take a call.
            checks_at_once: how many checks go on in this worker.
        """
        self._database = database
        self._registry = registry
        self._plugins = plugin_factory
        #: What can be made at once.
        self.stretches = Stretches(database, registry, plugin_factory, checks_at_once)
        self._attempts = Attempts(database)
        self._overtaking = Overtaking(database, registry, plugin_factory)
        self._acting = Acting(
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
                return self._start(job, attempt)
            case Resume(attempt, newer):
                return self._take_up(job, attempt, newer)
            case Unchanged(wanted, requires):
                return self._acting.guarded(job, reached(job, wanted, requires), self._unchanged)
            case Compare(wanted, requires):
                return self._acting.guarded(job, reached(job, wanted, requires), self._compare)
            case Replace(attempt):
                return self._acting.replace(job, attempt)
        assert_never(step)

    def first_step(self, job: Job) -> Step:
        """Return the first step for a node: an update that is due is begun with the claim, if that is known.

        It runs inside the claim's transaction, and compares only what can be compared without asking anybody.
        """
        step = decide(job)
        if isinstance(step, Compare):
            alone = functools.partial(self._plugins.make_alone, job)
            if comparing.is_update(self._registry, job.row, step.wanted, alone):
                return Start(reached(job, step.wanted, step.requires))
        return step

    def _start(self, job: Job, attempt: Attempt) -> Ending:
        if attempt.action is Action.UPDATE:
            return self._acting.guarded(job, attempt, functools.partial(self._compare, begun=True))
        if attempt.action in MAKING and not job.row.may(Deed.CREATE):
            return setbacks.unforeseen(job, attempt, Deed.CREATE)
        # What nobody knows to have been begun or not is looked for first, as if another worker had.
        return self._acting.guarded(job, attempt, self._resume if attempt.again else self._acting.start)

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
            return self._acting.guarded(
                job, left, lambda *_: self._leave(job, waiting.attempt, left, waiting)
            )
        if self._overtaking.is_due(job, waiting):
            return Lost(job=job)  # whoever takes it up has the newer definition's inputs
        if waiting.replaces:
            return self._acting.replace(job, waiting.attempt)
        if driver is None:
            return self._acting.guarded(job, waiting.attempt, self._resume)
        return self._acting.look_again(waiting, driver)

    # -- what others began ------------------------------------------------------------------

    def _resume(self, job: Job, attempt: Attempt) -> Ending:
        """Take over from whoever began."""
        RESUMED.add(action=attempt.action)
        LOG.info("stack %s: %s: taking up its %s", job.stack.id, job.node, attempt.action)
        if job.row.hook is not None:
            return setbacks.paused(job, attempt)
        driver = self._plugins.make(job, attempt.definition)
        match resume.way(job, attempt, driver, self._plugins):
            case resume.GoOn(going, token):
                return self._acting.look(setbacks.waiting_for(job, going, driver, token), driver)
            case resume.Whole(ended):
                self._acting.is_alone(job, ended, driver)
                return self._acting.complete(job, ended, driver)
            case resume.Begin(again):
                return self._acting.guarded(job, again, self._acting.start)
            case resume.Compare(again):
                return self._compare(job, again)
            case resume.Undo(broken):
                LOG.info("stack %s: %s: its create was interrupted; making it anew", job.stack.id, job.node)
                return self._acting.remove(job, deletions.begun(broken, whatever_policy=True))

    def _take_up(self, job: Job, attempt: Attempt, newer: Attempt | None) -> Ending:
        if newer is not None and job.direction is Direction.CLEANUP:
            return self._acting.guarded(job, newer, lambda *_: self._leave(job, attempt, newer))
        if newer is None or attempt.action not in OVERTAKEN:
            return self._acting.guarded(job, attempt, self._resume)
        if not self._overtaking.gives_way(attempt):
            return self._acting.guarded(job, attempt, lambda *_: self._overtake(job, attempt, newer))
        if not self._registry.may_become(attempt.definition, newer.definition):
            # Not even looked at any more: the stack may not have the template any more that it is made of.
            return self._acting.replace(job, newer)
        return self._acting.guarded(job, newer, self._renew)

    def _overtake(self, job: Job, attempt: Attempt, newer: Attempt) -> Ending:
        """Give an action up for another incarnation if that is what a newer wish takes; else let it end."""
        match self._overtaking.hold(job, attempt, newer):
            case GivenUp():
                return self._acting.replace(job, newer)
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
        return self._acting.start(job, left)

    def _renew(self, job: Job, newer: Attempt) -> Ending:
        """Turn the action that is under way to what is wanted by now."""
        if newer.action is Action.UPDATE:
            return self._compare(job, newer)
        if not actions.try_begin(self._database, job.row, newer):
            return Lost(job=job)
        return self._acting.start(job, newer)

    # -- what is there already -----------------------------------------------------------------

    def _unchanged(self, job: Job, attempt: Attempt) -> Ending:
        row = job.row
        if not comparing.is_left(self._registry, row, attempt.definition):
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

    def _compare(self, job: Job, attempt: Attempt, *, begun: bool = False) -> Ending:
        """Compare what there is with what is wanted; ``begun``: its row says already that it is updated."""
        stopped = self._attempts.stop_at("pre", job, attempt)
        if stopped is not None:
            return stopped  # with its state as it was: nothing is begun before somebody lets it
        if job.row.handover is not None:
            return self._take_back(job, attempt)
        make = functools.partial(self._plugins.make, job)
        match comparing.compare(self._registry, job.row, attempt.definition, make):
            case comparing.Same():
                return outputs.made(job, attempt, make(attempt.definition), Action.UPDATE if begun else None)
            case comparing.Another():
                return self._acting.replace(job, attempt)
            case comparing.Differs(driver, update) if begun:
                return self._update(job, attempt, driver, update)
            case comparing.Differs(driver, update):
                return self._begin_update(job, attempt, driver, update)

    def _begin_update(self, job: Job, attempt: Attempt, driver: PluginDriver, update: Update) -> Ending:
        if "update" in attempt.definition.restricted_actions:
            return setbacks.restricted(job, attempt, "update")
        if not job.row.may(Deed.UPDATE):
            return setbacks.unforeseen(job, attempt, Deed.UPDATE)
        if not actions.try_begin(self._database, job.row, attempt):
            return Lost(job=job)
        return self._update(job, attempt, driver, update)

    def _update(self, job: Job, attempt: Attempt, driver: PluginDriver, update: Update) -> Ending:
        with nothing_unknown(driver):
            token = driver.start(Action.UPDATE, update.json_snippet, update.tmpl_diff, update.prop_diff)
        return self._acting.wait_first(job, attempt, driver, token)

    def _take_back(self, job: Job, attempt: Attempt) -> Ending:
        """Take back what was handed over to a replacement, and compare then."""
        back = replacement.take_back(self._database, job, attempt, self._plugins)
        return self._acting.guarded(back, attempt, self._compare) if isinstance(back, Job) else back
