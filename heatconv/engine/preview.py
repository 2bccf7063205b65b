# SPDX-License-Identifier: Apache-2.0
"""What would be: previews and validation, which write nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from heatconv import errors, template
from heatconv.db import resources
from heatconv.db.session import Database
from heatconv.engine import nesting
from heatconv.engine.freezing import Wanted
from heatconv.engine.looking import plugin_of
from heatconv.engine.prepare import Preparer
from heatconv.engine.requests import Requests
from heatconv.graph.dag import in_dependency_order
from heatconv.graph.traversal import plan
from heatconv.model.definition import Definition
from heatconv.model.nodes import NodeData
from heatconv.model.plan import Plan, Target
from heatconv.model.records import Resource, Stack
from heatconv.model.secrets import masked
from heatconv.model.states import Action
from heatconv.resources.registry import Registry
from heatconv.resources.resource import UpdateReplace
from heatconv.rpc.context import RequestContext

Json = dict[str, Any]


class Preview:
    """Tells what a request would do."""

    def __init__(
        self, *, database: Database, preparer: Preparer, requests: Requests, registry: Registry
    ) -> None:
        """Keep what is handed in."""
        self._database = database
        self._preparer = preparer
        self._requests = requests
        self._registry = registry

    def preview_create(
        self, context: RequestContext, name: str, source: Mapping[str, Any], options: Mapping[str, Any]
    ) -> Json:
        """Return the stack that a create would make, and its resources."""
        stack = self._requests.new_stack(context, name, options)
        wanted = self._preparer.freeze(stack, self._requests.create_source(source, options), stack.action)
        return {
            "name": name,
            "project": context.project_id,
            "description": wanted.description,
            "parameters": wanted.raw.parameters,
            "disable_rollback": stack.disable_rollback,
            "timeout_mins": stack.timeout_mins,
            "tags": list(stack.tags),
            "resources": [_would_be(target.definition) for target in wanted.targets.values()],
        }

    def preview_update(
        self,
        context: RequestContext,
        stack: str,
        source: Mapping[str, Any],
        options: Mapping[str, Any],
        existing: bool,
    ) -> Json:
        """Return what an update would change, as far as can be told before it runs."""
        source_of = self._requests.update_source(source, existing=existing)
        found = self._requests.find(context, stack)
        try:
            parsed = source_of(found)
        except errors.StaleWrite:  # the stack's own template was replaced in between
            found = self._requests.find(context, stack)
            parsed = source_of(found)
        wanted = self._preparer.freeze(found, parsed, Action.UPDATE)
        extant = resources.list_extant(self._database, found.id)
        rows = {row.id: row for row in resources.list_resources(self._database, found.id)}
        return self._changes(found, wanted, plan(found.id, wanted.targets, extant), rows)

    def validate_template(
        self, context: RequestContext, source: Mapping[str, Any], show_nested: bool
    ) -> Json:
        """Return what a template takes: its parameters and its environment, and what those inside it take."""
        parsed = self._requests.parse(source)
        described = template.describe(
            dict(parsed.template), dict(parsed.environment), self._preparer.operator_environment
        )
        if all(each.keys() & {"Default", "Value"} for each in described["Parameters"].values()):
            # What depends on a value that is not there yet cannot be judged.
            stack = self._requests.new_stack(context, "validated", {})
            self._preparer.freeze(stack, parsed, Action.CREATE)
        below = nesting.parameters(parsed) if show_nested else {}
        return described | ({"NestedParameters": below} if below else {})

    def _changes(self, stack: Stack, wanted: Wanted, planned: Plan, rows: Mapping[str, Resource]) -> Json:
        changes: Json = {"unchanged": [], "updated": [], "replaced": [], "added": [], "deleted": []}
        told = {
            row.name: NodeData(
                name=row.name, resource_id=row.id, reference_id=row.reference_id, attributes=row.attributes
            )
            for row in rows.values()
            if planned.chosen.get(row.name) == row.id
        }
        requires = {name: target.definition.requires for name, target in wanted.targets.items()}
        for name in in_dependency_order(requires):
            target, row = wanted.targets[name], rows.get(planned.chosen[name])
            change = "added" if row is None else self._change(stack, row, target, told)
            if name not in planned.dirty:
                change = "unchanged"
            if change in ("added", "replaced"):
                # What refers to it will see another id than now, whichever that will be.
                told[name] = NodeData(name=name, resource_id="", reference_id=f"{name}, to be made")
            changes[change].append(_would_be(target.definition, row))
        for row in rows.values():
            if row.name not in wanted.targets and row.desired is not None:
                changes["deleted"].append(_would_be(row.desired, row))
        return changes

    def _change(self, stack: Stack, row: Resource, target: Target, told: Mapping[str, NodeData]) -> str:
        if row.applied is None or row.applied.implemented_by != target.definition.implemented_by:
            return "replaced" if row.applied else "added"
        plugin = plugin_of(self._database, self._registry, stack, row, row.applied)
        after = replace(
            target.definition,
            properties=template.resolve(target.definition.properties, told),
            metadata=template.resolve(target.definition.metadata, told),
        )
        try:
            return "unchanged" if plugin.plan_update(after) is None else "updated"
        except UpdateReplace:
            return "replaced"
        except Exception:  # noqa: BLE001 - a plugin may raise anything
            return "updated"  # a value that is not known yet does not fit; the real one may


def _would_be(definition: Definition, row: Resource | None = None) -> Json:
    return {
        "id": row and row.id,
        "name": definition.name,
        "type": definition.type,
        "physical_id": row and row.physical_id,
        "action": row.action if row else Action.INIT,
        "status": row.status if row else "COMPLETE",
        "reason": row.reason if row else "",
        "required_by": [],
        "created_at": None,
        "updated_at": None,
        "description": definition.description,
        "version": row.version if row else 0,
        "properties": {
            name: masked(value, definition.secrets) for name, value in definition.properties.items()
        },
    }
