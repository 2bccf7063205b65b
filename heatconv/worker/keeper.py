# SPDX-License-Identifier: Apache-2.0
"""Where a plugin's resource keeps what it learns: its row, at once, while that is held."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

from heatconv import errors
from heatconv.db.convergence import actions, resources
from heatconv.db.plumbing.session import Database
from heatconv.model.records import ResourceRow
from heatconv.resources.driver import PluginDriver


class RowKeeper:
    """Writes to a row that is held; implements ``heatconv.resources.facts.Keeper``."""

    def __init__(
        self, database: Database, row: ResourceRow, *, only_here: bool, notes_may_wait: bool = False
    ) -> None:
        """Keep what is handed in.

        Args:
            only_here: there is no thing outside that the row has to know of.
            notes_may_wait: the notes of the row's type may.
        """
        self._database = database
        self._row = row
        self._only_here = only_here
        self._notes_may_wait = notes_may_wait

    def set_physical_id(self, physical_id: str | None) -> None:
        """Keep the id of the thing that was made; without such a thing, as soon as the action waits."""
        if not self._only_here:
            self._write("physical_id", physical_id)

    def set_data(self, data: Mapping[str, str]) -> None:
        """Keep the plugin's own notes; those that may wait, as soon as the action waits or has ended."""
        if not self._notes_may_wait:
            self._write("data", dict(data))

    def set_metadata(self, metadata: Mapping[str, Any]) -> None:
        """Keep the metadata."""
        if not actions.try_set_metadata(self._database, self._row, metadata):
            raise errors.StaleWrite(entity=f"resource {self._row.id}")

    def get_metadata(self) -> Mapping[str, Any]:
        """Return the metadata as they are now."""
        row = resources.find(self._database, self._row.id)
        if row is None:
            raise errors.StaleWrite(entity=f"resource {self._row.id}")
        return row.metadata

    def forget_attributes(self) -> None:
        """Do nothing: they are told anew when the action ends."""

    def _write(self, column: str, value: Any) -> None:
        if not actions.try_write(self._database, self._row, {column: value}):
            raise errors.StaleWrite(entity=f"resource {self._row.id}")


class Orphaned(Exception):
    """A plugin made something, or may have, and its physical id could not be recorded any more."""

    def __init__(self, driver: PluginDriver) -> None:
        super().__init__()
        self.driver = driver


@contextlib.contextmanager
def nothing_unknown(driver: PluginDriver) -> Iterator[None]:
    """Turn a write that failed into ``Orphaned`` if the plugin may have made something that no row tells of.

    A database that did not take an id may take the next one's: then this one is nobody's.
    """
    plugin = driver.plugin
    before = plugin.resource_id
    try:
        yield
    except errors.StaleWrite:
        if plugin.resource_id is None or plugin.resource_id != before:
            raise Orphaned(driver) from None
        raise
    except errors.StorageError:
        if plugin.resource_id not in (None, before):
            raise Orphaned(driver) from None
        raise
