# SPDX-License-Identifier: Apache-2.0
"""What happened: the events of stacks and their resources, as users see them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heatconv import errors
from heatconv.db.convergence import nested
from heatconv.db.delivery import events
from heatconv.db.plumbing.session import Database
from heatconv.engine import views
from heatconv.engine.lookup import find
from heatconv.rpc.context import RequestContext

Json = dict[str, Any]


class EventReads:
    """Answers from the database alone."""

    def __init__(self, database: Database) -> None:
        """Keep what is handed in."""
        self._database = database

    def list_events(self, context: RequestContext, stack: str, query: Mapping[str, Any]) -> list[Json]:
        """Return a page of a stack's events, and of the stacks nested in it."""
        found = find(self._database, context, stack)
        depth = query.get("nested_depth") or 0
        levels = nested.below(self._database, found.id, depth) if depth else []
        stacks = {found.id: views.identity(found)}
        stacks |= {each.id: views.identity(each) for level in levels for each in level}
        sort_keys, sort_dir = query.get("sort_keys") or (), query.get("sort_dir")
        listed = events.list_events(
            self._database,
            list(stacks),
            limit=query.get("limit"),
            marker=query.get("marker"),
            sort_keys=sort_keys,
            descending=sort_dir == "desc" or not (sort_dir or sort_keys),
            resource_name=query.get("resource"),
            filters=query.get("filters"),
        )
        return [views.event(event, stacks[event.stack_id]) for event in listed]

    def show_event(self, context: RequestContext, stack: str, resource: str, event_id: str) -> Json:
        """Return one event with the properties the resource had."""
        found = find(self._database, context, stack)
        event = events.find_event(self._database, found.id, event_id)
        if event is None or event.resource_name != resource:
            raise errors.NotFound(entity="Event", name=event_id)
        view = views.event(event, views.identity(found))
        return view | {"resource_properties": dict(event.properties or {})}
