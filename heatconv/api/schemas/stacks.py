# SPDX-License-Identifier: Apache-2.0
"""Bodies that describe a stack, and the actions on one."""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]

ACTIONS = ("suspend", "resume", "check", "cancel_update", "cancel_without_rollback", "rollback")

#: None stands for "not given": clients send it for what a user left out.
_SOURCE: Schema = {
    "template": {
        "type": ["object", "string"],
        "description": "a template: a JSON object, or text in YAML or JSON",
    },
    "template_url": {"type": ["string", "null"], "description": "a string"},
    "environment": {
        "type": ["object", "string", "null"],
        "description": "an environment: a JSON object, or text in YAML or JSON",
    },
    "environment_files": {
        "type": ["array", "null"],
        "items": {"type": "string", "description": "the name of a file among 'files'"},
        "description": "a list of names of files among 'files'",
    },
    "files": {
        "type": ["object", "null"],
        "additionalProperties": {"type": "string", "description": "the text of a file"},
        "description": "an object of texts by file name",
    },
    "parameters": {"type": ["object", "null"], "description": "an object of values by parameter name"},
}

_OPTIONS: Schema = {
    "timeout_mins": {
        "anyOf": [
            {"type": "integer", "minimum": 0},
            {"type": "string", "pattern": "^[0-9]{1,9}$"},
            {"type": "null"},
        ],
        "description": "a whole number of minutes",
    },
    "disable_rollback": {
        "anyOf": [{"type": ["boolean", "null"]}, {"type": "string", "pattern": "^([Tt]rue|[Ff]alse)$"}],
        "description": "true or false",
    },
    "tags": {
        "type": ["string", "null"],
        "pattern": "^[^,]{1,80}(,[^,]{1,80})*$|^$",
        "description": "one string of tags, each of at most 80 characters, with commas between them",
    },
    "converge": {"type": ["boolean", "null"], "description": "true or false"},
}

_NAME: Schema = {
    "type": "string",
    "pattern": r"^[a-zA-Z][a-zA-Z0-9_.-]{0,254}\Z",
    "description": "a letter, then at most 254 letters, digits, '_', '.' and '-'",
}

CREATE: Schema = {
    "type": "object",
    "properties": {"stack_name": _NAME, **_SOURCE, **_OPTIONS},
    "required": ["stack_name"],
}
UPDATE: Schema = {"type": "object", "properties": {**_SOURCE, **_OPTIONS}}
PATCH: Schema = {
    "type": "object",
    "properties": {
        **_SOURCE,
        **_OPTIONS,
        "template": {**_SOURCE["template"], "type": ["object", "string", "null"]},
        "clear_parameters": {
            "type": ["array", "null"],
            "items": {"type": "string", "description": "the name of a parameter"},
            "description": "a list of parameter names",
        },
    },
}
VALIDATE: Schema = {"type": "object", "properties": _SOURCE}

_ONE_ACTION = f"an object with exactly one key out of {', '.join(ACTIONS)}"
ACTION: Schema = {
    "type": "object",
    "minProperties": 1,
    "maxProperties": 1,
    "propertyNames": {"enum": list(ACTIONS), "description": _ONE_ACTION},
    "description": _ONE_ACTION,
}
