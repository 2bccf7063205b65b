# SPDX-License-Identifier: Apache-2.0
"""What is: the resources of stacks, as users see them."""

from __future__ import annotations

import functools
import json
import logging
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from heatconv import errors
from heatconv.db.convergence import nested, resources
from heatconv.db.observation import observations
from heatconv.db.plumbing.session import Database
from heatconv.engine import views
from heatconv.engine.lookup import find, first_of_each_name
from heatconv.engine.nested_stacks import ShownStacks
from heatconv.engine.plugin_access import SignalUrl, driver_for_asking
from heatconv.engine.software import deployed_on
from heatconv.engine.stack_users import own_resource
from heatconv.model.records import Listed, ResourceRow, Stack
from heatconv.model.secrets import found_in, masked, sentence
from heatconv.resources.attributes import plain
from heatconv.resources.registry import Registry
from heatconv.resources.resource import Resource as Plugin
from heatconv.rpc.context import RequestContext

LOG = logging.getLogger(__name__)

Json = dict[str, Any]


class ResourceReads:
    """Answers from the database; only what is not there is asked of the real world."""

    def __init__(self, database: Database, registry: Registry, signal_url: SignalUrl) -> None:
        """Keep what is handed in; ``signal_url`` tells where signals to a resource can be sent."""
        self._database = database
        self._signal_url = signal_url
        self._registry = registry

    def list_resources(
        self,
        context: RequestContext,
        stack: str,
        filters: Mapping[str, Sequence[str]],
        *,
        nested_depth: int = 0,
        every: bool = False,
    ) -> list[Json]:
        """Return a stack's resources by name, then those of the stacks nested in it.

        ``every``: with the rows that are not cleared away yet, though another stands for
        the name; each row tells whether it is wanted, and what replaces it if not.
        """
        found = find(self._database, context, stack)
        return [
            view | {"attributes": _stored(row)}
            for row, view in self._views(found, nested_depth, every=every)
            if _fits(row, filters)
        ]

    def show_resource(
        self,
        context: RequestContext,
        stack: str,
        name: str,
        *,
        attributes: Sequence[str] = (),
        detail: bool = True,
    ) -> Json:
        """Return a resource, and in ``detail`` its attributes."""
        found = find(self._database, context, stack)
        row = self._row(found, name)
        owner = found.owner_resource_id
        owners = nested.of_owners(self._database, [owner]) if owner else []
        child = nested.child_of(self._database, row.id)
        drifts = observations.drifts(self._database, [found.id], [name])
        return views.resource(row, resources.requirers(self._database, found.id, name)) | {
            "stack": views.identity(found),
            "parent_resource": owners[0].owner_name if owners else None,
            "nested": views.identity(child) if child and not child.deleted else None,
            "attributes": self._attributes(found, row, attributes) if detail else {},
            "drift": views.resource_drift(drifts[0]) if drifts else None,
        }

    def get_attribute(self, context: RequestContext, stack: str, name: str, attribute: str | None) -> Json:
        """Return an attribute of a resource, or its physical id, for a resource that is made of it.

        That is the ``value``, None if nobody tells it; ``secrets`` are the texts in it not to be shown.
        """
        found = find(self._database, context, stack)
        row = self._row(found, name)
        plugin = None if attribute is None else self._plugin(found, row)
        value = row.physical_id if attribute is None else None
        if plugin is not None and attribute is not None:
            value = _live(plugin, row.secrets, attribute)
        return {"value": value, "secrets": list(found_in(value, row.secrets))}

    def get_metadata(self, context: RequestContext, stack: str, name: str) -> Json:
        """Return a resource's metadata; those of a server have ``deployments``, what is deployed there.

        A stack user is told those of its own resource.
        """
        own = own_resource(self._database, context, stack, name)
        found = own[0] if own else find(self._database, context, stack)
        row = own[1] if own else self._row(found, name)
        metadata = dict(row.metadata)
        # Read where they are kept: a copy in the row would have to be written with each of them.
        server = row.physical_id
        deployments = deployed_on(self._database, found.project_id, server) if server else []
        return metadata | {"deployments": deployments} if deployments else metadata

    def show_graph(self, context: RequestContext, stack: str) -> Json:
        """Return the dependency graph of a stack's resources."""
        found = find(self._database, context, stack)
        every = resources.listed(self._database, [found.id])
        rows = first_of_each_name(every)
        wanted = _wanted(rows)
        names = {row.name for row in rows}
        keys = ("name", "type", "action", "status", "reason", "physical_id")

        def node(row: Listed) -> Json:
            view = views.resource(row, ())
            successor = wanted.get((row.stack_id, row.name))
            return {key: view[key] for key in keys} | views.incarnation(row, successor)

        shown = {row.id for row in rows}
        return {
            "nodes": [node(row) for row in rows],
            "clearing": [node(row) | {"version": row.version} for row in every if row.id not in shown],
            "edges": [
                [row.name, other]
                for row in rows
                for other in sorted(row.desired.requires if row.desired else ())
                if other in names
            ],
        }

    def _row(self, stack: Stack, name: str) -> ResourceRow:
        rows = resources.list_resources(self._database, stack.id, [name])
        if not rows:
            raise errors.NotFound(entity="Resource", name=name)
        return rows[0]

    def _views(self, stack: Stack, depth: int, *, every: bool) -> list[tuple[Listed, Json]]:
        """Return the rows of a stack and of so many levels below it, each with its view.

        Without ``every``, one of each name.
        """
        levels = nested.below(self._database, stack.id, depth + 1)
        owner = [stack.owner_resource_id] if stack.owner_resource_id else []
        of_stack = nested.of_owners(self._database, owner) if owner else []
        shown = [each for level in levels[:depth] for each in level]
        parents = {each.id: each.owner_name for each in (*of_stack, *shown)}
        children = {each.owner_id: each for level in levels for each in level}
        views_of_stacks = {stack.id: views.identity(stack)}
        views_of_stacks |= {each.id: views.identity(each) for each in shown}
        rows = resources.listed(self._database, list(views_of_stacks))
        first = first_of_each_name(rows)
        required_by, wanted = _required_by(first), _wanted(first)
        found = []
        for row in rows if every else first:
            child, key = children.get(row.id), (row.stack_id, row.name)
            view = views.resource(row, required_by.get(key, ()))
            if every:
                view |= views.incarnation(row, wanted.get(key))
            view["stack"] = views_of_stacks[row.stack_id]
            view["parent_resource"] = parents.get(row.stack_id)
            view["nested"] = child and views.identity(child)
            found.append((row, view))
        place = {stack_id: number for number, stack_id in enumerate(views_of_stacks)}
        return sorted(found, key=lambda each: place[each[0].stack_id])

    def _attributes(self, stack: Stack, row: ResourceRow, asked: Sequence[str]) -> Json:
        """Return the attributes a row's type has, and those asked for; None is one that nobody tells."""
        plugin = self._plugin(stack, row)
        if plugin is None:
            return {}
        stored = _stored(row)
        names = [name for name in plugin.attributes if name != plugin.SHOW]
        live = functools.partial(_shown, plugin, row.secrets)
        return {name: stored[name] if name in stored else live(name) for name in names} | {
            name: live(name) for name in asked
        }

    def _plugin(self, stack: Stack, row: ResourceRow) -> Plugin | None:
        """Return a resource as its plugin sees it; None before there was anything to see."""
        if row.applied is None:
            return None
        driver = driver_for_asking(
            self._database,
            self._registry,
            stack,
            row,
            row.applied,
            signal_url=self._signal_url,
            nested=ShownStacks(self._database, stack, self.get_attribute),
        )
        return driver.plugin


def _wanted(rows: Iterable[Listed]) -> dict[tuple[str, str], Listed]:
    """Return by stack and name the row that is wanted, if one is."""
    return {(row.stack_id, row.name): row for row in rows if row.desired is not None}


def _required_by(rows: Iterable[Listed]) -> dict[tuple[str, str], list[str]]:
    """Return by stack and name which resources require a resource."""
    required_by: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        for other in row.desired.requires if row.desired else ():
            required_by.setdefault((row.stack_id, other), []).append(row.name)
    return required_by


def _fits(row: Listed, filters: Mapping[str, Sequence[str]]) -> bool:
    """Tell whether a row has one of the values of each filter; a status may have its action."""
    return all(
        getattr(row, key) in values or (key == "status" and f"{row.action}_{row.status}" in values)
        for key, values in filters.items()
    )


def _stored(row: Listed | ResourceRow) -> Json:
    """Return the attributes that were told to others, by their path with dots, secrets masked."""
    shown: Json = masked(
        {".".join(map(str, json.loads(key))): value for key, value in row.attributes.items()}, row.secrets
    )
    return shown


def _shown(plugin: Plugin, secrets: Iterable[str], name: str) -> Any:
    return masked(_live(plugin, secrets, name), secrets)


def _live(plugin: Plugin, secrets: Iterable[str], name: str) -> Any:
    try:
        return plain(plugin.get_attribute(name))
    except Exception as error:  # noqa: BLE001 - whatever a plugin or a service says, the resource is shown
        LOG.info("attribute %s of %s is not known: %s", name, plugin, sentence(str(error), secrets))
        return None
