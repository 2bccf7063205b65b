# SPDX-License-Identifier: Apache-2.0
"""What has changed since somebody looked: what happened in a stack, and to what, as that is now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from heatconv import errors
from heatconv.db.convergence import resources
from heatconv.db.convergence.fingerprints import tree_fingerprints
from heatconv.db.convergence.shown import Shown, show
from heatconv.db.delivery import changes
from heatconv.db.delivery.events import STACK_TYPE
from heatconv.db.plumbing.session import Database
from heatconv.engine import views
from heatconv.engine.lookup import changed
from heatconv.model.changes import Cursor, Difference, all_seen, compare
from heatconv.model.records import Event, Listed
from heatconv.rpc.context import RequestContext

Json = dict[str, Any]


class Changing:
    """Answers from the database alone, in a number of statements that does not grow with the answer."""

    def __init__(self, database: Database) -> None:
        """Keep what is handed in."""
        self._database = database

    def list_changes(
        self,
        context: RequestContext,
        stack: str,
        since: str | None = None,
        limit: int = 500,
        *,
        nested: bool = True,
    ) -> Json:
        """Return what is new since a cursor; without one, nothing but a cursor."""
        cursor = None if since is None else Cursor.parse(since)
        # In this order: what changes in between is in the answer, or is new to the next.
        shown = show(self._database, context.project_id, stack, with_outputs=False, with_progress=True)
        if shown is None:
            raise errors.NotFound(entity="Stack", name=stack)
        found = self._difference(shown, cursor, limit, nested=nested)
        happened = changes.numbered(self._database, found.numbers) if found.numbers else []
        return {
            "cursor": str(found.cursor),
            "missed": found.missed,
            "more": found.more,
            "news": found.missed or bool(found.numbers) or cursor is None or cursor.key != found.cursor.key,
            "stack": _stack_view(shown),
            "events": [views.event(event, _identity(event, name)) for event, name in happened],
            "resources": self._resources(happened),
        }

    def changed_trees(self, context: RequestContext, known: Mapping[str, str]) -> dict[str, str]:
        """Return what ``changed_stacks`` does of stacks together with all that is nested in them."""
        return changed(known, tree_fingerprints(self._database, list(known)))

    def _difference(self, shown: Shown, cursor: Cursor | None, limit: int, *, nested: bool) -> Difference:
        stack_id, key = shown.stack.id, shown.stack.atomic_key
        if cursor is not None:
            present = changes.from_floor(self._database, stack_id, cursor.floor, nested=nested)
            found = compare(cursor, present, key, limit=limit)
            if not found.missed:
                return found
        seen = all_seen(changes.youngest(self._database, stack_id, nested=nested), key)
        return Difference(numbers=(), cursor=seen, missed=cursor is not None)

    def _resources(self, happened: Sequence[tuple[Event, str]]) -> list[Json]:
        """Return what the events are of, each once, as it is now."""
        stacks = {event.stack_id: _identity(event, name) for event, name in happened}
        places = {
            (event.stack_id, event.resource_name): event.resource_type
            for event, _name in happened
            if event.resource_type != STACK_TYPE or event.resource_id is not None
        }
        rows: dict[tuple[str, str], list[Listed]] = {place: [] for place in places}
        for row in resources.of_names(self._database, places) if places else ():
            rows[row.stack_id, row.name].append(row)
        return [
            _resource_view(stacks[stack_id], name, places[stack_id, name], found)
            for (stack_id, name), found in rows.items()
        ]


def _identity(event: Event, name: str) -> Json:
    return {"name": name, "id": event.stack_id}


def _stack_view(shown: Shown) -> Json:
    view = views.stack(shown.stack, parent_id=shown.parent_id, done=shown.done, total=shown.total)
    drift = None if shown.stack.owner_resource_id else views.drift(shown.drift)
    return view | {"drift": drift, "parameters": None, "outputs": None}


def _resource_view(stack: Json, name: str, type_name: str, rows: Sequence[Listed]) -> Json:
    """Return what stands for a name: the row that is wanted, the others counted; or that nothing does."""
    if not rows:
        return {"stack": stack, "name": name, "type": type_name, "gone": True}
    first, *others = rows
    view = views.resource(first, ())
    keys = ("name", "type", "action", "status", "reason", "physical_id", "updated_at")
    return {
        **{key: view[key] for key in keys},
        "stack": stack,
        "gone": False,
        "wanted": first.desired is not None,
        "requires": sorted(first.desired.requires) if first.desired else [],
        "clearing": len(others),
    }
