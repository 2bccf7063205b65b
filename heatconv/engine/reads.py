# SPDX-License-Identifier: Apache-2.0
"""What is: stacks, resources, events, as users see them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from heatconv import errors, template
from heatconv.db import events, resources, services, stacks, sync_points
from heatconv.db.session import Database
from heatconv.model.deferred import references
from heatconv.model.nodes import NodeData
from heatconv.model.records import Event, RawTemplate, Resource, Stack
from heatconv.model.states import Phase
from heatconv.rpc.context import RequestContext

Json = dict[str, Any]


class Reads:
    """Answers reads from the database alone."""

    def __init__(self, database: Database, *, dead_after: float) -> None:
        """Keep what is handed in; ``dead_after`` is the seconds after which a silent daemon is down."""
        self._database = database
        self._dead_after = dead_after

    # -- stacks -----------------------------------------------------------------------------

    def identify_stack(self, context: RequestContext, stack: str) -> Json:
        """Return the name and id of a stack."""
        found = self._find(context, stack)
        return {"name": found.name, "id": found.id}

    def show_stack(self, context: RequestContext, stack: str, resolve_outputs: bool) -> Json:
        """Return a stack with its parameters, progress and outputs."""
        found, raw = self._find_with_template(context, stack)
        outputs = self._outputs(found, raw) if resolve_outputs else None
        return self._stack_views([found])[0] | {"parameters": raw.parameters, "outputs": outputs}

    def list_stacks(self, context: RequestContext, query: Mapping[str, Any]) -> Json:
        """Return a page of stacks, and how many there are if that is asked for."""
        asked = dict(query)
        with_count = asked.pop("with_count", False)
        page = stacks.Page(**asked)
        found = stacks.list_stacks(self._database, context.project_id, page)
        count = stacks.count(self._database, context.project_id, page) if with_count else None
        return {"stacks": self._stack_views(found), "count": count}

    def get_template(self, context: RequestContext, stack: str) -> Json:
        """Return a stack's template as it was posted."""
        return dict(self._raw(context, stack).template)

    def get_environment(self, context: RequestContext, stack: str) -> Json:
        """Return a stack's environment, hidden parameters masked."""
        raw = self._raw(context, stack)
        environment = dict(raw.environment)
        for section in ("parameters", "parameter_defaults"):
            hidden = _hidden(raw.template)
            values = environment.get(section) or {}
            environment[section] = {
                name: "******" if name in hidden else value for name, value in values.items()
            }
        return environment

    def get_files(self, context: RequestContext, stack: str) -> Json:
        """Return a stack's files by name."""
        return dict(self._raw(context, stack).files)

    def list_outputs(self, context: RequestContext, stack: str) -> list[Json]:
        """Return a stack's outputs without their values."""
        raw = self._raw(context, stack)
        return [
            {"output_key": key, "description": output["description"]} for key, output in raw.outputs.items()
        ]

    def show_output(self, context: RequestContext, stack: str, key: str) -> Json:
        """Return one output of a stack with its value."""
        found, raw = self._find_with_template(context, stack)
        if key not in raw.outputs:
            raise errors.NotFound(entity="Output", name=key)
        return self._outputs(found, raw, only=key)[0]

    def _find(self, context: RequestContext, stack: str) -> Stack:
        found = stacks.find(self._database, context.project_id, stack)
        if found is None:
            raise errors.NotFound(entity="Stack", name=stack)
        return found

    def _raw(self, context: RequestContext, stack: str) -> RawTemplate:
        return self._find_with_template(context, stack)[1]

    def _find_with_template(self, context: RequestContext, stack: str) -> tuple[Stack, RawTemplate]:
        """Return a stack and its template; looks again if that was replaced between the two."""
        found = self._find(context, stack)
        try:
            return found, stacks.get_template(self._database, found.raw_template_id)
        except errors.StaleWrite:
            found = self._find(context, stack)
            return found, stacks.get_template(self._database, found.raw_template_id)

    def _stack_views(self, found: Sequence[Stack]) -> list[Json]:
        running = {stack.current_traversal: stack.phase for stack in found if stack.phase is not Phase.DONE}
        counts = sync_points.progress(self._database, running, running) if running else {}
        return [_stack_view(stack, *counts.get(stack.current_traversal, (0, 0))) for stack in found]

    def _outputs(self, stack: Stack, raw: RawTemplate, only: str | None = None) -> list[Json]:
        wanted = {key: output for key, output in raw.outputs.items() if only in (None, key)}
        names = {ref.resource for output in wanted.values() for ref in references(output["value"])}
        rows = self._wanted_rows(stack, {"name": sorted(names)}) if names else []
        nodes = {row.name: _told(row) for row in rows if row.reference_id is not None}
        return [_output_view(key, output, nodes) for key, output in wanted.items()]

    # -- resources ----------------------------------------------------------------------------

    def list_resources(
        self, context: RequestContext, stack: str, filters: Mapping[str, Sequence[str]]
    ) -> list[Json]:
        """Return a stack's resources by name."""
        found = self._find(context, stack)
        rows = self._wanted_rows(found, None)
        needed_by = _needed_by(rows)
        kept = {row.id for row in self._wanted_rows(found, filters)} if filters else None
        return [_resource_view(row, needed_by) for row in rows if kept is None or row.id in kept]

    def show_resource(
        self, context: RequestContext, stack: str, name: str, attributes: Sequence[str] | None
    ) -> Json:
        """Return a resource with its attributes and metadata."""
        rows = self._wanted_rows(self._find(context, stack), None)
        row = next((row for row in rows if row.name == name), None)
        if row is None:
            raise errors.NotFound(entity="Resource", name=name)
        values = {_attribute_name(key): value for key, value in row.attributes.items()}
        return _resource_view(row, _needed_by(rows)) | {"attributes": values, "metadata": dict(row.metadata)}

    def show_graph(self, context: RequestContext, stack: str) -> Json:
        """Return the dependency graph of a stack's resources."""
        rows = self._wanted_rows(self._find(context, stack), None)
        names = {row.name for row in rows}
        keys = ("name", "type", "action", "status", "reason", "physical_id")
        return {
            "nodes": [{key: view[key] for key in keys} for view in (_resource_view(r, {}) for r in rows)],
            "edges": [
                [row.name, other]
                for row in rows
                for other in sorted(row.desired.requires if row.desired else ())
                if other in names
            ],
        }

    def _wanted_rows(self, stack: Stack, filters: Mapping[str, Sequence[str]] | None) -> list[Resource]:
        """Return one row a name: the wanted one if there is one, else one that still awaits its clean-up."""
        rows: dict[str, Resource] = {}
        for row in resources.list_resources(self._database, stack.id, filters):
            rows.setdefault(row.name, row)
        return list(rows.values())

    # -- events and services ----------------------------------------------------------------------

    def list_events(self, context: RequestContext, stack: str, query: Mapping[str, Any]) -> list[Json]:
        """Return events of a stack."""
        found = self._find(context, stack)
        listed = events.list_events(
            self._database,
            found.id,
            limit=query.get("limit"),
            marker=query.get("marker"),
            ascending=query.get("sort_dir") == "asc",
            resource_name=query.get("resource"),
            filters=query.get("filters"),
        )
        return [_event_view(event) for event in listed]

    def show_event(self, context: RequestContext, stack: str, resource: str, event_id: str) -> Json:
        """Return one event with the properties the resource had."""
        event = events.find_event(self._database, self._find(context, stack).id, event_id)
        if event is None or event.resource_name != resource:
            raise errors.NotFound(entity="Event", name=event_id)
        return _event_view(event) | {"resource_properties": dict(event.properties or {})}

    def list_services(self, context: RequestContext) -> list[Json]:
        """Return every daemon that heartbeats."""
        return [
            {
                "id": service.engine_id,
                "engine_id": service.engine_id,
                "binary": service.binary,
                "host": service.host,
                "topic": service.topic,
                "created_at": service.created_at.isoformat(),
                "updated_at": service.updated_at.isoformat(),
                "status": "up" if service.alive else "down",
            }
            for service in services.list_services(self._database, dead_after=self._dead_after)
        ]


def _stack_view(stack: Stack, done: int, total: int) -> Json:
    return {
        "id": stack.id,
        "name": stack.name,
        "project": stack.project_id,
        "description": stack.description,
        "action": stack.action,
        "status": stack.status,
        "reason": stack.reason,
        "phase": stack.phase,
        "progress": {"done": done, "total": total},
        "created_at": _time(stack.created_at),
        "updated_at": _time(stack.updated_at),
        "deleted_at": _time(stack.deleted_at),
        "disable_rollback": stack.disable_rollback,
        "timeout_mins": stack.timeout_mins,
        "tags": list(stack.tags),
        "owner_id": None,
        "user_name": stack.user_name,
    }


def _resource_view(row: Resource, needed_by: Mapping[str, Sequence[str]]) -> Json:
    description = row.desired.description if row.desired else ""
    return {
        "id": row.id,
        "name": row.name,
        "type": row.type,
        "physical_id": row.physical_id,
        "action": row.action,
        "status": row.status,
        "reason": row.reason,
        "required_by": list(needed_by.get(row.name, ())),
        "created_at": _time(row.created_at),
        "updated_at": _time(row.updated_at or row.created_at),
        "description": description,
        "version": row.version,
    }


def _event_view(event: Event) -> Json:
    return {
        "id": event.uuid,
        "time": _time(event.created_at),
        "resource_name": event.resource_name,
        "resource_type": event.resource_type,
        "physical_id": event.physical_id,
        "action": event.action,
        "status": event.status,
        "reason": event.reason,
    }


def _output_view(key: str, output: Mapping[str, Any], nodes: Mapping[str, NodeData]) -> Json:
    view: Json = {"output_key": key, "description": output["description"], "output_value": None}
    missing = {ref.resource for ref in references(output["value"])} - nodes.keys()
    if missing:
        view["output_error"] = f"{', '.join(sorted(missing))}: not created yet."
        return view
    try:
        view["output_value"] = template.resolve(output["value"], nodes)
    except errors.ActionFailed as failure:
        view["output_error"] = str(failure)
    return view


def _told(row: Resource) -> NodeData:
    return NodeData(
        name=row.name, resource_id=row.id, reference_id=row.reference_id, attributes=row.attributes
    )


def _needed_by(rows: Sequence[Resource]) -> dict[str, list[str]]:
    needed_by: dict[str, list[str]] = {}
    for row in rows:
        for other in row.desired.requires if row.desired else ():
            needed_by.setdefault(other, []).append(row.name)
    return needed_by


def _attribute_name(key: str) -> str:
    return ".".join(str(part) for part in json.loads(key))


def _hidden(raw: Mapping[str, Any]) -> set[str]:
    schemas = raw.get("parameters") or {}
    return {name for name, schema in schemas.items() if schema.get("hidden") in (True, "true", "True")}


def _time(moment: datetime | None) -> str | None:
    return None if moment is None else moment.strftime("%Y-%m-%dT%H:%M:%SZ")
