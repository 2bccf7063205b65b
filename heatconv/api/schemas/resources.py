# SPDX-License-Identifier: Apache-2.0
"""Resources: bodies sent to one, and which of them a list shows."""

from __future__ import annotations

from heatconv.api.query import Keys, filtering, flag, number, texts, waiting
from heatconv.api.schemas import Schema
from heatconv.api.schemas.stacks import TRUTH

LIST: Keys = {
    "nested_depth": number("How many levels of nested stacks to list the resources of too."),
    "with_detail": flag("Whether to tell the description and the attributes too."),
    "all": flag("Whether to list what was replaced, or is not wanted, and is not cleared away yet too."),
    "type": filtering("type"),
    "status": filtering("status"),
    "name": filtering("name"),
    "action": filtering("action"),
    "id": filtering("id"),
    "physical_resource_id": filtering("physical_id"),
    **waiting(),
}

SHOW: Keys = {
    "with_attr": texts("One more attribute to tell."),
    "with_detail": flag(
        "Whether to tell the description and the attributes too, of which some are asked of the real world.",
        default=True,
    ),
    **waiting(),
}

#: Whatever the resource's type makes of it.
SIGNAL: Schema = {
    "type": "object",
    "properties": {
        "unset_hook": {
            "type": "string",
            "description": "the name of the breakpoint to clear, such as 'pre-create'",
        }
    },
}

_ONE_ACTION = "an object with exactly one key out of observe, converge"
ACTION: Schema = {
    "type": "object",
    "minProperties": 1,
    "maxProperties": 1,
    "propertyNames": {"enum": ["observe", "converge"], "description": _ONE_ACTION},
    "description": _ONE_ACTION,
}

MARK: Schema = {
    "type": "object",
    "properties": {
        "mark_unhealthy": {**TRUTH, "anyOf": [{"type": "boolean"}, TRUTH["anyOf"][1]]},
        "resource_status_reason": {"type": ["string", "null"], "description": "a string"},
    },
    "propertyNames": {
        "enum": ["mark_unhealthy", "resource_status_reason"],
        "description": "an object with the keys mark_unhealthy and resource_status_reason, no other",
    },
    "required": ["mark_unhealthy"],
}
