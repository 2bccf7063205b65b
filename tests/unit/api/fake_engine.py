# SPDX-License-Identifier: Apache-2.0
"""An engine at the other end of the bus: stacks in a dict, no template read.

It answers the calls of ``heatconv.rpc.engine_client`` in that contract's
terms, and keeps what it was sent for tests to look at.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any

from heatconv import errors
from heatconv.rpc.context import RequestContext

NOW = "2026-01-31T12:00:00Z"


class FakeEngine:
    """A caller that answers by itself; a test adds rows and reads what arrived."""

    def __init__(self) -> None:
        self.stacks: dict[str, dict[str, Any]] = {}
        self.sources: dict[str, dict[str, Any]] = {}
        self.options: dict[str, dict[str, Any]] = {}
        self.resources: dict[str, list[dict[str, Any]]] = {}
        self.plans: dict[str, str] = {}  #: the action of each, by its id
        self.events: dict[str, list[dict[str, Any]]] = {}
        self.edges: list[list[str]] = []
        self.clearing: list[dict[str, Any]] = []
        self.done: list[tuple[str, str]] = []
        self.signals: list[tuple[str, dict[str, Any]]] = []
        self.noted: list[tuple[str, list[str], bool]] = []
        self.queries: list[dict[str, Any]] = []
        self.known: list[dict[str, str]] = []
        self.trees: list[dict[str, str]] = []
        self.contexts: list[RequestContext] = []
        self.broken: Exception | None = None
        self.is_of_before = False  #: of the release before, which does not know what is new
        #: What happens to a stack while a client looks on: a callable for each time it is shown.
        self.script: list[Any] = []

    def call(self, context: RequestContext, method: str, **arguments: Any) -> Any:
        self.contexts.append(context)
        if self.broken is not None:
            raise self.broken
        return getattr(self, f"_{method}")(context, **arguments)

    # -- what a test prepares ---------------------------------------------------------

    def add_stack(self, name: str, project: str = "default", **row: Any) -> str:
        stack_id = str(row.pop("id", uuid.uuid4()))
        self.stacks[stack_id] = {
            "id": stack_id,
            "name": name,
            "project": project,
            "description": "",
            "action": "CREATE",
            "status": "COMPLETE",
            "reason": "Stack CREATE completed successfully",
            "phase": "DONE",
            "progress": {"done": 0, "total": 0},
            "created_at": NOW,
            "updated_at": None,
            "deleted_at": None,
            "parameters": {"OS::stack_name": name},
            "outputs": [],
            "disable_rollback": True,
            "timeout_mins": None,
            "tags": [],
            "owner_id": None,
            "user_name": None,
            **row,
        }
        self.resources[stack_id] = []
        self.events[stack_id] = []
        self.sources[stack_id] = {"template": {"heat_template_version": "2018-08-31"}}
        return stack_id

    def add_resource(self, stack_id: str, name: str, **row: Any) -> None:
        self.resources[stack_id].append(
            {
                "id": f"row-of-{name}",
                "name": name,
                "type": "OS::Heat::TestResource",
                "physical_id": f"physical-{name}",
                "action": "CREATE",
                "status": "COMPLETE",
                "reason": "state changed",
                "required_by": [],
                "created_at": NOW,
                "updated_at": NOW,
                "description": "",
                "version": 0,
                "attributes": {"output": name},
                "metadata": {},
                "stack": self._called(stack_id),
                "nested": None,
                "parent_resource": None,
                **row,
            }
        )

    def add_event(self, stack_id: str, name: str, action: str, status: str, reason: str = "") -> str:
        event_id = str(uuid.uuid4())
        of_stack = name == self.stacks[stack_id]["name"]
        self.events[stack_id].append(
            {
                "id": event_id,
                "time": NOW,
                "resource_name": name,
                "resource_type": "OS::Heat::Stack" if of_stack else "OS::Heat::TestResource",
                "physical_id": stack_id if of_stack else f"physical-{name}",
                "action": action,
                "status": status,
                "reason": reason,
                "stack": self._called(stack_id),
            }
        )
        return event_id

    def _called(self, stack_id: str) -> dict[str, str]:
        return {"name": self.stacks[stack_id]["name"], "id": stack_id}

    # -- stacks --------------------------------------------------------------------------

    def _find(self, context: RequestContext, stack: str) -> dict[str, Any]:
        for row in self.stacks.values():
            if row["project"] == context.project_id and stack in {row["id"], row["name"]}:
                return row
        raise errors.NotFound(entity="Stack", name=stack)

    def _create_stack(self, context: RequestContext, name: str, source: Any, options: Any) -> str:
        if any(row["name"] == name and row["project"] == context.project_id for row in self.stacks.values()):
            raise errors.StackExists(name=name)
        options = dict(options)
        stack_id = self.add_stack(
            name,
            context.project_id,
            id=options.pop("stack_id"),
            status="IN_PROGRESS",
            reason="Stack CREATE started",
            phase="UPDATE",
        )
        self.sources[stack_id], self.options[stack_id] = source, options
        return stack_id

    def _update_stack(
        self, context: RequestContext, stack: str, source: Any, options: Any, existing: bool = False
    ) -> None:
        row = self._find(context, stack)
        row.update(action="UPDATE", status="IN_PROGRESS", phase="UPDATE")
        self.sources[row["id"]], self.options[row["id"]] = source, options
        self.done.append((row["id"], "patch" if existing else "update"))

    def _delete_stack(self, context: RequestContext, stack: str) -> None:
        row = self._find(context, stack)
        row.update(action="DELETE", status="IN_PROGRESS", phase="GC")
        self.done.append((row["id"], "delete"))

    def _rollback_stack(self, context: RequestContext, stack: str) -> None:
        row = self._find(context, stack)
        row.update(action="ROLLBACK", status="IN_PROGRESS", phase="UPDATE")
        self.done.append((row["id"], "rollback"))

    def _cancel_stack(self, context: RequestContext, stack: str, rollback: bool) -> None:
        self.done.append((self._find(context, stack)["id"], f"cancel rollback={rollback}"))

    def _check_stack(self, context: RequestContext, stack: str) -> None:
        self.done.append((self._find(context, stack)["id"], "check"))

    def _suspend_stack(self, context: RequestContext, stack: str) -> None:
        self.done.append((self._find(context, stack)["id"], "suspend"))

    def _resume_stack(self, context: RequestContext, stack: str) -> None:
        self.done.append((self._find(context, stack)["id"], "resume"))

    def _export_stack(self, context: RequestContext, stack: str) -> Any:
        row = self._find(context, stack)
        return {"name": row["name"], "id": row["id"], "resources": {}}

    def _abandon_stack(self, context: RequestContext, stack: str) -> Any:
        exported = self._export_stack(context, stack)
        self.done.append((exported["id"], "abandon"))
        return exported

    # -- drift -------------------------------------------------------------------------

    def _observe_stack(self, context: RequestContext, stack: str, resource: str | None = None) -> Any:
        self.done.append((self._find(context, stack)["id"], f"observe {resource or 'all'}"))
        return self._show_drift(context, stack, resource)

    def _converge_stack(self, context: RequestContext, stack: str, resource: str | None = None) -> None:
        self.done.append((self._find(context, stack)["id"], f"converge {resource or 'all'}"))

    def _show_drift(self, context: RequestContext, stack: str, resource: str | None = None) -> Any:
        stack_id = self._find(context, stack)["id"]
        found = {"observed_at": NOW, "policy": "detect", "interval": 300.0, "resources": []}
        drifted = {
            "kind": "CHANGED",
            "reason": 'value is "b" and was made "a"',
            "since": NOW,
            "left_alone": False,
            "differences": [{"property": "value", "wanted": "a", "observed": "b"}],
        }
        rows = [row for row in self.resources[stack_id] if resource in (None, row["name"])]
        keys = ("name", "stack", "type", "physical_id")
        found["resources"] = [{**{key: row[key] for key in keys}, **drifted} for row in rows]
        return {"status": "DRIFTED" if rows else "IN_SYNC", "since": NOW, **found}

    def _note_change(
        self, context: RequestContext, physical_ids: list[str], all_projects: bool = False
    ) -> int:
        self.noted.append((context.project_id, physical_ids, all_projects))
        return len([each for each in physical_ids if each != "unknown"])

    # -- snapshots ---------------------------------------------------------------------

    def _snapshot(self, **row: Any) -> dict[str, Any]:
        made = {"action": "CREATE", "status": "COMPLETE", "reason": "", "data": {}, "created_at": NOW}
        return {"id": "s1", "name": None, **made, **row}

    def _create_snapshot(self, context: RequestContext, stack: str, name: str | None) -> Any:
        self.done.append((self._find(context, stack)["id"], f"snapshot {name}"))
        return self._snapshot(name=name, status="IN_PROGRESS", data=None)

    def _list_snapshots(self, context: RequestContext, stack: str) -> Any:
        self._find(context, stack)
        return [self._snapshot()]

    def _show_snapshot(self, context: RequestContext, stack: str, snapshot: str) -> Any:
        if snapshot != "s1":
            raise errors.NotFound(entity="Snapshot", name=snapshot)
        return self._snapshot()

    def _delete_snapshot(self, context: RequestContext, stack: str, snapshot: str) -> None:
        self.done.append((stack, f"delete snapshot {snapshot}"))

    def _restore_snapshot(self, context: RequestContext, stack: str, snapshot: str) -> None:
        self.done.append((stack, f"restore snapshot {snapshot}"))

    # -- stacks: what would be, and what is --------------------------------------------

    def _preview_create(self, context: RequestContext, name: str, source: Any, options: Any) -> Any:
        row = {"name": name, "project": context.project_id, "description": "", "parameters": {}}
        row["tags"] = options["tags"]
        stack = {"stack": {"name": name, "id": "None"}, "parent_resource": None}
        return row | {"resources": [{"name": "a", "type": "OS::Heat::None", **stack}]}

    def _preview_update(
        self, context: RequestContext, stack: str, source: Any, options: Any, existing: bool = False
    ) -> Any:
        rows = self.resources[self._find(context, stack)["id"]]
        return {"unchanged": rows, "updated": [], "replaced": [], "added": [], "deleted": []}

    def _validate_template(self, context: RequestContext, source: Any, show_nested: bool = False) -> Any:
        if "broken" in str(source["template"]):
            raise errors.Invalid(problems=[("resources.a.type", "unknown type"), ("outputs.b", "no value")])
        return {"Description": "", "Parameters": {}, "Environment": {}}

    def _identify_stack(self, context: RequestContext, stack: str, resource: str | None = None) -> Any:
        row = self._find(context, stack)
        return {"name": row["name"], "id": row["id"]}

    def _show_stack(self, context: RequestContext, stack: str, resolve_outputs: bool = True) -> Any:
        row = self._find(context, stack)
        if self.script:
            self.script.pop(0)(row["id"])
        return row | ({} if resolve_outputs else {"outputs": None})

    def _changed_stacks(self, context: RequestContext, known: dict[str, str]) -> Any:
        self.known.append(known)
        now = {each: repr((row, self.events[each])) for each, row in list(self.stacks.items())}
        return {each: now.get(each, "") for each, was in known.items() if now.get(each, "") != was}

    def _changed_trees(self, context: RequestContext, known: dict[str, str]) -> Any:
        self.trees.append(known)
        return self._changed_stacks(context, known)

    def _list_changes(
        self,
        context: RequestContext,
        stack: str,
        since: str | None = None,
        limit: int = 500,
        nested: bool = True,
    ) -> Any:
        """Have the number of events that were seen for a cursor."""
        row = self._find(context, stack)
        every = self.events[row["id"]]
        new = every[int(since) :][:limit] if since is not None else []
        seen = len(every) if since is None else int(since) + len(new)
        names = {event["resource_name"] for event in new}
        found = [each for each in self.resources[row["id"]] if each["name"] in names]
        more = {"requires": [], "wanted": True, "clearing": 0, "gone": False}
        return {
            "cursor": str(seen),
            "news": since is None or bool(new),
            "more": seen < len(every),
            "missed": False,
            "stack": row | {"drift": None},
            "events": new,
            "resources": [each | more for each in found],
        }

    def _list_stacks(self, context: RequestContext, query: Any, search: str = "") -> Any:
        self.queries.append(query | ({"search": search} if search else {}))
        wanted = (
            {row["project"] for row in self.stacks.values()}
            if query["all_projects"]
            else {context.project_id}
        )
        rows = [row for row in self.stacks.values() if row["project"] in wanted]
        ids = [row["id"] for row in rows]
        start = ids.index(query["marker"]) + 1 if query["marker"] else 0
        page = rows[start:][: query["limit"]]
        return {"stacks": page, "count": len(rows) if query["with_count"] else None}

    def _get_template(self, context: RequestContext, stack: str) -> Any:
        return self.sources[self._find(context, stack)["id"]]["template"]

    def _get_environment(self, context: RequestContext, stack: str) -> Any:
        return {"parameters": {}, "resource_registry": {}}

    def _get_files(self, context: RequestContext, stack: str) -> Any:
        return self.sources[self._find(context, stack)["id"]].get("files", {})

    def _list_outputs(self, context: RequestContext, stack: str) -> Any:
        return self._find(context, stack)["outputs"]

    def _show_output(self, context: RequestContext, stack: str, key: str) -> Any:
        for output in self._find(context, stack)["outputs"]:
            if output["output_key"] == key:
                return output
        raise errors.NotFound(entity="Output", name=key)

    def _explain_stack(self, context: RequestContext, stack: str) -> Any:
        return {"sentence": f"{stack} waits", "waits": [], "failures": []}

    def _show_graph(self, context: RequestContext, stack: str) -> Any:
        keys = ("name", "type", "action", "status", "reason", "physical_id")
        rows = self.resources[self._find(context, stack)["id"]]
        nodes = [{key: row[key] for key in keys} for row in rows]
        return {"nodes": nodes, "clearing": self.clearing, "edges": self.edges}

    def _show_picture(
        self, context: RequestContext, stack: str, most: int, find: str = "", mark: str | None = None
    ) -> Any:
        self.queries.append({"most": most, "find": find, "mark": mark})
        return {"stack": self._called(self._find(context, stack)["id"]), "marks": [], "edges": []}

    # -- resources and events ---------------------------------------------------------------

    def _list_resources(
        self, context: RequestContext, stack: str, filters: Any, nested_depth: int = 0, **every: bool
    ) -> Any:
        self.queries.append({"filters": filters, "nested_depth": nested_depth, **every})
        rows = self.resources[self._find(context, stack)["id"]]
        if every:
            rows = [{"wanted": True, "replaced_by": None, **row} for row in rows]
        return [row for row in rows if all(row[key] in wanted for key, wanted in filters.items())]

    def _show_resource(
        self,
        context: RequestContext,
        stack: str,
        name: str,
        attributes: Sequence[str] = (),
        detail: bool = True,
    ) -> Any:
        if not detail and self.is_of_before:
            raise errors.NotUnderstood(reason="detail")
        row = self._resource(context, stack, name)
        return row | {"attributes": row["attributes"] | dict.fromkeys(attributes, "asked for")}

    def _get_metadata(self, context: RequestContext, stack: str, name: str) -> Any:
        return self._resource(context, stack, name)["metadata"]

    def _signal_resource(self, context: RequestContext, stack: str, name: str, details: Any) -> None:
        self._resource(context, stack, name)
        self.signals.append((name, details))

    def _mark_unhealthy(
        self, context: RequestContext, stack: str, name: str, unhealthy: bool, reason: str
    ) -> None:
        self.signals.append((name, {"unhealthy": unhealthy, "reason": reason}))

    def _resource(self, context: RequestContext, stack: str, name: str) -> Any:
        for row in self.resources[self._find(context, stack)["id"]]:
            if row["name"] == name:
                return row
        raise errors.NotFound(entity="Resource", name=name)

    def _list_events(self, context: RequestContext, stack: str, query: Any) -> Any:
        self.queries.append(query)
        rows = list(self.events[self._find(context, stack)["id"]])
        if "resource" in query:
            rows = [row for row in rows if row["resource_name"] == query["resource"]]
        if query["sort_dir"] != "asc":
            rows.reverse()
        ids = [row["id"] for row in rows]
        start = ids.index(query["marker"]) + 1 if query["marker"] else 0
        return rows[start:][: query["limit"]]

    def _show_event(self, context: RequestContext, stack: str, resource: str, event_id: str) -> Any:
        for row in self.events[self._find(context, stack)["id"]]:
            if row["id"] == event_id and row["resource_name"] == resource:
                return row | {"resource_properties": {"value": "v"}}
        raise errors.NotFound(entity="Event", name=event_id)

    # -- the rest -----------------------------------------------------------------------------

    def _create_plan(self, context: RequestContext, action: str, **_asked: Any) -> Any:
        self.done.append(("plan", action))
        self.plans["made"] = action
        return self._show_plan(context, "made", limit=2)

    def _show_plan(self, context: RequestContext, plan: str, start: int = 0, limit: int | None = None) -> Any:
        """Return a plan of five resources."""
        if plan not in self.plans:
            raise errors.NotFound(entity="Plan", name=plan)
        stop = 5 if limit is None else min(start + limit, 5)
        numbers = [{"order": number} for number in range(start, stop)]
        following = stop if stop < 5 else None
        return {"id": plan, "action": self.plans[plan], "resources": numbers, "next": following}

    def _list_resource_types(self, context: RequestContext, query: Any) -> Any:
        self.queries.append(query)
        return [{"resource_type": "OS::Heat::None", "description": "Does nothing."}]

    def _show_resource_type(self, context: RequestContext, type_name: str) -> Any:
        if type_name != "OS::Heat::None":
            raise errors.NotFound(entity="Resource Type", name=type_name)
        return {
            "resource_type": type_name,
            "properties": {},
            "attributes": {},
            "support_status": {"status": "SUPPORTED"},
        }

    def _make_type_template(self, context: RequestContext, type_name: str, language: str) -> Any:
        return {"type": type_name, "language": language}

    def _list_template_versions(self, context: RequestContext) -> Any:
        return [{"version": "heat_template_version.2018-08-31", "type": "hot", "aliases": ["rocky"]}]

    def _list_template_functions(
        self, context: RequestContext, version: str, with_conditions: bool = False
    ) -> Any:
        names = ["get_attr", "equals"] if with_conditions else ["get_attr"]
        return [{"functions": name, "description": ""} for name in names]

    def _get_revision(self, context: RequestContext) -> str:
        return "9.9.9"

    def _show_work(self, context: RequestContext) -> Any:
        return {"backlog": 2, "oldest_ready": 3, "oldest_traversal": 5, "longest_action": 4}

    def _list_services(self, context: RequestContext) -> Any:
        return [
            {
                "id": "1",
                "binary": "heatconv-worker",
                "engine_id": "e1",
                "host": "h",
                "topic": "heatconv-worker",
                "updated_at": NOW,
                "status": "up",
            }
        ]
