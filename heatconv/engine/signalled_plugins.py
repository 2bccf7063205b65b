# SPDX-License-Identifier: Apache-2.0
"""Plugins of resources that are signalled: what they may know in an engine, and what they may write."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heatconv import errors
from heatconv.db.convergence import resources, signals, stacks
from heatconv.db.plumbing.session import Database
from heatconv.db.software.project import ProjectSoftware
from heatconv.engine.nested_stacks import SignalledStacks
from heatconv.engine.plugin_access import SignalUrl
from heatconv.engine.requests import Requests
from heatconv.model.records import ResourceRow, Stack, changed
from heatconv.resources.driver import driven
from heatconv.resources.facts import Incarnation, Peer, StackFacts
from heatconv.resources.registry import Registry
from heatconv.resources.resource import Resource as Plugin
from heatconv.resources.stack_resource import StackResource


class SignalledPlugins:
    """Makes the plugins of rows that are signalled."""

    def __init__(
        self, *, database: Database, requests: Requests, registry: Registry, signal_url: SignalUrl
    ) -> None:
        """Keep what is handed in; ``requests`` is for plugins that change what they have nested."""
        self._database = database
        self._requests = requests
        self._registry = registry
        self._signal_url = signal_url

    def of(self, stack: Stack, row: ResourceRow) -> Plugin:
        """Return the plugin of a row, as it is by now.

        Raises:
            NotFound: nothing has begun to be made of the row.
        """
        definition = row.progress.definition if row.progress is not None else row.applied
        if definition is None:
            raise errors.NotFound(entity="Resource", name=row.name)  # it is not there yet
        facts = StackFacts(
            id=stack.id,
            name=stack.name,
            project_id=stack.project_id,
            action=stack.action,
            timeout_mins=stack.timeout_mins,
            context=self._registry.context(stack),
            resource_by_refid=lambda refid: self._peer(row, refid),
            plugin_by_refid=lambda refid: self._neighbour(stack, row, refid),
            signal_url=lambda name: self._signal_url(stack, name),
            required_by=lambda name: resources.requirers(self._database, stack.id, name),
            software=ProjectSoftware(self._database, stack.project_id),
            nested=SignalledStacks(self._database, self._requests, stack),
        )
        type_ = self._registry.get(definition.implemented_by)
        keeper = _SharedKeeper(self._database, row, wished=issubclass(type_, StackResource))
        return driven(type_, row.name, definition, facts, Incarnation.of(row), keeper).plugin

    def _peer(self, row: ResourceRow, refid: str) -> Peer | None:
        found = self._required(row, refid)
        return None if found is None else Peer.of(found)

    def _neighbour(self, stack: Stack, row: ResourceRow, refid: str) -> Plugin | None:
        found = self._required(row, refid)
        now = stacks.get(self._database, stack.id)
        return None if found is None else self.of(now or stack, found)

    def _required(self, row: ResourceRow, refid: str) -> ResourceRow | None:
        rows = resources.get_many(self._database, row.requires.keys())
        return next((other for other in rows if other.reference_id == refid), None)


class _SharedKeeper:
    """Writes to a row that others may act on or signal at the same time; what races is handled anew."""

    def __init__(self, database: Database, row: ResourceRow, *, wished: bool) -> None:
        """Keep what is handed in; ``wished``: what is written to the metadata is to be carried out."""
        self._database = database
        self._row = row
        self._wished = wished

    def set_physical_id(self, physical_id: str | None) -> None:
        self._write({"physical_id": physical_id})

    def set_data(self, data: Mapping[str, str]) -> None:
        self._write({"data": dict(data)})

    def set_metadata(self, metadata: Mapping[str, Any]) -> None:
        if not signals.try_set_metadata(self._database, self._row, metadata, wished=self._wished):
            raise errors.StaleWrite(entity=f"resource {self._row.id}")
        self._row = changed(self._row, metadata_key=self._row.metadata_key + 1)

    def get_metadata(self) -> Mapping[str, Any]:
        row = resources.find(self._database, self._row.id)
        if row is None:
            raise errors.StaleWrite(entity=f"resource {self._row.id}")
        self._row = changed(self._row, metadata_key=row.metadata_key)
        return row.metadata

    def forget_attributes(self) -> None:
        signals.forget_attributes(self._database, self._row.id)

    def _write(self, columns: Mapping[str, Any]) -> None:
        if not signals.try_write(self._database, self._row, columns):
            raise errors.StaleWrite(entity=f"resource {self._row.id}")
        self._row = changed(self._row, atomic_key=self._row.atomic_key + 1)
