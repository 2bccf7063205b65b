# SPDX-License-Identifier: Apache-2.0
"""A resource hands over to its replacement what two could not have, and takes it back.

That it does is in its row before its plugin is called, and until it has taken
everything back: whatever dies in between, whoever goes on with the resource takes
back first.  The plugin notes for itself what that takes; these notes stand for as
long as the row tells of a handover, whatever a plugin that is called again would note.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from heatconv import errors
from heatconv.db.convergence import actions, resources
from heatconv.db.plumbing.session import Database
from heatconv.model.definition import Definition
from heatconv.model.records import Job, ResourceRow, changed
from heatconv.model.secrets import REDACTED
from heatconv.model.states import Action, Status
from heatconv.resources.clients.status import http_status
from heatconv.resources.declared import implements
from heatconv.resources.driver import PluginDriver
from heatconv.resources.facts import Incarnation, Unkept
from heatconv.resources.resource import PollDelay
from heatconv.resources.resource import Resource as Plugin
from heatconv.worker import faults
from heatconv.worker.keeper import RowKeeper

BUSY = 2.0  #: seconds until a thing that a service is busy with is asked about again

MakeDriver = Callable[[Job, Definition], PluginDriver]  #: of a job's row, as a definition has it

#: What is no word of a service's on whether it can be done.
_OURS = (PollDelay, errors.ConcurrencyError, errors.StorageError, errors.TransportError)


class Refused(Exception):
    """A resource cannot hand over; it is as it was."""


class Busy(Exception):
    """A replacement is being worked on, so that nothing can be taken from it yet."""


def hand_over(database: Database, job: Job, make_driver: MakeDriver) -> None:
    """Let a plugin hand over what a replacement needs, if there is anything and the type cares.

    Raises:
        Refused: the service refuses it for good.
        PollDelay: it is under way, or the service is busy; call this again.
        Exception: a fault that may pass; call this again.
    """
    row = _row(job)
    definition = _made_of(row)
    if row.physical_id is None or definition is None or definition.external_id is not None:
        return
    try:
        driver = make_driver(job, definition)
    except errors.NotFound:
        return  # its type is no more, and whoever knew how to
    plugin = driver.plugin
    if not implements(type(plugin), "prepare_for_replace"):
        return
    first = _notes_of_handover(row)
    if row.handover is None:
        _write(database, row, {"handover": sorted(plugin.data())})
    driver.attach(driver.incarnation, _FirstNotes(database, row, first))
    try:
        plugin.prepare_for_replace()
    except _OURS:
        raise
    except Exception as error:
        _raise_if_busy(error)
        raise Refused(str(error)) from error


def take_back(database: Database, job: Job, make_driver: MakeDriver) -> Job:
    """Let a plugin take back what it has handed over; return the job with its row as it is then.

    Raises:
        Busy: a worker acts on a replacement.
        PollDelay: it is under way, or the service is busy; call this again.
        Exception: a fault that may pass, after which this is to be called again; or
            another one, after which it will not be tried any more.
    """
    row = _row(job)
    replacements = resources.replacements(database, row)
    for each in replacements:
        is_taken = each.handover is not None and each.status is Status.FAILED
        if not is_taken and not actions.try_take_from(database, each):
            raise Busy
    assert row.applied is not None  # noqa: S101 - a replacement is made of what was there
    driver = make_driver(job, row.applied)
    plugin = driver.plugin
    try:
        took = list(_plugins(job, replacements, make_driver, type(plugin)))
        for replacement in took:
            driver.take_back(replacement)
        if not took:
            driver.take_back(None)
    except _OURS:
        raise
    except Exception as error:
        _raise_if_busy(error)
        _write(database, row, {"handover": None})
        raise
    for name in _notes_of_handover(changed(row, data=driver.incarnation.data)):
        plugin.data_delete(name)
    _write(database, row, {"handover": None})
    now = changed(row, handover=None, data=driver.incarnation.data, physical_id=plugin.resource_id)
    back: Job = changed(job, resource=now)
    return back


def _plugins(
    job: Job, replacements: Sequence[ResourceRow], make_driver: MakeDriver, kind: type[Plugin]
) -> Iterator[Plugin]:
    """Yield those of some replacements that may have got anything, with what an interrupted create made."""
    for row in replacements:
        definition = _made_of(row)
        if definition is None:
            continue
        driver = make_driver(changed(job, resource=row), definition)
        driver.attach(Incarnation.of(row), Unkept())
        plugin = driver.plugin
        if not isinstance(plugin, kind):
            continue
        if plugin.resource_id is None:
            plugin.resource_id_set(plugin.find_existing())
        yield plugin


def _raise_if_busy(error: Exception) -> None:
    """Raise what is to be waited for."""
    if faults.is_passing(error, Action.UPDATE):
        raise error
    if http_status(error) == faults.CONFLICT:
        raise PollDelay(BUSY) from error


def _made_of(row: ResourceRow) -> Definition | None:
    """Return what a thing was made of, or is being made of; None if that was never begun."""
    if row.applied is None and row.progress is not None:
        return row.progress.definition
    return row.applied


def _notes_of_handover(row: ResourceRow) -> dict[str, str]:
    """Return what was noted since a handover was begun."""
    known = row.data.keys() if row.handover is None else {*row.handover, REDACTED}
    return {name: note for name, note in row.data.items() if name not in known}


def _write(database: Database, row: ResourceRow, columns: Mapping[str, object]) -> None:
    if not actions.try_write(database, row, columns):
        raise errors.StaleWrite(entity=f"resource {row.id}")


def _row(job: Job) -> ResourceRow:
    assert job.resource is not None  # noqa: S101 - what is replaced, or goes on, has a row
    return job.resource


class _FirstNotes(RowKeeper):
    """A keeper by which some notes stay as they are: a second call finds that handed over already."""

    def __init__(self, database: Database, row: ResourceRow, first: Mapping[str, str]) -> None:
        super().__init__(database, row, only_here=False)
        self._first = first

    def set_data(self, data: Mapping[str, str]) -> None:
        """Keep the plugin's own notes, but for those that stand."""
        super().set_data({**data, **self._first})
