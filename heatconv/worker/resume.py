# SPDX-License-Identifier: Apache-2.0
"""How an action that another worker began is gone on with: by its token, by what is seen, never by a guess.

That a token was lost is no failure.  What was made is undone and made anew unless it
is seen to be whole; whatever else was begun is begun again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from heatconv.model.definition import Definition
from heatconv.model.records import Attempt, Job, changed
from heatconv.model.states import Action
from heatconv.resources.declared import implements
from heatconv.resources.driver import DeleteKind, PluginDriver
from heatconv.resources.gone import is_gone
from heatconv.resources.resource import Resource as Plugin
from heatconv.worker import late
from heatconv.worker.looks import has_arrived, is_whole
from heatconv.worker.plugin_factory import PluginFactory


@dataclass(frozen=True)
class GoOn:
    """It goes on in the real world: look at it."""

    attempt: Attempt
    token: Any


@dataclass(frozen=True)
class Whole:
    """It came to its end."""

    attempt: Attempt


@dataclass(frozen=True)
class Begin:
    """It is to be begun again."""

    attempt: Attempt


@dataclass(frozen=True)
class Compare:
    """What there is has to be compared with what is wanted."""

    attempt: Attempt


@dataclass(frozen=True)
class Undo:
    """What it made is not all that was asked for, and nobody was ever given it."""

    attempt: Attempt


Way = GoOn | Whole | Begin | Compare | Undo


def way(job: Job, attempt: Attempt, driver: PluginDriver, factory: PluginFactory) -> Way:
    """Return how to go on with an attempt that another worker has made.

    Raises:
        Exception: whatever the plugin raises that looks at what there is.
    """
    if attempt.started and not attempt.lost:
        return GoOn(attempt, attempt.token)
    attempt = changed(attempt, started=False, lost=False, again=True)
    match attempt.action:
        case Action.CREATE:
            return _of_create(attempt, driver)
        case Action.UPDATE:
            return _of_update(job, attempt, driver, factory)
        case Action.SNAPSHOT:
            return _of_snapshot(attempt, driver.plugin)
        case Action.DELETE if driver.delete_kind() is DeleteKind.SNAPSHOT:
            return Begin(changed(attempt, begun=True))
        case _:
            return Begin(attempt)


def _of_create(attempt: Attempt, driver: PluginDriver) -> Way:
    plugin = driver.plugin
    if plugin.resource_id is None:
        find(plugin)
    if plugin.comes_late:
        attempt = changed(attempt, unheard=late.LOOKS)
    # What gives way may be there as an older wish had it: it is told of this one again.
    if plugin.resource_id is None or plugin.gives_way or plugin.definition.external_id is not None:
        return Begin(attempt)
    if plugin.goes_on():
        return GoOn(changed(attempt, started=True), plugin.token_of())
    return Whole(attempt) if is_whole(driver) else Undo(attempt)


def _of_update(job: Job, attempt: Attempt, driver: PluginDriver, factory: PluginFactory) -> Way:
    applied: Definition | None = job.row.applied
    sees = not driver.plugin.goes_by_what_it_finds and not driver.plugin.gives_way
    if job.row.handover is None and applied is not None and sees:
        update = factory.make(job, applied).plan_update(attempt.definition)
        if update is not None and has_arrived(driver, update):
            return Whole(attempt)
    return Compare(attempt)


def _of_snapshot(attempt: Attempt, plugin: Plugin) -> Way:
    """Take the snapshot again; the one that was begun goes, if the plugin noted what it was."""
    if (
        attempt.begun
        and attempt.notes != plugin.data()
        and implements(type(plugin), "handle_delete_snapshot")
    ):
        try:
            plugin.handle_delete_snapshot(plugin.prepare_abandon())
        except Exception as error:
            if not is_gone(plugin, error):
                raise
        attempt = changed(attempt, begun=False)
    return Begin(attempt)


def find(plugin: Plugin) -> None:
    """Look for what an interrupted create may have made."""
    found = plugin.find_existing()
    if found is not None:
        plugin.resource_id_set(found)
