# SPDX-License-Identifier: Apache-2.0
"""Resource types: what a template may declare."""

from __future__ import annotations

from heatconv.api.call import Answer, Call
from heatconv.api.contract import takes
from heatconv.api.schemas import types as schemas


@takes(query=schemas.LIST)
def index(call: Call) -> Answer:
    """List the names of resource types, with descriptions on demand."""
    query = {key: call.query[key] for key in ("name", "support_status", "version") if call.query[key]}
    rows = call.engine.list_resource_types(call.context, query)
    described = call.query["with_description"]
    return Answer({"resource_types": rows if described else [row["resource_type"] for row in rows]})


def show(call: Call, type_name: str) -> Answer:
    """Show the schema of a resource type."""
    return Answer(call.engine.show_resource_type(call.context, type_name))


@takes(query=schemas.TEMPLATE)
def template(call: Call, type_name: str) -> Answer:
    """Show a template whose only resource is of a type, with a parameter for each property."""
    return Answer(call.engine.make_type_template(call.context, type_name, call.query["template_type"]))
