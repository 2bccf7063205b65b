# SPDX-License-Identifier: Apache-2.0
"""Resources of a stack."""

from __future__ import annotations

from heatconv.api import views
from heatconv.api.call import Answer, Call, Stack

_FILTERS = {
    "type": "type",
    "status": "status",
    "name": "name",
    "action": "action",
    "id": "id",
    "physical_resource_id": "physical_id",
}


def index(call: Call, stack: Stack) -> Answer:
    """List the resources of a stack."""
    call.query.refuse_others({"nested_depth", "with_detail", *_FILTERS})
    call.query.number("nested_depth")
    detail = call.query.boolean("with_detail")
    rows = call.engine.list_resources(call.context, stack.id, call.query.filters(_FILTERS))
    return Answer({"resources": [views.resource(call, stack, row, detail=detail) for row in rows]})


def show(call: Call, stack: Stack, resource_name: str) -> Answer:
    """Show one resource."""
    attributes = call.query.texts("with_attr") or None
    row = call.engine.show_resource(call.context, stack.id, resource_name, attributes=attributes)
    return Answer({"resource": views.resource(call, stack, row, detail=True)})


def metadata(call: Call, stack: Stack, resource_name: str) -> Answer:
    """Show the metadata of a resource."""
    row = call.engine.show_resource(call.context, stack.id, resource_name)
    return Answer({"metadata": row.get("metadata") or {}})
