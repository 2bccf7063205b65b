# SPDX-License-Identifier: Apache-2.0
"""A plan as it is published: what programs that judge plans may rely on.

Unlike a request's, a key that is not named here may come with a later minor version; one that is
named stays what it is until the major version changes.  Each description says what the key means.
"""

from __future__ import annotations

from heatconv.api.schemas import Schema

VERSION = "1.1"

ACTIONS = ("create", "update", "replace", "delete", "retain", "heal", "adopt", "check")


def _object(properties: Schema, description: str, *, later: tuple[str, ...] = ()) -> Schema:
    """Return the schema of an object; plans of before a minor version lack the keys that came ``later``."""
    return {
        "type": "object",
        "properties": properties,
        "required": [name for name in properties if name not in later],
        "description": description,
    }


def _or_null(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}], "description": schema["description"]}


def _list(items: Schema, description: str) -> Schema:
    return {"type": "array", "items": items, "description": description}


def _text(description: str) -> Schema:
    return {"type": "string", "description": description}


def _time(description: str) -> Schema:
    return {"type": "string", "format": "date-time", "description": description}


def _count(description: str) -> Schema:
    return {"type": "integer", "minimum": 0, "description": description}


def _seconds(description: str) -> Schema:
    return {"type": ["number", "null"], "minimum": 0, "description": description}


def _one_of(values: tuple[str, ...], description: str) -> Schema:
    return {"type": "string", "enum": list(values), "description": description}


def _any(description: str) -> Schema:
    return {"description": description}


_PATH = _list(
    {"type": "string", "minLength": 1, "description": "a name"},
    "where the resource is: its name, after those of the resources whose nested stacks it is in, "
    "from the outermost in; (new 1) and (spare 1) stand for names that are made up when it is made",
) | {"minItems": 1}

_COUNTS = _object(
    {"certain": _count("that will be so"), "possible": _count("that may be so: see hangs_on")},
    "how many resources",
)

_SUMMARY = _object(
    dict.fromkeys(ACTIONS, _COUNTS)
    | {
        "untouched": _count("resources that nothing is done to"),
        "seconds": _seconds("how long all of it should take; null, if nothing like it was ever done"),
        "history": _count("past actions that the time goes by"),
    },
    "how many resources, by action",
)

_BEFORE = _object(
    {
        "desired": _any("what was wanted of it last; null: nothing, or that cannot be said"),
        "made": _any("what it was made with; null: nothing"),
        "observed": _any("what it was when it was looked at; null: nothing, or it never was"),
        "observed_at": _or_null(_time("when it was looked at; null: never")),
    },
    "the property as it is",
)

_CHANGE = _object(
    {
        "path": _text("which property: properties.networks, metadata.tags"),
        "before": _BEFORE,
        "after": _any("what it is to be; null: nothing, or it is unknown"),
        "unknown": {
            "type": "boolean",
            "description": "whether it comes to be known later only, or some of it: what is null in it",
        },
        "hidden": {"type": "boolean", "description": 'whether the values are secret: they are "(hidden)"'},
        "equal": {
            "type": ["boolean", "null"],
            "description": "whether it is to be what it was made with; null, if nobody knows yet",
        },
        "replaces": {"type": "boolean", "description": "whether it is one for which another is made"},
    },
    "one property",
)

_HANGS_ON = _object(
    {
        "path": _PATH,
        "attribute": {
            "type": ["string", "null"],
            "description": "which attribute of it; null: its id, or that it is there",
        },
        "sentence": _text("the same, for people"),
    },
    "a value that is not known yet",
)

_BECAUSE = _object(
    {
        "sentence": _text("what was changed, for people"),
        "via": _list(
            _PATH,
            "by way of which resources it gets here, back to where it begins; empty: it is its own",
        ),
    },
    "a change that reaches the resource",
)

_RESOURCE = _object(
    {
        "path": _PATH,
        "name": _text("the name in its template: the last of the path"),
        "type": _text("the type, as the template has it"),
        "stack_id": {"type": ["string", "null"], "description": "the id of its stack; null: not there yet"},
        "physical_resource_id": {
            "type": ["string", "null"],
            "description": "the id of the thing in its service; null: not there yet",
        },
        "action": _one_of(ACTIONS, "what is done"),
        "certainty": _one_of(("certain", "possible"), "whether that will be done, or may be"),
        "hangs_on": _list(_HANGS_ON, "what decides, if it is possible"),
        "changes": _list(_CHANGE, "what changes of it, by property"),
        "because": _list(_BECAUSE, "why it is touched at all"),
        "replaced_because": _list(_text("one reason, for people"), "why another is made, where one is"),
        "left_behind": {
            "type": ["string", "null"],
            "description": "what its deletion policy leaves in the world, for people; null: nothing",
        },
        "problem": {
            "type": ["string", "null"],
            "description": "why what is to be done will fail, for people; null: nothing is known against it",
        },
        "order": _count("when: everything of a lower number is done first, where it depends on it"),
        "requires": _list(
            _text("the name of one"), "what it depends on in its stack: the first of them, by name"
        ),
        "seconds": _seconds("how long it should take; null, if nothing like it was ever done"),
        "history": _count("past actions that the time goes by"),
    },
    "a resource that something is done to, or may be",
    later=("requires",),
)

_GUARD = _object(
    {
        "rule": _text("its name"),
        "sentence": _text("what it forbids, for people"),
        "resources": _list(_PATH, "the resources that it is about"),
    },
    "a rule that the plan breaks",
)

PLAN: Schema = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": f"A plan of heatconv, version {VERSION}",
    **_object(
        {
            "id": _text("its id"),
            "schema_version": {
                "type": "string",
                "pattern": r"^1\.[0-9]+\Z",
                "description": f"the version of this schema, {VERSION}; the first number changes when "
                "what a key means does, the second when there are more keys",
            },
            "action": _one_of(("create", "update", "rollback", "delete"), "what was asked for"),
            "state": _one_of(
                ("ready", "applied", "refused"),
                "whether it can be applied; refused: it breaks a rule, or what it goes by has changed",
            ),
            "refusal": {
                "type": ["string", "null"],
                "description": "what had changed, by whom and when, as it was to be applied; null: nothing",
            },
            "stack": _object(
                {
                    "id": {"type": ["string", "null"], "description": "its id; null: not there yet"},
                    "name": _text("its name"),
                },
                "the stack",
            ),
            "project": _text("the id of the project"),
            "user": {"type": ["string", "null"], "description": "who asked for it"},
            "created_at": _time("when it was made"),
            "expires_at": _time("when it ends: from then on it is not there any more"),
            "under_way": _or_null(
                _object(
                    {"action": _text("which action"), "since": _time("since when")},
                    "what the stack was in the midst of, on top of which the plan is; null: nothing",
                )
            ),
            "summary": _SUMMARY,
            "guards": _list(_GUARD, "rules that it breaks, for which it is refused"),
            "resources": _list(
                _RESOURCE,
                "what is done to each resource, in all nested stacks, but to those that nothing is done to; "
                "a path is there twice, where what was replaced is still to be deleted; where there is a "
                "link next, these are not all",
            ),
            "links": _list(
                _object({"href": _text("a URL"), "rel": _text("of what")}, "a link"), "where it is"
            ),
        },
        "what an action would do to a stack",
    ),
}
