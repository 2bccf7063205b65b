# SPDX-License-Identifier: Apache-2.0
"""What is: stacks, and the daemons that serve them, as users see them."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import replace
from typing import Any

from heatconv import errors, template
from heatconv.db import surveys
from heatconv.db.convergence import nested, resources, services, stacks, sync_points
from heatconv.db.convergence.fingerprints import fingerprints
from heatconv.db.convergence.shown import Shown, show, show_several
from heatconv.db.observation import drifted
from heatconv.db.plumbing.session import Database
from heatconv.engine import views
from heatconv.engine.lookup import changed, find
from heatconv.engine.redaction import Redaction
from heatconv.engine.stack_users import own_resource
from heatconv.model.deferred import references
from heatconv.model.nodes import NodeData
from heatconv.model.records import RawTemplate, Stack
from heatconv.model.secrets import sentence
from heatconv.model.states import Phase
from heatconv.resources.exception import TemplateOutputError
from heatconv.resources.group_attributes import output_name
from heatconv.resources.nested import Outputs
from heatconv.rpc.context import RequestContext

Json = dict[str, Any]

MOMENT = 0.05  #: seconds after which no more of several stacks are shown together


class Reads:
    """Answers from the database alone, in a number of statements that does not grow with the answer."""

    def __init__(self, database: Database, *, dead_after: float) -> None:
        """Keep what is handed in; ``dead_after`` is the seconds after which a silent daemon is down."""
        self._database = database
        self._dead_after = dead_after

    # -- stacks -----------------------------------------------------------------------------

    def identify_stack(self, context: RequestContext, stack: str, *, resource: str | None = None) -> Json:
        """Return the name and id of a stack; with ``resource``, of that of a stack user's resource."""
        own = own_resource(self._database, context, stack, resource) if resource else None
        return views.identity(own[0] if own else find(self._database, context, stack))

    def show_stack(self, context: RequestContext, stack: str, *, resolve_outputs: bool = True) -> Json:
        """Return a stack with its parameters, progress and outputs."""
        shown = self._shown(context, stack, with_outputs=resolve_outputs, with_progress=True)
        return self._view(shown, resolve_outputs=resolve_outputs)

    def show_stacks(self, _context: RequestContext, wanted: Sequence[Json]) -> list[Json | None]:
        """Return stacks as ``show_stack`` does, as many as can be shown in a moment."""
        with_outputs = any(each["resolve_outputs"] for each in wanted)
        stack_ids = [each["stack_id"] for each in wanted]
        found = show_several(self._database, stack_ids, with_outputs=with_outputs, with_progress=True)
        until = time.monotonic() + MOMENT
        views: list[Json | None] = []
        for each in wanted:
            shown = found.get((each["project_id"], each["stack_id"]))
            is_late = time.monotonic() > until
            views.append(
                None
                if shown is None or is_late
                else self._view(shown, resolve_outputs=each["resolve_outputs"])
            )
        return views

    def _view(self, shown: Shown, *, resolve_outputs: bool) -> Json:
        found = shown.stack
        view = views.stack(found, parent_id=shown.parent_id, done=shown.done, total=shown.total)
        return view | {
            "parameters": shown.parameters,
            "outputs": self._outputs(found, shown.outputs) if resolve_outputs else None,
            "drift": None if found.owner_resource_id else views.drift(shown.drift),
        }

    def list_stacks(self, context: RequestContext, query: Mapping[str, Any], *, search: str = "") -> Json:
        """Return a page of stacks, and how many there are if that is asked for."""
        asked = dict(query)
        with_count = asked.pop("with_count", False)
        with_drift = asked.pop("with_drift", False)
        project_id = None if asked.pop("all_projects", False) else context.project_id
        page = stacks.Page(**asked, search=search)
        found = stacks.list_stacks(self._database, project_id, page)
        count = stacks.count(self._database, project_id, page) if with_count else None
        shown = self._stack_views(found)
        if with_drift:
            drifts = drifted.of_stacks(self._database, [stack.id for stack in found])
            shown = [view | {"drift": views.drift(drifts.get(view["id"]))} for view in shown]
        return {"stacks": shown, "count": count}

    def changed_stacks(self, context: RequestContext, known: Mapping[str, str]) -> dict[str, str]:
        """Return the fingerprints of those stacks that have another than is known; "" if it is gone."""
        return changed(known, fingerprints(self._database, list(known)))

    def get_template(self, context: RequestContext, stack: str) -> Json:
        """Return a stack's template as it was posted, the defaults of hidden parameters masked."""
        return Redaction(self._raw(context, stack)).template()

    def get_environment(self, context: RequestContext, stack: str) -> Json:
        """Return a stack's environment, hidden parameters masked."""
        return Redaction(self._raw(context, stack)).environment()

    def get_files(self, context: RequestContext, stack: str) -> Json:
        """Return a stack's files by name, what they say of hidden parameters masked."""
        return Redaction(self._raw(context, stack)).files()

    def list_outputs(self, context: RequestContext, stack: str) -> list[Json]:
        """Return a stack's outputs without their values."""
        shown = self._shown(context, stack)
        return [
            {"output_key": key, "description": output["description"]} for key, output in shown.outputs.items()
        ]

    def show_output(self, context: RequestContext, stack: str, key: str) -> Json:
        """Return one output of a stack with its value."""
        shown = self._shown(context, stack)
        if key not in shown.outputs:
            raise errors.NotFound(entity="Output", name=key)
        return self._outputs(shown.stack, shown.outputs, only=(key,))[0]

    def _shown(
        self,
        context: RequestContext,
        stack: str,
        *,
        with_outputs: bool = True,
        with_progress: bool = False,
    ) -> Shown:
        shown = show(
            self._database,
            context.project_id,
            stack,
            with_outputs=with_outputs,
            with_progress=with_progress,
        )
        if shown is None:
            raise errors.NotFound(entity="Stack", name=stack)
        return shown

    def _raw(self, context: RequestContext, stack: str) -> RawTemplate:
        """Return a stack's template; looks again if that was replaced between the two."""
        found = find(self._database, context, stack)
        try:
            return stacks.get_template(self._database, found.raw_template_id)
        except errors.StaleWrite:
            found = find(self._database, context, stack)
            return stacks.get_template(self._database, found.raw_template_id)

    def _progress(self, found: Sequence[Stack]) -> dict[str, tuple[int, int]]:
        """Return (done, total) nodes by traversal of those stacks in which something goes on."""
        running = {stack.current_traversal: stack.phase for stack in found if stack.phase is not Phase.DONE}
        return sync_points.progress(self._database, running, running) if running else {}

    def _stack_views(self, found: Sequence[Stack]) -> list[Json]:
        counts = self._progress(found)
        owners = [stack.owner_resource_id for stack in found if stack.owner_resource_id]
        parents = (
            {each.id: each.parent_id for each in nested.of_owners(self._database, owners)} if owners else {}
        )
        shown = []
        for stack in found:
            done, total = counts.get(stack.current_traversal, (0, 0))
            shown.append(views.stack(stack, parent_id=parents.get(stack.id), done=done, total=total))
        return shown

    def _outputs(
        self, stack: Stack, outputs: Mapping[str, Mapping[str, Any]], only: Container[str] | None = None
    ) -> list[Json]:
        wanted = {key: output for key, output in outputs.items() if only is None or key in only}
        names = sorted({ref.resource for output in wanted.values() for ref in references(output["value"])})
        data = resources.data_of(self._database, stack.id, names) if names else {}
        nodes: dict[str, NodeData] = {}
        wrong: dict[tuple[str, str], str] = {}
        for name, node in data.items():
            if node.reference_id is not None:
                below = self._below(stack, node, wanted)
                nodes[name] = replace(node, attributes={**below.values, **node.attributes})
                wrong |= {(name, key): reason for key, reason in below.errors.items()}

        @functools.cache
        def secrets() -> frozenset[str]:
            raw = stacks.get_template(self._database, stack.raw_template_id)
            rows = resources.list_resources(self._database, stack.id, names)
            # What was told may have changed since, and what a nested stack tells is known to its row alone.
            shown = (node.secrets for node in data.values())
            return Redaction(raw).secrets.union(*shown, *(row.secrets for row in rows))

        def hide(text: str) -> str:
            try:
                return sentence(text, secrets())
            except errors.StaleWrite:  # what is to be hidden is not known any more
                return "the stack is being updated; ask again."

        return [_output(key, output, nodes, wrong, hide) for key, output in wanted.items()]

    def _below(self, around: Stack, node: NodeData, wanted: Mapping[str, Mapping[str, Any]]) -> Outputs:
        """Return what a resource has not told, or not since it was scaled, as the stack that it owns does.

        By ``Reference.key``; what the stack cannot tell is told in Heat's words.
        """
        asked = [ref for output in wanted.values() for ref in references(output["value"])]
        lacking = [
            ref
            for ref in asked
            if ref.resource == node.name and ref.attribute and ref.key not in node.attributes
        ]
        child = nested.child_of(self._database, node.resource_id) if lacking else None
        if child is None:
            unknown = {
                ref.key: f"{node.name}: its attribute {ref.attribute} is not known." for ref in lacking
            }
            return Outputs(errors=unknown)
        inside = show(self._database, around.project_id, child.id, with_outputs=True, with_progress=False)
        if inside is None or inside.stack.deleted_at is not None:
            return Outputs()
        names = {output_name(ref.attribute, ref.path): ref.key for ref in lacking if ref.attribute}
        below = Outputs.of(self._outputs(inside.stack, inside.outputs, only=names))
        return Outputs(
            {names[name]: value for name, value in below.values.items()},
            {
                names[name]: str(TemplateOutputError(resource=node.name, attribute=name, message=reason))
                for name, reason in below.errors.items()
            },
        )

    # -- services ---------------------------------------------------------------------------

    def list_services(self, context: RequestContext) -> list[Json]:
        """Return every daemon that heartbeats."""
        known = services.list_services(self._database, dead_after=self._dead_after)
        return [views.service(service) for service in known]

    def show_work(self, context: RequestContext) -> Json:
        """Return how much there is to do in all and how late it is."""
        return views.work(surveys.make(self._database, dead_after=self._dead_after))


def _output(
    key: str,
    output: Mapping[str, Any],
    nodes: Mapping[str, NodeData],
    wrong: Mapping[tuple[str, str], str],
    hide: Callable[[str], str],
) -> Json:
    """Return an output; its value is the user's to show, what is wrong with it must not tell of it."""
    view: Json = {"output_key": key, "description": output["description"], "output_value": None}
    used = list(references(output["value"]))
    missing = {ref.resource for ref in used} - nodes.keys()
    if missing:
        view["output_error"] = f"{', '.join(sorted(missing))}: not created yet."
        return view
    for ref in used:
        if (reason := wrong.get((ref.resource, ref.key))) is not None:
            view["output_error"] = hide(reason)
            return view
    try:
        view["output_value"] = template.resolve(output["value"], nodes)
    except errors.ActionFailed as failure:
        view["output_error"] = hide(str(failure))
    return view
