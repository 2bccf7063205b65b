# SPDX-License-Identifier: Apache-2.0
"""Events: what happened to a stack and its resources."""

from __future__ import annotations

from heatconv import errors
from heatconv.api import views
from heatconv.api.call import Answer, Call, Stack
from heatconv.rpc.engine_client import Json

_FILTERS = {
    "resource_status": "status",
    "resource_action": "action",
    "resource_name": "resource_name",
    "resource_type": "resource_type",
}


def index(call: Call, stack: Stack) -> Answer:
    """List the events of a stack."""
    rows = call.engine.list_events(call.context, stack.id, _query(call))
    return Answer({"events": [views.event(call, stack, row) for row in rows]})


def index_of_resource(call: Call, stack: Stack, resource_name: str) -> Answer:
    """List the events of a resource; a resource without any was never there."""
    rows = call.engine.list_events(call.context, stack.id, _query(call) | {"resource": resource_name})
    if not rows and not call.query.text("marker"):
        raise errors.NotFound(f"No events of resource {resource_name} were found.")
    return Answer({"events": [views.event(call, stack, row) for row in rows]})


def show(call: Call, stack: Stack, resource_name: str, event_id: str) -> Answer:
    """Show one event."""
    row = call.engine.show_event(call.context, stack.id, resource_name, event_id)
    return Answer({"event": views.event(call, stack, row, detail=True)})


def _query(call: Call) -> Json:
    call.query.number("nested_depth")
    return {
        "limit": call.query.number("limit") or None,
        "marker": call.query.text("marker"),
        "sort_dir": call.query.choice("sort_dir", ("asc", "desc")),
        "filters": call.query.filters(_FILTERS),
    }
