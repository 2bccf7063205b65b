# SPDX-License-Identifier: Apache-2.0
"""Software configs and deployments: bodies that describe one, and which of them a list shows."""

from __future__ import annotations

from heatconv.api.query import Keys, flag, number, text
from heatconv.api.schemas import Schema

_ITEMS: Schema = {
    "type": ["array", "null"],
    "items": {"type": "object", "description": "an object with a 'name', and if need be a 'type'"},
    "description": "a list of objects",
}
_VALUES: Schema = {"type": ["object", "null"], "description": "an object of values by name"}


def _text(length: int) -> Schema:
    return {
        "type": ["string", "null"],
        "maxLength": length,
        "description": f"a string of at most {length} characters",
    }


def _id(of: str, length: int) -> Schema:
    return {"type": "string", "minLength": 1, "maxLength": length, "description": f"the id of a {of}"}


CONFIG: Schema = {
    "type": "object",
    "properties": {
        "name": _text(255),
        "group": _text(255),
        "config": {"type": ["string", "object", "null"], "description": "a text or an object"},
        "inputs": _ITEMS,
        "outputs": _ITEMS,
        "options": {"type": ["object", "null"], "description": "an object"},
    },
}

_RUN: Schema = {
    "input_values": _VALUES,
    "action": _text(16),
    "status": {
        "enum": ["IN_PROGRESS", "COMPLETE", "FAILED", None],
        "description": "IN_PROGRESS, COMPLETE or FAILED",
    },
    "status_reason": {"type": ["string", "null"], "description": "a string"},
}

DEPLOYMENT: Schema = {
    "type": "object",
    "properties": {
        "config_id": _id("software config", 36),
        "server_id": _id("server", 255),
        "stack_user_project_id": {**_text(64), "description": "your own project's id, or left out"},
        **_RUN,
    },
    "required": ["config_id", "server_id"],
}

DEPLOYMENT_UPDATE: Schema = {
    "type": "object",
    "properties": {
        "config_id": {**_id("software config", 36), "type": ["string", "null"]},
        "output_values": _VALUES,
        **_RUN,
    },
}

LIST_CONFIGS: Keys = {
    "limit": number("How many configs there are on a page; all of them if 0 or not given."),
    "marker": text("The id of the config after which the page starts."),
    "global_tenant": flag("Whether to list the configs of all projects; that takes the right to do so."),
}

LIST_DEPLOYMENTS: Keys = {"server_id": text("The id of the server whose deployments to list.")}
