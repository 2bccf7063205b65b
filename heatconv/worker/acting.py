# SPDX-License-Identifier: Apache-2.0
"""One action of a plugin, from its beginning to its end, with no transaction open.

What a plugin learns is written the moment it is known, fenced by the claim; an
action that is not finished at once comes back as ``Waiting``, to be looked at again.
Which action it is, and whether it still is the right one, is for ``act`` to say.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from heatconv import errors
from heatconv.db.convergence.traversal_ends import NO_CHECK
from heatconv.db.plumbing.session import Database
from heatconv.model.endings import Failed, Visited
from heatconv.model.foreseen import Deed
from heatconv.model.records import Attempt, Job, changed
from heatconv.model.states import VISITS, Action
from heatconv.resources.declared import implements
from heatconv.resources.driver import PluginDriver
from heatconv.resources.exception import PollDelay, UpdateReplace
from heatconv.resources.gone import is_gone
from heatconv.worker import deletions, late, outputs, replacement, resume, setbacks
from heatconv.worker.attempts import Attempts, arguments, kept
from heatconv.worker.deletions import Deletions
from heatconv.worker.endings import Ending, Lost, Waiting
from heatconv.worker.keeper import Orphaned, nothing_unknown
from heatconv.worker.looks import insist_on_life
from heatconv.worker.mishaps import Again, Anew, Mishaps, NothingThere
from heatconv.worker.plugin_factory import PluginFactory

LOG = logging.getLogger(__name__)

FIRST_DELAY, MAX_DELAY, GROWTH = 0.5, 10.0, 1.4  #: seconds between polls, unless the plugin says
GROWING = 10  #: polls after which the delay grows no more, so that the power of a large number is never taken

Act = Callable[[Job, Attempt], Ending]


class Acting:
    """Carries actions out through their plugins, and turns whatever comes of them into endings."""

    def __init__(
        self, database: Database, plugin_factory: PluginFactory, *, retry_limit: int, client_retry_limit: int
    ) -> None:
        """Keep what is handed in; the limits are those of ``Mishaps``."""
        self._database = database
        self._plugins = plugin_factory
        self._attempts = Attempts(database)
        self._deletions = Deletions(database, self._attempts)
        self._mishaps = Mishaps(
            database, plugin_factory, retry_limit=retry_limit, client_retry_limit=client_retry_limit
        )

    # -- around a plugin ---------------------------------------------------------------------

    def guarded(self, job: Job, attempt: Attempt, act: Act, waiting: Waiting | None = None) -> Ending:
        """Run plugin code; whatever it raises becomes an ending.

        After a fault that may pass, ``waiting`` goes on; without it the action
        is taken up from its row, as if by another worker.
        """
        try:
            return act(job, attempt)
        except UpdateReplace:
            return self.replace(job, attempt)
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
                return self.remove(job, deletions.begun(broken))
            case NothingThere():
                return self._deletions.ended(job, attempt, self._plugins.make(job, attempt.definition))
            case Failed() as failed:
                return failed

    # -- from its beginning to its end -------------------------------------------------------

    def start(self, job: Job, attempt: Attempt) -> Ending:
        """Begin an action, unless a breakpoint or the state of its thing is in the way, and look once."""
        stopped = self._attempts.stop_at("pre", job, attempt)
        if stopped is not None:
            return stopped
        driver = self._plugins.make(job, attempt.definition)
        plugin = driver.plugin
        if attempt.action is Action.DELETE and plugin.resource_id is None:
            resume.find(plugin)
        if attempt.action is Action.CHECK and job.stack.action is not Action.CHECK:
            insist_on_life(driver)
        if attempt.action is Action.CHECK and not implements(type(plugin), "handle_check"):
            return Visited(job=job, action=Action.CHECK, reason=f"{NO_CHECK} for {job.row.type}")
        noted = self._attempts.note_instant(job, attempt, driver)
        if noted is None:
            return Lost(job=job)
        attempt = noted
        try:
            with nothing_unknown(driver):
                token = driver.start(attempt.action, *arguments(attempt))
        except Exception as error:
            if attempt.action is Action.DELETE and attempt.again and is_gone(plugin, error):
                return self.complete(job, attempt, driver)
            raise
        return self.wait_first(job, attempt, driver, token)

    def wait_first(self, job: Job, attempt: Attempt, driver: PluginDriver, token: Any) -> Ending:
        """Look once; only what is not finished at once has its token saved."""
        started = kept(job, changed(attempt, started=True), token)
        if token is not None and not self._attempts.save(job, started, driver):
            return setbacks.lost(job, attempt, driver)
        waiting = setbacks.waiting_for(job, started, driver, token)
        ending = self.look_again(waiting, driver)
        if token is None and isinstance(ending, Waiting) and not self._attempts.save(job, started, driver):
            return setbacks.lost(job, attempt, driver)
        return ending

    def look_again(self, waiting: Waiting, driver: PluginDriver) -> Ending:
        """Look as ``look`` does; after a fault that may pass, go on waiting."""
        return self.guarded(waiting.job, waiting.attempt, lambda *_: self.look(waiting, driver), waiting)

    def look(self, waiting: Waiting, driver: PluginDriver) -> Ending:
        """Look whether an action is at its end; go on waiting if it is not."""
        job, attempt = waiting.job, changed(waiting.attempt, faults=0)
        delay = min(FIRST_DELAY * GROWTH ** min(waiting.polls, GROWING), MAX_DELAY)
        try:
            with nothing_unknown(driver):
                complete = driver.is_complete(attempt.action, waiting.token)
            if complete and self.is_alone(job, attempt, driver):
                if attempt.action is Action.CREATE and attempt.again and not driver.plugin.is_intact():
                    LOG.info(
                        "stack %s: %s: it lacks what another took; making it anew", job.stack.id, job.node
                    )
                    return self.remove(job, deletions.begun(attempt, whatever_policy=True))
                return self.complete(job, attempt, driver)
            if complete:
                delay, attempt = late.pause(attempt.unheard), late.looked(attempt)
            elif late.is_stranded(driver, attempt):
                LOG.warning(
                    "stack %s: %s: its service has lost sight of it; making it anew", job.stack.id, job.node
                )
                return self.remove(job, deletions.begun(attempt, whatever_policy=True))
        except PollDelay as delayed:
            delay = float(delayed.period)
        return self._attempts.wait(changed(waiting, attempt=attempt, delay=delay), driver)

    def complete(self, job: Job, attempt: Attempt, driver: PluginDriver) -> Ending:
        """Return what comes of an action whose plugin has nothing more to do."""
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

    def is_alone(self, job: Job, attempt: Attempt, driver: PluginDriver) -> bool:
        """Tell whether there is nothing beside what a create made; what was made late is removed."""
        if attempt.action is not Action.CREATE or not attempt.unheard:
            return True
        return late.is_alone(driver, lambda: self._plugins.make(job, attempt.definition))

    # -- another one in its place -----------------------------------------------------------

    def remove(self, job: Job, deletion: Attempt) -> Ending:
        """Delete what a create made, so that it can be made anew."""
        now = self._attempts.reread(job) if self._attempts.save(job, deletion) else None
        return Lost(job=job) if now is None else self.guarded(now, deletion, self.start)

    def replace(self, job: Job, attempt: Attempt) -> Ending:
        """Hand over to a new resource, and begin to create that in the row's place."""
        if "replace" in attempt.definition.restricted_actions:
            return setbacks.restricted(job, attempt, "replace")
        if not job.row.may(Deed.REPLACE):
            return setbacks.unforeseen(job, attempt, Deed.REPLACE)
        waiting = replacement.waiting_for(job, attempt)
        return self.guarded(job, attempt, self._make_replacement, waiting)

    def _make_replacement(self, job: Job, attempt: Attempt) -> Ending:
        taken = replacement.take_place(self._database, job, attempt, self._plugins)
        if not isinstance(taken, Job):
            return taken
        return self.guarded(taken, replacement.created(attempt), self.start)
