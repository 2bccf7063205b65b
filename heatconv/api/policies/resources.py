# SPDX-License-Identifier: Apache-2.0
"""Who may do what with resources, and see what can be declared."""

from __future__ import annotations

from heatconv.api.policies.base import MEMBER, MEMBER_OR_STACK_USER, READER, READER_OR_STACK_USER, rule

_RESOURCES = "/stacks/{stack_name}/{stack_id}/resources"
_RESOURCE = _RESOURCES + "/{resource_name}"
_TYPE = "/resource_types/{type_name}"

RULES = [
    rule("resource:index", READER, "List the resources of a stack.", f"GET {_RESOURCES}"),
    rule("resource:show", READER, "Show a resource.", f"GET {_RESOURCE}"),
    rule(
        "resource:metadata", READER_OR_STACK_USER, "Show a resource's metadata.", f"GET {_RESOURCE}/metadata"
    ),
    rule("resource:signal", MEMBER_OR_STACK_USER, "Signal a resource.", f"POST PUT {_RESOURCE}/signal"),
    rule("resource:drift", READER, "Show whether a resource has drifted.", f"GET {_RESOURCE}/drift"),
    rule("resource:observe", MEMBER, "Look at what a resource really is now.", f"POST {_RESOURCE}/actions"),
    rule("resource:converge", MEMBER, "Put a resource right that has drifted.", f"POST {_RESOURCE}/actions"),
    rule("resource:mark_unhealthy", MEMBER, "Mark a resource as unhealthy.", f"PATCH {_RESOURCE}"),
    rule("stacks:list_resource_types", READER, "List the resource types.", "GET /resource_types"),
    rule("stacks:resource_schema", READER, "Show the schema of a resource type.", f"GET {_TYPE}"),
    rule("stacks:generate_template", READER, "Make a template of a resource type.", f"GET {_TYPE}/template"),
    rule("stacks:list_template_versions", READER, "List the template versions.", "GET /template_versions"),
    rule(
        "stacks:list_template_functions",
        READER,
        "List the functions of a template version.",
        "GET /template_versions/{version}/functions",
    ),
]
