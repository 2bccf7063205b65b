# SPDX-License-Identifier: Apache-2.0
"""Resource types: what a template may declare."""

from __future__ import annotations

from heatconv.api.call import Answer, Call


def index(call: Call) -> Answer:
    """List the names of resource types, with descriptions on demand."""
    query = {key: call.query.text(key) for key in ("name", "support_status", "version")}
    described = call.query.boolean("with_description")
    rows = call.engine.list_resource_types(
        call.context, {key: value for key, value in query.items() if value}
    )
    return Answer({"resource_types": rows if described else [row["resource_type"] for row in rows]})


def show(call: Call, type_name: str) -> Answer:
    """Show the schema of a resource type."""
    return Answer(call.engine.show_resource_type(call.context, type_name))
