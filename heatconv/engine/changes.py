# SPDX-License-Identifier: Apache-2.0
"""What an update would change: each resource is unchanged, updated, replaced, added or deleted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from heatconv import template
from heatconv.db.convergence import nested, resources
from heatconv.db.plumbing.session import Database
from heatconv.engine.nested_preview import DEEP, NestedPreview, Would
from heatconv.engine.plugin_access import driver_for_asking
from heatconv.graph.dag import in_dependency_order
from heatconv.graph.traversal import plan
from heatconv.model.definition import Definition
from heatconv.model.nodes import NodeData
from heatconv.model.plan import Plan, Target
from heatconv.model.records import Nested, ResourceRow, Stack
from heatconv.model.states import Action
from heatconv.resources.registry import Registry
from heatconv.resources.resource import UpdateReplace

Json = dict[str, Any]


class Changes:
    """Compares a stack as it would be with what there is; ``by_kind`` has its resources by change."""

    def __init__(self, database: Database, registry: Registry, inside: NestedPreview | None) -> None:
        """Keep what is handed in; with ``inside``, the stacks in the stack are compared as well."""
        self._database = database
        self._registry = registry
        self._inside = inside
        self._below: Mapping[str, Nested] = {}
        self.by_kind: dict[str, list[Json]] = {
            kind: [] for kind in ("unchanged", "updated", "replaced", "added", "deleted")
        }

    def compare(self, would: Would) -> None:
        """Sort the resources of a stack into ``by_kind``."""
        if self._inside is not None:
            levels = nested.below(self._database, would.stack.id, DEEP)
            self._below = {each.owner_id: each for level in levels for each in level}
        self._compare(would)

    def _compare(self, would: Would) -> None:
        targets = would.wanted.targets
        planned = plan(would.stack.id, targets, resources.list_extant(self._database, would.stack.id))
        rows = {row.id: row for row in resources.list_resources(self._database, would.stack.id)}
        outputs = _outputs(planned, rows)
        for name in in_dependency_order({name: each.definition.requires for name, each in targets.items()}):
            target, row = targets[name], rows.get(planned.chosen[name])
            change = "added" if row is None else self._change(would.stack, row, target, outputs)
            if name not in planned.dirty:
                change = "unchanged"
            self.by_kind[self._kind(change, row)].append(would_be(would, target.definition, row))
            if self._inside is not None:
                self._look_inside(self._inside, would, target.definition, row, change, outputs)
            if change in ("added", "replaced"):
                # A resource that refers to it will see another id than now, whichever that will be.
                outputs[name] = NodeData(name=name, resource_id="", reference_id=f"{name}, to be made")
        for row in rows.values():
            if row.name not in targets and row.desired is not None:
                self.by_kind["deleted"].append(would_be(would, row.desired, row))
                self.by_kind["deleted"].extend(shown for _, shown in self._all_in(row))

    def _change(self, stack: Stack, row: ResourceRow, target: Target, outputs: Mapping[str, NodeData]) -> str:
        if row.applied is None or not self._registry.may_become(row.applied, target.definition):
            return "replaced" if row.applied else "added"
        driver = driver_for_asking(self._database, self._registry, stack, row, row.applied)
        after = replace(
            target.definition,
            properties=template.resolve(target.definition.properties, outputs),
            metadata=template.resolve(target.definition.metadata, outputs),
        )
        try:
            return "unchanged" if driver.plan_update(after) is None else "updated"
        except UpdateReplace:
            return "replaced"
        except Exception:  # noqa: BLE001 - a plugin may raise anything
            return "updated"  # a value that is not known yet does not fit; the real one may

    def _look_inside(
        self,
        inside: NestedPreview,
        would: Would,
        definition: Definition,
        row: ResourceRow | None,
        change: str,
        outputs: Mapping[str, NodeData],
    ) -> None:
        """Do the same with the stack that a resource owns, if it owns one."""
        if row is not None and change == "unchanged":
            there = list(self._all_in(row))
            inside.count(len(there))
            for each, shown in there:
                self.by_kind[self._kind("unchanged", each)].append(shown)
            return
        if row is not None and change == "replaced":
            self.by_kind["deleted"].extend(shown for _, shown in self._all_in(row))
        inner = inside.within(would, definition, outputs, row if change == "updated" else None)
        if inner is not None:
            self._compare(inner)

    def _kind(self, change: str, row: ResourceRow | None) -> str:
        """Return the list that a resource is shown in.

        As in Heat, an update goes into each nested stack: with those shown, it is for the
        resources in the stack to be unchanged, and the one that owns the stack is updated.
        """
        return "updated" if change == "unchanged" and row is not None and row.id in self._below else change

    def _all_in(self, owner: ResourceRow) -> Iterator[tuple[ResourceRow, Json]]:
        """Yield the resources of the stack that a row owns, and of those in it: as rows, and as shown."""
        stack = self._below.get(owner.id)
        if stack is None:
            return
        for row in resources.list_resources(self._database, stack.id):
            if row.desired is not None:
                yield row, _shown(row.desired, row, (stack.name, stack.id), owner.name)
                yield from self._all_in(row)


def would_be(would: Would, definition: Definition, row: ResourceRow | None = None) -> Json:
    """Return a resource of a stack as a preview has it; without a row, it is to be made."""
    stack_id = would.stack.id if would.exists else "None"
    return _shown(definition, row, (would.stack.name, stack_id), would.owner)


def _outputs(planned: Plan, rows: Mapping[str, ResourceRow]) -> dict[str, NodeData]:
    """Return the outputs of the rows that a plan goes on with, by name."""
    return {
        row.name: NodeData(
            name=row.name, resource_id=row.id, reference_id=row.reference_id, attributes=row.attributes
        )
        for row in rows.values()
        if planned.chosen.get(row.name) == row.id
    }


def _shown(
    definition: Definition, row: ResourceRow | None, stack: tuple[str, str], parent_resource: str | None
) -> Json:
    name, stack_id = stack
    return {
        "id": row and row.id,
        "name": definition.name,
        "type": definition.type,
        "stack": {"name": name, "id": stack_id},
        "parent_resource": parent_resource,
        "physical_id": row and row.physical_id,
        "action": row.action if row else Action.INIT,
        "status": row.status if row else "COMPLETE",
        "reason": row.reason if row else "",
        "required_by": [],
        "created_at": None,
        "updated_at": None,
        "description": definition.description,
        "version": row.version if row else 0,
    }
