# SPDX-License-Identifier: Apache-2.0
"""The stacks inside a stack as they would be, made in memory of their owners' templates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from heatconv import errors, template
from heatconv.db.convergence import nested, stacks
from heatconv.db.plumbing.session import Database
from heatconv.engine.freezer import Freezer
from heatconv.engine.nested_stacks import PlannedStacks
from heatconv.engine.options import new_stack
from heatconv.engine.posted_sources import PostedSources
from heatconv.engine.source import Source, Wanted
from heatconv.engine.stack_quotas import StackQuotas
from heatconv.model.deferred import references
from heatconv.model.definition import Definition
from heatconv.model.ids import new_id
from heatconv.model.nodes import NodeData
from heatconv.model.records import ResourceRow, Stack
from heatconv.model.states import Action
from heatconv.resources.driver import driven
from heatconv.resources.facts import Incarnation, StackFacts
from heatconv.resources.registry import Registry
from heatconv.resources.stack_resource import StackResource
from heatconv.rpc.context import RequestContext

DEEP = 100  #: levels of nested stacks, more than there can be


@dataclass(frozen=True, kw_only=True)
class Would:
    """A stack as it would be: its source, and the resources wanted by it."""

    stack: Stack
    source: Source
    wanted: Wanted
    exists: bool
    depth: int  #: how deep it is nested
    owner: str | None = None  #: the name of the resource that it belongs to


class NestedPreview:
    """Looks into the stacks that the resources of a stack would own; one for each request.

    What it looks into counts: it stops at the limits that the stacks themselves would.
    """

    def __init__(
        self,
        context: RequestContext,
        *,
        database: Database,
        freezer: Freezer,
        sources: PostedSources,
        quotas: StackQuotas,
        registry: Registry,
    ) -> None:
        """Keep what is handed in."""
        self._context = context
        self._database = database
        self._freezer = freezer
        self._sources = sources
        self._quotas = quotas
        self._registry = registry
        self._resources = 0

    def count(self, resources: int, inside: int = 0) -> None:
        """Count resources looked at; ``inside``: how many there will be at least in the stacks inside.

        Raises:
            RequestLimitExceeded: a stack may not have that many resources inside it.
        """
        self._resources += resources
        self._quotas.check_size(self._resources + inside)

    def within(
        self,
        around: Would,
        definition: Definition,
        outputs: Mapping[str, NodeData],
        row: ResourceRow | None = None,
    ) -> Would | None:
        """Return the stack that a resource would make; with a row, what would become of the one it owns.

        None if it owns none, or one that cannot be known yet: that may depend on
        what other resources will be.  ``outputs``: what those have given by now.

        Raises:
            Invalid: the stack cannot be.
            RequestLimitExceeded: there would be too many resources, or stacks too deep.
        """
        class_ = self._registry.get(definition.implemented_by)
        if not issubclass(class_, StackResource):
            return None
        self._quotas.check_depth(around.depth + 1)
        try:
            after = _resolved(definition, outputs)
            self.count(0, class_.size_made(after.properties))
            planned = self._sources.parse(self._context, self._planned(around, after, row))
            source = replace(planned, guessed={*around.source.guessed, *_guessed(definition, outputs)})
            found = self._found(row)
            name = f"{around.stack.name}-{definition.name}"
            stack = found or new_stack(self._context, name, {})
            wanted = self._freezer.freeze(stack, source, Action.UPDATE if found else Action.CREATE)
        except errors.RequestLimitExceeded:
            raise
        except Exception as error:
            if (
                definition.references or around.source.guessed
            ):  # a value that is not known yet may make it right
                return None
            if isinstance(error, errors.UserError):
                raise errors.Invalid(f"In resources.{definition.name}: {error}") from None
            raise
        self.count(len(wanted.targets), wanted.inside)
        return Would(
            stack=stack,
            source=source,
            wanted=wanted,
            exists=found is not None,
            depth=around.depth + 1,
            owner=definition.name,
        )

    def _planned(self, around: Would, after: Definition, row: ResourceRow | None) -> dict[str, Any]:
        """Return the source that a resource would make its stack of."""
        before = after if row is None or row.applied is None else row.applied
        facts = StackFacts(
            id=around.stack.id,
            name=around.stack.name,
            project_id=around.stack.project_id,
            context=self._registry.context(around.stack, asking=True),
            nested=PlannedStacks(self._database, around.stack, around.source),
        )
        incarnation = Incarnation(id=new_id()) if row is None else Incarnation.of(row)
        type_ = self._registry.get(after.implemented_by)
        driver = driven(type_, after.name, before, facts, incarnation, None)
        plugin = driver.plugin
        assert isinstance(plugin, StackResource)  # noqa: S101 - the caller has asked its class
        update = None if row is None else driver.plan_update(after)
        plugin.become(after)
        return plugin.planned_source(update.prop_diff if update else None)

    def _found(self, row: ResourceRow | None) -> Stack | None:
        child = None if row is None else nested.child_of(self._database, row.id)
        return None if child is None or child.deleted else stacks.get(self._database, child.id)


def _guessed(definition: Definition, outputs: Mapping[str, NodeData]) -> set[str]:
    """Return the names of resources that a definition refers to, and that have no output by now."""
    return {each.resource for each in references(definition.properties) if each.resource not in outputs}


def _resolved(definition: Definition, outputs: Mapping[str, NodeData]) -> Definition:
    """Return a definition with the values that are known by now."""
    return replace(
        definition,
        properties=template.resolve(definition.properties, outputs),
        metadata=template.resolve(definition.metadata, outputs),
        update_policy=template.resolve(definition.update_policy, outputs),
    )
