# SPDX-License-Identifier: Apache-2.0
"""Plans in the form that Heat's clients know: what a create would make, what an update would change."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from heatconv import errors, template
from heatconv.db.convergence import nested, resources
from heatconv.db.plumbing.session import Database
from heatconv.engine.lookup import find_living
from heatconv.engine.options import new_stack
from heatconv.engine.redaction import Redaction
from heatconv.graph.dag import in_dependency_order
from heatconv.model.deferred import references
from heatconv.model.definition import Definition
from heatconv.model.plan import Target
from heatconv.model.records import Nested, ResourceRow
from heatconv.model.secrets import masked
from heatconv.model.states import Action
from heatconv.model.unknown import Place, contains_unknown
from heatconv.plans.forecast import Act, Forecast
from heatconv.plans.inside import Branch, Insides, Means
from heatconv.plans.making import hiding
from heatconv.plans.planning import Planning
from heatconv.resources.resource import Resource
from heatconv.rpc.context import RequestContext

Json = dict[str, Any]

DEEP = 100  #: levels of nested stacks, more than there can be

_KINDS = {
    Act.CREATE: "added",
    Act.ADOPT: "added",
    Act.UPDATE: "updated",
    Act.HEAL: "updated",
    Act.CHECK: "updated",
    Act.REPLACE: "replaced",
    Act.DELETE: "deleted",
    Act.RETAIN: "deleted",
    Act.NOTHING: "unchanged",
}


class Preview:
    """Answers what Heat's previews do."""

    def __init__(self, means: Means) -> None:
        """Keep what is handed in."""
        self._means = means
        self._database = means.database
        self._freezer = means.freezer
        self._sources = means.sources

    def preview_create(
        self, context: RequestContext, name: str, source: Mapping[str, Any], options: Mapping[str, Any]
    ) -> Json:
        """Return the stack that a create would make, and its resources.

        In place of a resource that is a stack of its own there is the list of those in it.

        Raises:
            Invalid: the template cannot be, or one inside it.
            RequestLimitExceeded: there would be too many resources, or stacks too deep.
        """
        stack = new_stack(context, name, options)
        parsed = self._sources.create_source(context, source, options)
        wanted = self._freezer.freeze(stack, parsed, stack.action)
        insides, planning = self._planning(context)
        root = insides.root(stack, parsed, wanted, exists=False)
        planning.look(root, stack.action)
        return {
            "name": name,
            "project": context.project_id,
            "description": wanted.description,
            "parameters": {**wanted.raw.parameters, "OS::stack_id": "None"},
            "disable_rollback": stack.disable_rollback,
            "timeout_mins": stack.timeout_mins,
            "tags": list(stack.tags),
            "resources": self._made(root, planning),
        }

    def preview_update(
        self,
        context: RequestContext,
        stack: str,
        source: Mapping[str, Any],
        options: Mapping[str, Any],
        *,
        existing: bool = False,
    ) -> Json:
        """Return what an update would change, as far as can be known before it runs.

        With ``show_nested`` among the options, in the stacks inside it as well;
        how much that may be is limited as in ``preview_create``.  What the stack's
        own template hides stays hidden, whatever was sent in its place.

        Raises:
            Invalid: the template cannot be.
            RequestLimitExceeded: there would be too many resources in its tree.
        """
        try:
            return self._compared(context, stack, source, options, existing=existing)
        except errors.StaleWrite:  # the stack's own template was replaced in between
            return self._compared(context, stack, source, options, existing=existing)

    def _compared(
        self,
        context: RequestContext,
        stack: str,
        source: Mapping[str, Any],
        options: Mapping[str, Any],
        *,
        existing: bool,
    ) -> Json:
        """Return what ``preview_update`` does.

        Raises:
            StaleWrite: the stack's own template was replaced, and dropped, meanwhile.
        """
        found = find_living(self._database, context, stack)
        stored = self._freezer.stored(found.raw_template_id) if existing else None
        hidden = Redaction(stored).secrets if stored else frozenset[str]()
        with hiding(hidden):
            parsed = self._sources.update_source(context, source, existing=existing)(found)
            wanted = self._freezer.freeze(found, parsed, Action.UPDATE)
            self._means.quotas.check_fits(found, wanted)
            insides, planning = self._planning(context)
            root = insides.root(found, parsed, wanted, exists=True)
            planning.look(root, Action.UPDATE)
            changes = _Changes(self._database, insides, planning, deep=bool(options.get("show_nested")))
            changes.sort(root)
        return changes.by_kind

    def _planning(self, context: RequestContext) -> tuple[Insides, Planning]:
        insides = Insides(context, self._means)
        return insides, Planning(self._means, insides)

    def _made(self, branch: Branch, planning: Planning) -> list[Any]:
        """Return the resources of a stack to be made, in lists as they are nested."""
        required_by = _required_by(branch.wanted.targets)
        found: list[Any] = []
        for name, target in branch.wanted.targets.items():
            inner = planning.branches.get(branch.below(name))
            if inner is not None:
                found.append(self._made(inner, planning))
                continue
            type_ = self._means.registry.get(target.definition.implemented_by)
            found.append(
                _would_be(branch, target.definition)
                | {
                    "required_by": required_by[name],
                    "properties": _properties(type_, target.definition),
                    "attributes": dict.fromkeys([*type_.attributes_schema, *type_.base_attributes_schema]),
                }
            )
        return found


class _Changes:
    """Sorts what a plan says of resources by what changes; ``by_kind`` has the lists."""

    def __init__(self, database: Database, insides: Insides, planning: Planning, *, deep: bool) -> None:
        self._database = database
        self._insides = insides
        self._planning = planning
        self._deep = deep
        self._below: dict[str, Nested] = {}
        self._said: dict[tuple[Place, bool], Forecast] = {
            (each.place, each.act in (Act.DELETE, Act.RETAIN)): each for each in planning.said.forecasts
        }
        self.by_kind: dict[str, list[Json]] = {
            kind: [] for kind in ("unchanged", "updated", "replaced", "added", "deleted")
        }

    def sort(self, root: Branch) -> None:
        """Sort the resources of a stack, and if that is wanted of those nested in it."""
        if self._deep:
            levels = nested.below(self._database, root.stack.id, DEEP)
            self._below = {each.owner_id: each for level in levels for each in level}
        self._sort(root)

    def _sort(self, branch: Branch) -> None:
        rows: dict[str, ResourceRow] = {}
        gone: list[ResourceRow] = []
        if branch.exists:
            for row in resources.list_resources(self._database, branch.stack.id):
                if row.name in branch.wanted.targets:
                    rows.setdefault(row.name, row)
                elif row.desired is not None:
                    gone.append(row)
        targets = branch.wanted.targets
        for name in in_dependency_order({name: each.definition.requires for name, each in targets.items()}):
            self._one(branch, targets[name].definition, rows.get(name))
        for row in gone:
            if row.desired is not None:
                self.by_kind["deleted"].append(_would_be(branch, row.desired, row))
                if self._deep:
                    self.by_kind["deleted"].extend(shown for _, shown in self._all_in(row))

    def _one(self, branch: Branch, definition: Definition, row: ResourceRow | None) -> None:
        place = branch.below(definition.name)
        said = self._said.get((place, False))
        kind = "unchanged" if said is None else _KINDS[said.act]
        self.by_kind[self._kind(kind, row)].append(_would_be(branch, definition, row))
        if not self._deep:
            return
        if row is not None and kind == "replaced":
            self.by_kind["deleted"].extend(shown for _, shown in self._all_in(row))
        inner = self._planning.branches.get(place)
        if inner is not None:
            self._sort(inner)
        elif row is not None and kind != "replaced":
            there = list(self._all_in(row))
            self._insides.count(len(there))
            for each, shown in there:
                self.by_kind[self._kind("unchanged", each)].append(shown)

    def _kind(self, kind: str, row: ResourceRow | None) -> str:
        """Return the list that a resource is shown in.

        As in Heat, an update goes into each nested stack: with those shown, it is for the
        resources in the stack to be unchanged, and the one that owns the stack is updated.
        """
        return "updated" if kind == "unchanged" and row is not None and row.id in self._below else kind

    def _all_in(self, owner: ResourceRow) -> Iterator[tuple[ResourceRow, Json]]:
        """Yield the resources of the stack that a row owns, and of those in it: as rows, and as shown."""
        stack = self._below.get(owner.id)
        if stack is None:
            return
        for row in resources.list_resources(self._database, stack.id):
            if row.desired is not None:
                yield row, _shown(row.desired, row, (stack.name, stack.id), owner.name)
                yield from self._all_in(row)


def _would_be(branch: Branch, definition: Definition, row: ResourceRow | None = None) -> Json:
    """Return a resource of a stack as a preview has it; without a row, it is to be made."""
    stack_id = branch.stack.id if branch.exists else "None"
    owner = branch.place[-1] if branch.place else None
    return _shown(definition, row, (branch.stack.name, stack_id), owner)


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


def _required_by(targets: Mapping[str, Target]) -> Mapping[str, list[str]]:
    """Return the names of those that require a resource, by its name."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for name, target in targets.items():
        for required in target.definition.requires:
            found[required].append(name)
    return found


def _properties(type_: type[Resource], definition: Definition) -> Json:
    """Return the properties that a resource would have, those that cannot be known yet as nothing."""
    given = {name: _known(value) for name, value in definition.properties.items()}
    defaults = {
        name: schema.default for name, schema in type_.properties_schema.items() if schema.implemented
    }
    return {name: masked(value, definition.secrets) for name, value in (defaults | given).items()}


def _known(value: Any) -> Any:
    known = None if any(references(value)) else template.resolve(value, {})
    return None if contains_unknown(known) else known
