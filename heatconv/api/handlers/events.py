# SPDX-License-Identifier: Apache-2.0
"""Events: what happened to a stack and its resources."""

from __future__ import annotations

from heatconv import errors
from heatconv.api import views
from heatconv.api.call import Answer, Call, Stack
from heatconv.api.contract import takes
from heatconv.api.query import FILTERS
from heatconv.api.schemas import events as schemas
from heatconv.rpc.engine_client import Json


@takes(query=schemas.LIST)
def index(call: Call, stack: Stack) -> Answer:
    """List the events of a stack, and of the stacks nested in it."""
    depth = call.query["nested_depth"] or 0
    rows = call.engine.list_events(call.context, stack.id, _query(call) | {"nested_depth": depth})
    root = stack if depth else None
    return Answer({"events": [views.event(call, row, root=root) for row in rows]})


@takes(query=schemas.LIST_OF_RESOURCE)
def index_of_resource(call: Call, stack: Stack, resource_name: str) -> Answer:
    """List the events of a resource; a resource without any was never there."""
    rows = call.engine.list_events(call.context, stack.id, _query(call) | {"resource": resource_name})
    if not rows and not call.query["marker"]:
        raise errors.NotFound(f"No events of resource {resource_name} were found.")
    return Answer({"events": [views.event(call, row) for row in rows]})


def show(call: Call, stack: Stack, resource_name: str, event_id: str) -> Answer:
    """Show one event."""
    row = call.engine.show_event(call.context, stack.id, resource_name, event_id)
    return Answer({"event": views.event(call, row, detail=True)})


def _query(call: Call) -> Json:
    return {
        "limit": call.query["limit"] or None,
        "marker": call.query["marker"],
        "sort_keys": [key for key in call.query["sort_keys"] if key in schemas.SORT_KEYS],
        "sort_dir": call.query["sort_dir"],
        "filters": call.query[FILTERS],
    }
