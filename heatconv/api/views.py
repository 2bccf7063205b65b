# SPDX-License-Identifier: Apache-2.0
"""The engine's answers under Heat's keys, with links.

Heat's keys come first in each view; what is heatconv's own follows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from heatconv.api.call import Call, Stack
from heatconv.model.saved_plan import PAGE
from heatconv.rpc.engine_client import Json

#: What clients are told of a template, and of an output, that is not described.
NO_DESCRIPTION = "No description"
NO_OUTPUT_DESCRIPTION = "No description given"


def link(href: str, rel: str = "self") -> dict[str, str]:
    """Return one entry of a ``links`` list."""
    return {"href": href, "rel": rel}


def next_page(url: str, query: Mapping[str, Any], marker: object) -> str:
    """Return the URL of the page after a marker, whose query is else the same."""
    params = {key: value for key, value in query.items() if key != "marker"}
    return f"{url}?{urlencode({**params, 'marker': marker}, doseq=True)}"


def state(action: str, status: str) -> str:
    """Return an action and its status as one word."""
    return f"{action}_{status}"


def stack_row(call: Call, row: Json, *, with_project: bool = False) -> Json:
    """Return a stack as lists show it; ``with_project`` tells whose it is."""
    return {
        **_stack_identity(call, row),
        "description": row.get("description") or "",
        "stack_status": state(row["action"], row["status"]),
        "stack_status_reason": row.get("reason") or "",
        "creation_time": row.get("created_at"),
        "updated_time": row.get("updated_at"),
        "deletion_time": row.get("deleted_at"),
        "stack_owner": row.get("user_name"),
        "parent": row.get("owner_id"),
        "stack_user_project_id": None,
        "tags": row.get("tags") or None,
        "phase": row.get("phase"),
        "progress": row.get("progress"),
        **({"project": row["project"]} if with_project else {}),
        **({"drift": row["drift"]} if "drift" in row else {}),
    }


def stack(call: Call, row: Json) -> Json:
    """Return a stack as it is shown alone."""
    return stack_row(call, row) | _stack_detail(row)


def stack_preview(call: Call, row: Json) -> Json:
    """Return a stack that does not exist: it has neither id nor state."""
    shown = {**row, "id": "None", "action": "", "status": ""}
    stateless = {"stack_status", "stack_status_reason", "phase", "progress", "drift"}
    view = {key: value for key, value in stack(call, shown).items() if key not in stateless}
    return view | {"resources": _nested_lists(call, row["resources"])}


def _nested_lists(call: Call, rows: list[Any]) -> list[Any]:
    """Return resources in lists, and in lists among those, as stacks are nested."""
    return [
        _nested_lists(call, each) if isinstance(each, list) else raw_resource(call, each) for each in rows
    ]


def _stack_identity(call: Call, row: Json) -> Json:
    href = call.url("stacks", row["name"], row["id"], project=row["project"])
    return {"id": row["id"], "links": [link(href)], "stack_name": row["name"]}


def _stack_detail(row: Json) -> Json:
    description = row.get("description") or NO_DESCRIPTION
    return {
        "description": description,
        "template_description": description,
        "parameters": row.get("parameters") or {},
        "outputs": [output(each) for each in row.get("outputs") or []],
        "disable_rollback": row.get("disable_rollback"),
        "timeout_mins": row.get("timeout_mins"),
        "tags": row.get("tags") or [],
        "capabilities": [],
        "notification_topics": [],
        "convergence": row.get("convergence"),
        "drift": row.get("drift"),
    }


def output_row(row: Json) -> Json:
    """Return an output as lists show it: without its value."""
    return {"output_key": row["output_key"], "description": row.get("description") or NO_OUTPUT_DESCRIPTION}


def output(row: Json) -> Json:
    """Return an output with its value."""
    return row | output_row(row)


def resource(call: Call, row: Json, *, detail: bool = False) -> Json:
    """Return a resource; ``detail`` adds its description and attributes."""
    stack_of = Stack(**row["stack"])
    links = [
        link(call.stack_url(stack_of, "resources", row["name"])),
        link(call.stack_url(stack_of), "stack"),
    ]
    if row["nested"]:
        links.append(link(call.stack_url(Stack(**row["nested"])), "nested"))
    view = {
        **_resource_names(row),
        "resource_status": state(row["action"], row["status"]),
        "resource_status_reason": row.get("reason") or "",
        "required_by": row.get("required_by") or [],
        "creation_time": row.get("created_at"),
        "updated_time": row.get("updated_at"),
        "links": links,
    }
    if row["parent_resource"]:
        view["parent_resource"] = row["parent_resource"]
    if "wanted" in row:
        view |= {"wanted": row["wanted"], "version": row["version"], "replaced_by": _successor(row)}
    if detail:
        view |= {
            "description": row.get("description") or "",
            "attributes": row.get("attributes") or {},
        }
    if "drift" in row:
        view["drift"] = row["drift"]
    return view


def _successor(row: Json) -> Json | None:
    other = row["replaced_by"]
    return other and {
        "version": other["version"],
        "physical_resource_id": other["physical_id"] or "",
        "resource_status": state(other["action"], other["status"]),
    }


def drift(call: Call, row: Json) -> Json:
    """Return what has drifted, each resource with links."""
    return {**row, "resources": [_drifted(call, each) for each in row["resources"]]}


def _drifted(call: Call, row: Json) -> Json:
    stack_of = Stack(**row["stack"])
    links = [
        link(call.stack_url(stack_of, "resources", row["name"])),
        link(call.stack_url(stack_of), "stack"),
    ]
    keys = ("kind", "reason", "since", "left_alone", "differences")
    return {**_resource_names(row), **{key: row[key] for key in keys}, "links": links}


def raw_resource(call: Call, row: Json) -> Json:
    """Return a resource as previews do: action and status apart, an identity in place of links."""
    stack_of, path = Stack(**row["stack"]), f"/resources/{row['name']}"
    view = {
        **_resource_names(row),
        "resource_action": row.get("action"),
        "resource_status": row.get("status"),
        "resource_status_reason": row.get("reason") or "",
        "required_by": row.get("required_by") or [],
        "creation_time": row.get("created_at"),
        "updated_time": row.get("updated_at"),
        "description": row.get("description") or "",
        "resource_identity": _identity(call, stack_of, path),
        "stack_identity": _identity(call, stack_of, ""),
        "stack_name": stack_of.name,
    }
    if row["parent_resource"]:
        view["parent_resource"] = row["parent_resource"]
    return view | {key: row[key] for key in ("properties", "attributes") if key in row}


def _identity(call: Call, stack_of: Stack, path: str) -> Json:
    return {
        "tenant": call.context.project_id,
        "stack_name": stack_of.name,
        "stack_id": stack_of.id,
        "path": path,
    }


def _resource_names(row: Json) -> Json:
    return {
        "resource_name": row["name"],
        "logical_resource_id": row["name"],
        "physical_resource_id": row.get("physical_id") or "",
        "resource_type": row["type"],
    }


def event(call: Call, row: Json, *, detail: bool = False, root: Stack | None = None) -> Json:
    """Return an event; ``detail`` adds the resource's type and properties, ``root`` a link to a stack."""
    stack_of, name = Stack(**row["stack"]), row["resource_name"]
    links = [
        link(call.stack_url(stack_of, "resources", name, "events", row["id"])),
        link(call.stack_url(stack_of, "resources", name), "resource"),
        link(call.stack_url(stack_of), "stack"),
    ]
    if root is not None:
        links.append(link(call.stack_url(root), "root_stack"))
    view: dict[str, Any] = {
        "id": row["id"],
        "event_time": row["time"],
        "resource_name": name,
        "logical_resource_id": name,
        "physical_resource_id": row.get("physical_id"),
        "resource_status": state(row["action"], row["status"]),
        "resource_status_reason": (row.get("reason") or "")[:255],
        "links": links,
    }
    if detail:
        view |= {
            "resource_type": row["resource_type"],
            "resource_properties": row.get("resource_properties") or {},
        }
    return view


def changes(call: Call, row: Json) -> Json:
    """Return what is new in a stack."""
    return {
        "cursor": row["cursor"],
        "missed": row["missed"],
        "more": row["more"],
        "stack": stack_row(call, row["stack"]),
        "events": [event(call, each) | {"stack": each["stack"]} for each in row["events"]],
        "resources": [_changed_resource(each) for each in row["resources"]],
    }


def _changed_resource(row: Json) -> Json:
    view = {"resource_name": row["name"], "resource_type": row["type"], "stack": row["stack"]}
    if row["gone"]:
        return {**view, "gone": True}
    return {
        **view,
        "gone": False,
        "physical_resource_id": row["physical_id"] or "",
        "resource_status": state(row["action"], row["status"]),
        "resource_status_reason": row["reason"] or "",
        "updated_time": row["updated_at"],
        "requires": row["requires"],
        "wanted": row["wanted"],
        "clearing": row["clearing"],
    }


def snapshot(row: Json) -> Json:
    """Return a snapshot under Heat's keys."""
    return {
        "id": row["id"],
        "name": row["name"],
        "action": row["action"],
        "status": row["status"],
        "status_reason": row["reason"],
        "data": row["data"],
        "creation_time": row["created_at"],
    }


def plan(call: Call, row: Json) -> Json:
    """Return a plan, with the way to it, and to the next page of its resources."""
    shown, here = dict(row), call.url("plans", row["id"])
    following = shown.pop("next", None)
    links = [link(here)]
    if following is not None:
        limit = call.query.get("limit") or PAGE
        links.append(link(next_page(here, {"limit": limit}, following), "next"))
    return {**shown, "links": links}


def service(row: Json) -> Json:
    """Return a daemon under Heat's keys."""
    keys = ("id", "binary", "engine_id", "host", "topic", "updated_at", "status")
    more = ("report_interval", "created_at", "deleted_at")
    return {key: row[key] for key in keys} | {"hostname": row["host"]} | {key: row.get(key) for key in more}
