# SPDX-License-Identifier: Apache-2.0
"""What is: stacks, and the daemons that serve them, as users see them."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from typing import Any

from heatconv import errors, template
from heatconv.db import nested, resources, services, stacks, sync_points, turns
from heatconv.db.session import Database
from heatconv.engine import views
from heatconv.engine.found import find, first_of_each_name
from heatconv.engine.veil import Veil
from heatconv.model.deferred import references
from heatconv.model.nodes import NodeData
from heatconv.model.records import RawTemplate, Resource, Stack
from heatconv.model.secrets import sentence
from heatconv.model.states import Phase
from heatconv.resources.group_attributes import output_name
from heatconv.rpc.context import RequestContext

Json = dict[str, Any]


class Reads:
    """Answers from the database alone, in a number of statements that does not grow with the answer."""

    def __init__(self, database: Database, *, dead_after: float) -> None:
        """Keep what is handed in; ``dead_after`` is the seconds after which a silent daemon is down."""
        self._database = database
        self._dead_after = dead_after

    # -- stacks -----------------------------------------------------------------------------

    def identify_stack(self, context: RequestContext, stack: str) -> Json:
        """Return the name and id of a stack."""
        return views.identity(find(self._database, context, stack))

    def show_stack(self, context: RequestContext, stack: str, resolve_outputs: bool) -> Json:
        """Return a stack with its parameters, progress and outputs."""
        found, raw = self._find_with_template(context, stack)
        outputs = self._outputs(found, raw) if resolve_outputs else None
        drift = None if found.owner_resource_id else views.drift(turns.get(self._database, found.id))
        shown = {"parameters": raw.parameters, "outputs": outputs, "drift": drift}
        return self._stack_views([found])[0] | shown

    def list_stacks(self, context: RequestContext, query: Mapping[str, Any]) -> Json:
        """Return a page of stacks, and how many there are if that is asked for."""
        asked = dict(query)
        with_count = asked.pop("with_count", False)
        project_id = None if asked.pop("all_projects", False) else context.project_id
        page = stacks.Page(**asked)
        found = stacks.list_stacks(self._database, project_id, page)
        count = stacks.count(self._database, project_id, page) if with_count else None
        return {"stacks": self._stack_views(found), "count": count}

    def get_template(self, context: RequestContext, stack: str) -> Json:
        """Return a stack's template as it was posted, the defaults of hidden parameters masked."""
        return Veil(self._raw(context, stack)).template()

    def get_environment(self, context: RequestContext, stack: str) -> Json:
        """Return a stack's environment, hidden parameters masked."""
        return Veil(self._raw(context, stack)).environment()

    def get_files(self, context: RequestContext, stack: str) -> Json:
        """Return a stack's files by name, what they say of hidden parameters masked."""
        return Veil(self._raw(context, stack)).files()

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
        return self._outputs(found, raw, only=(key,))[0]

    def _raw(self, context: RequestContext, stack: str) -> RawTemplate:
        return self._find_with_template(context, stack)[1]

    def _find_with_template(self, context: RequestContext, stack: str) -> tuple[Stack, RawTemplate]:
        """Return a stack and its template; looks again if that was replaced between the two."""
        found = find(self._database, context, stack)
        try:
            return found, stacks.get_template(self._database, found.raw_template_id)
        except errors.StaleWrite:
            found = find(self._database, context, stack)
            return found, stacks.get_template(self._database, found.raw_template_id)

    def _stack_views(self, found: Sequence[Stack]) -> list[Json]:
        running = {stack.current_traversal: stack.phase for stack in found if stack.phase is not Phase.DONE}
        counts = sync_points.progress(self._database, running, running) if running else {}
        owners = [stack.owner_resource_id for stack in found if stack.owner_resource_id]
        parents = (
            {each.id: each.parent_id for each in nested.of_owners(self._database, owners)} if owners else {}
        )
        shown = []
        for stack in found:
            done, total = counts.get(stack.current_traversal, (0, 0))
            shown.append(views.stack(stack, parent_id=parents.get(stack.id), done=done, total=total))
        return shown

    def _outputs(self, stack: Stack, raw: RawTemplate, only: Container[str] | None = None) -> list[Json]:
        wanted = {key: output for key, output in raw.outputs.items() if only is None or key in only}
        names = {ref.resource for output in wanted.values() for ref in references(output["value"])}
        rows = resources.list_resources(self._database, stack.id, sorted(names)) if names else []
        nodes = {
            row.name: _told(row, self._below(row, wanted))
            for row in first_of_each_name(rows)
            if row.reference_id is not None
        }

        def hide(text: str) -> str:
            return sentence(text, Veil(raw).secrets.union(*(row.secrets for row in rows)))

        return [_output(key, output, nodes, hide) for key, output in wanted.items()]

    def _below(self, row: Resource, wanted: Mapping[str, Mapping[str, Any]]) -> Json:
        """Return what a row has not told, or not since it was scaled, as the stack that it owns tells it."""
        asked = [ref for output in wanted.values() for ref in references(output["value"])]
        lacking = [
            ref
            for ref in asked
            if ref.resource == row.name and ref.attribute and ref.key not in row.attributes
        ]
        child = nested.child_of(self._database, row.id) if lacking else None
        stack = stacks.get(self._database, child.id) if child else None
        if stack is None or stack.deleted_at is not None:
            return {}
        names = {output_name(ref.attribute, ref.path): ref.key for ref in lacking if ref.attribute}
        views = self._outputs(stack, stacks.get_template(self._database, stack.raw_template_id), only=names)
        return {names[view["output_key"]]: view["output_value"] for view in views}

    # -- services ---------------------------------------------------------------------------

    def list_services(self, context: RequestContext) -> list[Json]:
        """Return every daemon that heartbeats."""
        known = services.list_services(self._database, dead_after=self._dead_after)
        return [views.service(service) for service in known]


def _output(
    key: str, output: Mapping[str, Any], nodes: Mapping[str, NodeData], hide: Callable[[str], str]
) -> Json:
    """Return an output; its value is the user's to show, what is wrong with it must not tell of it."""
    view: Json = {"output_key": key, "description": output["description"], "output_value": None}
    missing = {ref.resource for ref in references(output["value"])} - nodes.keys()
    if missing:
        view["output_error"] = f"{', '.join(sorted(missing))}: not created yet."
        return view
    try:
        view["output_value"] = template.resolve(output["value"], nodes)
    except errors.ActionFailed as failure:
        view["output_error"] = hide(str(failure))
    return view


def _told(row: Resource, below: Mapping[str, Any]) -> NodeData:
    return NodeData(
        name=row.name,
        resource_id=row.id,
        reference_id=row.reference_id,
        attributes={**below, **row.attributes},
    )
