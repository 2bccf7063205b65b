# SPDX-License-Identifier: Apache-2.0
"""Resources of a stack."""

from __future__ import annotations

import functools

from heatconv import errors
from heatconv.api import views
from heatconv.api.call import Answer, Call, Stack
from heatconv.api.contract import takes
from heatconv.api.handlers.source import truth
from heatconv.api.query import FILTERS
from heatconv.api.schemas import resources as schemas


@takes(query=schemas.LIST, no_other_query=True)
def index(call: Call, stack: Stack) -> Answer:
    """List the resources of a stack, and of the stacks nested in it."""
    detail = call.query["with_detail"]
    depth = call.query["nested_depth"] or 0
    rows = call.engine.list_resources(
        call.context, stack.id, call.query[FILTERS], nested_depth=depth, every=call.query["all"]
    )
    return Answer({"resources": [views.resource(call, row, detail=detail) for row in rows]})


@takes(query=schemas.SHOW)
def show(call: Call, stack: Stack, resource_name: str) -> Answer:
    """Show one resource."""
    more, detail = call.query["with_attr"], call.query["with_detail"]
    ask = functools.partial(call.engine.show_resource, call.context, stack.id, resource_name, attributes=more)
    try:
        row = ask(detail=detail)
    except errors.NotUnderstood:  # an engine of the release before, which cannot be spared the attributes
        row = ask()
    return Answer({"resource": views.resource(call, row, detail=detail)})


def metadata(call: Call, stack: Stack, resource_name: str) -> Answer:
    """Show the metadata of a resource."""
    return Answer({"metadata": call.engine.get_metadata(call.context, stack.id, resource_name)})


@takes(body=schemas.SIGNAL, any_body=True)  # guests and alarms send what they like
def signal(call: Call, stack: Stack, resource_name: str) -> Answer:
    """Tell a resource something, or clear one of its breakpoints."""
    call.engine.signal_resource(call.context, stack.id, resource_name, call.body)
    return Answer(None)


@takes(body=schemas.ACTION)
def act(call: Call, stack: Stack, resource_name: str) -> Answer:
    """Look at a resource as it really is now, or start to put right what has drifted of it."""
    if "observe" in call.body:
        row = call.engine.observe_stack(call.context, stack.id, resource_name)
        return Answer({"drift": views.drift(call, row)})
    call.engine.converge_stack(call.context, stack.id, resource_name)
    return Answer(None)


def drift(call: Call, stack: Stack, resource_name: str) -> Answer:
    """Show whether a resource has drifted, and how."""
    row = call.engine.show_drift(call.context, stack.id, resource_name)
    return Answer({"drift": views.drift(call, row)})


@takes(body=schemas.MARK)
def mark(call: Call, stack: Stack, resource_name: str) -> Answer:
    """Mark a resource, told by name or physical id, as unhealthy or as healthy."""
    call.engine.mark_unhealthy(
        call.context,
        stack.id,
        resource_name,
        unhealthy=truth(call.body["mark_unhealthy"]),
        reason=call.body.get("resource_status_reason") or "",
    )
    return Answer(None)
