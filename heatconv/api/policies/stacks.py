# SPDX-License-Identifier: Apache-2.0
"""Who may do what with stacks, their outputs and their snapshots."""

from __future__ import annotations

from heatconv.api.policies.base import MEMBER, NOBODY, READER, READER_OR_STACK_USER, rule

_NAME = "/stacks/{stack_name}"
_STACK = "/stacks/{stack_name}/{stack_id}"
_ACTIONS = f"POST {_STACK}/actions"

_COLLECTION = [
    rule("stacks:index", READER, "List stacks.", "GET /stacks"),
    rule("stacks:detail", READER, "List stacks in detail.", "GET /stacks/detail"),
    rule("stacks:global_index", NOBODY, "List the stacks of all projects.", "GET /stacks"),
    rule("stacks:create", MEMBER, "Create a stack.", "POST /stacks"),
    rule("stacks:preview", READER, "Preview a stack.", "POST /stacks/preview"),
    rule("stacks:validate_template", READER, "Validate a template.", "POST /validate"),
    rule(
        "stacks:lookup",
        READER_OR_STACK_USER,
        "Find a stack by its name.",
        f"GET POST PUT PATCH DELETE {_NAME}",
        f"GET POST PUT PATCH DELETE {_STACK}/{{arn_id}}",
        *(f"GET POST {_NAME}/{below}" for below in ("resources", "events", "template", "actions")),
        *(f"GET {_NAME}/{below}" for below in ("environment", "files")),
    ),
]

_ONE = [
    rule("stacks:show", READER, "Show a stack.", f"GET {_STACK}"),
    rule("stacks:template", READER, "Show the template of a stack.", f"GET {_STACK}/template"),
    rule("stacks:environment", READER, "Show the environment of a stack.", f"GET {_STACK}/environment"),
    rule("stacks:files", READER, "Show the files of a stack.", f"GET {_STACK}/files"),
    rule("stacks:graph", READER, "Show the dependency graph of a stack.", f"GET {_STACK}/graph"),
    rule("stacks:drift", READER, "Show what has drifted in a stack.", f"GET {_STACK}/drift"),
    rule(
        "stacks:explanation",
        READER,
        "Explain what a stack waits for, or why it failed.",
        f"GET {_STACK}/explanation",
    ),
    rule("stacks:picture", READER, "Show a stack to be drawn.", f"GET {_STACK}/picture"),
    rule(
        "stacks:changes",
        READER,
        "See what has changed in a stack, and in those nested in it.",
        f"GET {_STACK}/changes",
    ),
    rule("stacks:list_outputs", READER, "List the outputs of a stack.", f"GET {_STACK}/outputs"),
    rule("stacks:show_output", READER, "Show an output of a stack.", f"GET {_STACK}/outputs/{{output_key}}"),
    rule("stacks:update", MEMBER, "Update a stack.", f"PUT {_STACK}"),
    rule("stacks:update_patch", MEMBER, "Change some of a stack.", f"PATCH {_STACK}"),
    rule("stacks:update_no_change", MEMBER, "Update a stack to what it is.", f"PATCH {_STACK}"),
    rule(
        "stacks:preview_update",
        READER,
        "Preview an update; whoever sends one has to satisfy stacks:update as well.",
        f"PUT {_STACK}/preview",
    ),
    rule(
        "stacks:preview_update_patch",
        READER,
        "Preview a change of some; whoever sends one has to satisfy stacks:update_patch as well.",
        f"PATCH {_STACK}/preview",
    ),
    rule("stacks:delete", MEMBER, "Delete a stack.", f"DELETE {_STACK}"),
    rule("stacks:abandon", MEMBER, "Forget a stack, and leave what it made.", f"DELETE {_STACK}/abandon"),
    rule("stacks:export", MEMBER, "Export a stack, secrets included.", f"GET {_STACK}/export"),
]

_ON_THE_WHOLE = [
    rule("actions:suspend", MEMBER, "Suspend a stack.", _ACTIONS),
    rule("actions:resume", MEMBER, "Resume a stack.", _ACTIONS),
    rule("actions:check", MEMBER, "Check a stack.", _ACTIONS),
    rule("actions:rollback", MEMBER, "Roll a stack back.", _ACTIONS),
    rule("actions:cancel_update", MEMBER, "Cancel an update, and roll it back.", _ACTIONS),
    rule("actions:cancel_without_rollback", MEMBER, "Cancel a create or an update.", _ACTIONS),
    rule("actions:observe", MEMBER, "Look at what a stack really is now.", _ACTIONS),
    rule("actions:converge", MEMBER, "Put right what has drifted in a stack.", _ACTIONS),
]

_SNAPSHOTS = [
    rule("stacks:snapshot", MEMBER, "Take a snapshot of a stack.", f"POST {_STACK}/snapshots"),
    rule("stacks:list_snapshots", READER, "List the snapshots of a stack.", f"GET {_STACK}/snapshots"),
    rule("stacks:show_snapshot", READER, "Show a snapshot.", f"GET {_STACK}/snapshots/{{snapshot_id}}"),
    rule(
        "stacks:delete_snapshot", MEMBER, "Delete a snapshot.", f"DELETE {_STACK}/snapshots/{{snapshot_id}}"
    ),
    rule(
        "stacks:restore_snapshot",
        MEMBER,
        "Bring a stack back to a snapshot.",
        f"POST {_STACK}/snapshots/{{snapshot_id}}/restore",
    ),
]

RULES = [*_COLLECTION, *_ONE, *_ON_THE_WHOLE, *_SNAPSHOTS]
