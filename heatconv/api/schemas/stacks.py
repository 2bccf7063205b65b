# SPDX-License-Identifier: Apache-2.0
"""Stacks: bodies that describe one, the actions on one, and which of them a list shows."""

from __future__ import annotations

from heatconv.api.query import Keys, choice, filtering, flag, names, number, text, waiting
from heatconv.api.schemas import Schema
from heatconv.graph.picture import FEWEST, MOST
from heatconv.model.drift import LONGEST_INTERVAL, Mode

ACTIONS = (
    *("suspend", "resume", "check", "cancel_update", "cancel_without_rollback", "rollback"),
    *("observe", "converge"),
)

#: What clients send for a truth value.
TRUTH: Schema = {
    "anyOf": [{"type": ["boolean", "null"]}, {"type": "string", "pattern": r"^([Tt]rue|[Ff]alse)\Z"}],
    "description": "true or false",
}

#: None stands for "not given": clients send it for what a user left out.
_SOURCE: Schema = {
    "template": {
        "type": ["object", "string"],
        "description": "a template: a JSON object, or text in YAML or JSON",
    },
    "template_url": {"type": ["string", "null"], "description": "a string; it is not supported"},
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

_CONVERGENCE = "an object with the keys policy and interval, no other: what is done about drift"

_OPTIONS: Schema = {
    "timeout_mins": {
        "anyOf": [
            {"type": "integer", "minimum": 0, "maximum": 999_999_999},
            {"type": "string", "pattern": r"^[0-9]{1,9}\Z"},
            {"type": "null"},
        ],
        "description": "a whole number of minutes; 0 stands for the service's default",
    },
    "disable_rollback": TRUTH,
    "tags": {
        "type": ["string", "null"],
        "pattern": r"^[^,]{1,80}(,[^,]{1,80})*\Z|^\Z",
        "description": "one string of tags, each of at most 80 characters, with commas between them",
    },
    "converge": {
        **TRUTH,
        "description": "true or false; true has an update look at what is really there before it compares",
    },
    "show_nested": TRUTH,
    "convergence": {
        "type": ["object", "null"],
        "properties": {
            "policy": {"enum": [*Mode, None], "description": f"one of {', '.join(Mode)}"},
            "interval": {
                "type": ["number", "null"],
                "minimum": 1,
                "maximum": LONGEST_INTERVAL,
                "description": "a number of seconds, 1 or more",
            },
        },
        "propertyNames": {"enum": ["policy", "interval"], "description": _CONVERGENCE},
        "description": _CONVERGENCE,
    },
}

_NAME: Schema = {
    "type": "string",
    "pattern": r"^[a-zA-Z][a-zA-Z0-9_.-]{0,254}\Z",
    "description": "a letter, then at most 254 letters, digits, '_', '.' and '-'",
}

CREATE: Schema = {
    "type": "object",
    "properties": {
        "stack_name": _NAME,
        **_SOURCE,
        **_OPTIONS,
        "template": {**_SOURCE["template"], "type": ["object", "string", "null"]},
        "adopt_stack_data": {
            "type": ["string", "null"],
            "description": "the text, in JSON, that abandoning or exporting a stack answered",
        },
    },
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

_MAP: Schema = {"type": "object", "description": "an object"}
_ANY_MAP: Schema = {"type": ["object", "null"], "description": "an object"}
#: What ``adopt_stack_data`` holds.
ADOPTED: Schema = {
    "type": "object",
    "properties": {
        "template": _MAP,
        "environment": _ANY_MAP,
        "files": _SOURCE["files"],
        "resources": {
            "type": ["object", "null"],
            "additionalProperties": {
                **_MAP,
                "properties": {
                    "resource_id": {"type": ["string", "null"], "description": "a string"},
                    "metadata": _ANY_MAP,
                    "resource_data": _ANY_MAP,
                },
            },
            "description": "an object of what is there already, by resource name",
        },
    },
    "required": ["template"],
    "description": "an object",
}

SORT_KEYS = ("stack_name", "stack_status", "creation_time", "updated_time")

#: In the caller's own project.
LIST_OF_PROJECT: Keys = {
    "limit": number("How many stacks there are on a page; all of them if 0 or not given."),
    "marker": text("The id of the stack after which the page starts."),
    "sort_keys": names(f"What to sort by: {', '.join(SORT_KEYS)}; anything else is ignored."),
    "sort_dir": choice("The order; without it and sort_keys the newest come first.", ("asc", "desc")),
    "with_count": flag("Whether to tell how many stacks there are on all pages."),
    "with_drift": flag("Whether to tell of each stack whether it has drifted."),
    "show_deleted": flag("Whether to list deleted stacks too."),
    "show_nested": flag("Whether to list stacks that belong to a resource of another too."),
    "show_hidden": flag("Whether to list stacks that have a tag of the option hidden_stack_tags too."),
    "tags": names("Only stacks that have all of these tags."),
    "tags_any": names("Only stacks that have one of these tags."),
    "not_tags": names("Only stacks that do not have all of these tags."),
    "not_tags_any": names("Only stacks that have none of these tags."),
    "search": text("Only stacks that have this in their name or in one of their tags, in whichever case."),
    "id": filtering("id"),
    "name": filtering("name"),
    "stack_name": filtering("name"),
    "status": filtering("status"),
    "stack_status": filtering("status"),
    "action": filtering("action"),
    "stack_action": filtering("action"),
    "stack_status_reason": filtering("reason"),
    "tenant": filtering("project"),
    "username": filtering("username"),
    "stack_owner": filtering("username"),
    "owner_id": filtering("parent"),
    "parent": filtering("parent"),
    "disable_rollback": filtering("disable_rollback", flag),
    "timeout_mins": filtering("timeout_mins", number),
    "stack_user_project_id": filtering("stack_user_project_id"),
}

LIST: Keys = {
    **LIST_OF_PROJECT,
    "global_tenant": flag("Whether to list the stacks of all projects; that takes the right to do so."),
}

SHOW: Keys = {
    "resolve_outputs": flag("Whether to tell the outputs' values.", default=True),
    **waiting(),
}

PICTURE: Keys = {
    "limit": number(f"How many marks there are at most; from {FEWEST} to {MOST}, {FEWEST} if not given."),
    "find": text("Draw resources alone that have this in their names."),
    "mark": text("The key of a mark whose resources are to be named."),
}

PREVIEW: Keys = {"show_nested": flag("Whether to show the resources of nested stacks too.")}
