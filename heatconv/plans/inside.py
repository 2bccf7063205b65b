# SPDX-License-Identifier: Apache-2.0
"""The stacks inside a stack, as they will be: what their owners make them of, and what they will output."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from heatconv import errors, template
from heatconv.db.convergence import nested, stacks
from heatconv.db.plumbing.session import Database
from heatconv.engine.freezer import Freezer
from heatconv.engine.freezing import empty
from heatconv.engine.nested_stacks import PlannedStacks
from heatconv.engine.options import new_stack
from heatconv.engine.plugin_access import driver_for_asking
from heatconv.engine.posted_sources import PostedSources
from heatconv.engine.source import NO_SOURCE, Source, Wanted
from heatconv.engine.stack_quotas import StackQuotas
from heatconv.model.definition import Definition
from heatconv.model.nodes import NodeData
from heatconv.model.records import Child, ResourceRow, Stack, changed
from heatconv.model.states import Action, Status
from heatconv.model.unknown import Hang, Place, Unknown, contains_unknown
from heatconv.resources.driver import PluginDriver, driven
from heatconv.resources.facts import Incarnation, StackFacts
from heatconv.resources.group import Group
from heatconv.resources.nested import Outputs
from heatconv.resources.registry import Registry
from heatconv.resources.scaled_group import ScaledGroup
from heatconv.resources.stack_resource import StackResource
from heatconv.rpc.context import RequestContext
from heatconv.template.unknown import is_written_in, written


@dataclass(frozen=True, kw_only=True)
class Means:
    """What it takes to find out what a stack will be."""

    database: Database
    registry: Registry
    freezer: Freezer
    sources: PostedSources
    quotas: StackQuotas


@dataclass(frozen=True, kw_only=True)
class Branch:
    """A stack of a tree, as it will be."""

    stack: Stack
    source: Source
    wanted: Wanted
    exists: bool
    stacks: ForeseenStacks
    place: Place = ()  #: of the resource that owns it; nothing of the root
    tags: frozenset[str] = frozenset()  #: its own, and those of the stacks around it
    made_up: Mapping[str, str] = field(default_factory=dict)  #: names made up when they are made, as shown
    doubt: frozenset[Hang] = frozenset()  #: what all of it hangs on
    is_unsure: bool = False  #: it is made of something that is not known yet
    spares: Sequence[str] = ()  #: members that are made just for as long as others are changed
    in_batches: bool = False  #: what has drifted is put right at once, and changed when its batch is due

    def below(self, name: str) -> Place:
        """Return the place of a resource in it."""
        return (*self.place, self.made_up.get(name, name))


class ForeseenStacks(PlannedStacks):
    """Those of a stack as it will be, for plugins that show what is in there."""

    def __init__(self, database: Database, stack: Stack, source: Source) -> None:
        super().__init__(database, stack, source)
        self._foreseen: dict[str, tuple[Child, Outputs]] = {}

    def foresee(self, owner: str, stack: Stack, outputs: Outputs) -> None:
        """Note what the stack of an owner will be, and output."""
        child = Child(
            id=stack.id,
            name=stack.name,
            project_id=stack.project_id,
            action=Action.UPDATE,
            status=Status.COMPLETE,
            reason="",
            deleted=False,
            abandoned=False,
        )
        self._foreseen[owner] = (child, outputs)

    def find(self, owner: str) -> Child | None:
        """Return the stack of an owner."""
        return self._foreseen[owner][0] if owner in self._foreseen else super().find(owner)

    def outputs(self, stack_id: str) -> Outputs:
        """Return what a stack's outputs will come to."""
        for child, outputs in self._foreseen.values():
            if child.id == stack_id:
                return outputs
        raise errors.NotSupported(feature="Asking for the outputs of a stack that no plan has looked into")


class Insides:
    """Looks into the stacks that the resources of a stack will own; one for each plan.

    What it looks into counts: it stops at the limits that the stacks themselves would.
    """

    def __init__(self, context: RequestContext, means: Means) -> None:
        """Keep what is handed in."""
        self._context = context
        self._database = means.database
        self._freezer = means.freezer
        self._sources = means.sources
        self._quotas = means.quotas
        self._registry = means.registry
        self._resources = 0

    def count(self, resources: int, inside: int = 0) -> None:
        """Count resources looked at; ``inside``: how many there will be at least in the stacks inside.

        Raises:
            RequestLimitExceeded: a stack may not have that many resources inside it.
        """
        self._resources += resources
        self._quotas.check_size(self._resources + inside)

    def root(self, stack: Stack, source: Source, wanted: Wanted, *, exists: bool) -> Branch:
        """Return the stack that a plan is for."""
        self.count(len(wanted.targets), wanted.inside)
        beside = ForeseenStacks(self._database, stack, source)
        around = None if stack.root_id == stack.id else stacks.get(self._database, stack.root_id)
        return Branch(
            stack=stack,
            source=source,
            wanted=wanted,
            exists=exists,
            stacks=beside,
            tags=frozenset(stack.tags).union(around.tags if around else ()),
        )

    def owned(self, definition: Definition) -> bool:
        """Tell whether a resource owns a stack."""
        return issubclass(self._registry.get(definition.implemented_by), StackResource)

    def holds_data(self, made: Definition | None) -> bool:
        """Tell whether there is something that was made of a definition, and has data of users."""
        return made is not None and self._registry.holds_data(made.implemented_by)

    def driver(self, branch: Branch, row: ResourceRow, definition: Definition) -> PluginDriver:
        """Return what drives the plugin of a row as a definition has it, for asking."""
        return driver_for_asking(
            self._database, self._registry, branch.stack, row, definition, nested=branch.stacks
        )

    def existing(self, row: ResourceRow) -> Stack | None:
        """Return the stack that a row owns, if there is one."""
        child = nested.child_of(self._database, row.id)
        return None if child is None or child.deleted else stacks.get(self._database, child.id)

    def going(self, around: Branch, row: ResourceRow, doubt: frozenset[Hang]) -> Branch | None:
        """Return the stack that a row owns, as one that nothing is wanted of any more."""
        stack = self.existing(row)
        if stack is None:
            return None
        return Branch(
            stack=stack,
            source=NO_SOURCE,
            wanted=empty(),
            exists=True,
            stacks=ForeseenStacks(self._database, stack, NO_SOURCE),
            place=around.below(row.name),
            tags=around.tags.union(stack.tags),
            doubt=doubt,
        )

    def wanted(
        self, around: Branch, definition: Definition, row: ResourceRow, *, anew: bool, doubt: frozenset[Hang]
    ) -> Branch | None:
        """Return the stack that a resource will make, or will make of the one that it owns.

        None if that cannot be known yet, for it depends on what other resources will be.

        Args:
            around: the stack that the resource is in.
            definition: as it is wanted, with what is known of it.
            row: the resource's.
            anew: it makes another one than it may have.
            doubt: what it hangs on that any of this happens.

        Raises:
            Invalid: the stack cannot be.
            RequestLimitExceeded: there would be too many resources, or stacks too deep.
        """
        self._quotas.check_depth(len(around.place) + 1)
        found = None if anew else self.existing(row)
        values = [definition.properties, definition.metadata, definition.update_policy]
        unsure = around.is_unsure or contains_unknown(values)
        try:
            plugin, changes = self._plugin(around, definition, row, anew=found is None)
            sent = written(plugin.planned_source(changes))
            source = replace(self._sources.parse(self._context, sent), is_unsure=is_written_in(sent))
            stack = found or self._new(around, definition.name)
            if found is None:
                nobody = Unknown([Hang(around.below(definition.name))])
                source = replace(source, is_unsure=True, unnamed=nobody)
            frozen = self._freezer.freeze(stack, source, Action.UPDATE if found else Action.CREATE)
        except errors.RequestLimitExceeded:
            raise
        except Exception as error:
            if unsure:  # a value that is not known yet may make it right
                return None
            if isinstance(error, errors.UserError):
                raise errors.Invalid(f"In resources.{definition.name}: {error}") from None
            raise
        self.count(len(frozen.targets), frozen.inside)
        spares = _spares(plugin, row if found else None)
        return Branch(
            stack=stack,
            source=source,
            wanted=frozen,
            exists=found is not None,
            stacks=ForeseenStacks(self._database, stack, source),
            place=around.below(definition.name),
            tags=around.tags.union(stack.tags),
            made_up=self._made_up(definition, frozen, found, spares),
            doubt=doubt,
            is_unsure=unsure,
            spares=spares,
            in_batches=around.in_batches or (isinstance(plugin, Group) and plugin.updating() is not None),
        )

    def outputs(self, branch: Branch, given: Mapping[str, NodeData]) -> Outputs:
        """Return what a stack's outputs will come to, of what its resources will give."""
        values: dict[str, Any] = {}
        failed: dict[str, str] = {}
        for name, output in branch.wanted.raw.outputs.items():
            try:
                values[name] = template.resolve(output["value"], given)
            except errors.ActionFailed as error:
                failed[name] = str(error)
        return Outputs(values, failed)

    def _plugin(
        self, around: Branch, after: Definition, row: ResourceRow, *, anew: bool
    ) -> tuple[StackResource, Mapping[str, Any] | None]:
        """Return a resource's plugin as it will be, and what changes by that of the stack it has."""
        before = after if anew or row.applied is None else row.applied
        facts = StackFacts(
            id=around.stack.id,
            name=around.stack.name,
            project_id=around.stack.project_id,
            context=self._registry.context(around.stack, asking=True),
            nested=around.stacks,
        )
        new = Incarnation(id=around.stack.id, wanted_attributes=row.wanted_attributes)
        incarnation = new if anew else Incarnation.of(row)
        type_ = self._registry.get(after.implemented_by)
        driver = driven(type_, after.name, before, facts, incarnation, None)
        plugin = driver.plugin
        assert isinstance(plugin, StackResource)  # noqa: S101 - the caller has asked its class
        update = None if anew else driver.plan_update(after)
        plugin.become(after)
        return plugin, update.prop_diff if update else None

    def _new(self, around: Branch, name: str) -> Stack:
        stack: Stack = changed(
            new_stack(self._context, f"{around.stack.name}-{name}", {}),
            root_id=around.stack.root_id,
            depth=around.stack.depth + 1,
        )
        return stack

    def _made_up(
        self, definition: Definition, frozen: Wanted, found: Stack | None, spares: Sequence[str]
    ) -> dict[str, str]:
        """Return the names of members that will have others when they are made, and how they are shown."""
        if not issubclass(self._registry.get(definition.implemented_by), ScaledGroup):
            return {}
        known = set[str]()
        if found is not None:
            known = {member.name for member in nested.members_of(self._database, found.id)}
        new = [name for name in frozen.targets if name not in known]
        names = {name: f"(new {number})" for number, name in enumerate(new, 1)}
        return names | {name: f"(spare {number})" for number, name in enumerate(spares, 1)}


def _spares(plugin: StackResource, row: ResourceRow | None) -> Sequence[str]:
    """Return the members that an update makes just for as long as it takes; ``row`` is what is updated."""
    if row is None or row.applied is None or not isinstance(plugin, Group):
        return ()
    return plugin.spares(row.applied)
