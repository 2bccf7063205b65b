# SPDX-License-Identifier: Apache-2.0
"""Asking a resource's plugin something, without letting it change anything."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Never

from heatconv import errors
from heatconv.db.convergence import resources
from heatconv.db.plumbing.session import Database
from heatconv.db.software.project import ProjectSoftware
from heatconv.model.definition import Definition
from heatconv.model.records import ResourceRow, Stack
from heatconv.resources.driver import PluginDriver, driven
from heatconv.resources.facts import Incarnation, StackFacts
from heatconv.resources.nested import NestedStacks
from heatconv.resources.registry import Registry

SignalUrl = Callable[[Stack, str], str]  #: of a stack and the name of a resource in it


def driver_for_asking(
    database: Database,
    registry: Registry,
    stack: Stack,
    row: ResourceRow,
    definition: Definition,
    *,
    signal_url: SignalUrl | None = None,
    nested: NestedStacks | None = None,
) -> PluginDriver:
    """Return what drives the plugin of a row as a definition made it.

    Args:
        signal_url: where a signal to it can be sent, if it may tell.
        nested: the stacks of the stack's resources, if it may look into them.

    Raises:
        NotFound: its type is not there any more.
    """
    facts = StackFacts(
        id=stack.id,
        name=stack.name,
        project_id=stack.project_id,
        context=registry.context(stack),
        required_by=lambda name: resources.requirers(database, stack.id, name),
        software=ProjectSoftware(database, stack.project_id),
        nested=nested,
    )
    if signal_url is not None:
        facts = replace(facts, signal_url=lambda name: signal_url(stack, name))
    type_ = registry.get(definition.implemented_by)
    return driven(type_, row.name, definition, facts, Incarnation.of(row), _Nowhere())


class _Nowhere:
    """Who looks keeps nothing, and a plugin that learns something meanwhile is wrong."""

    def set_physical_id(self, physical_id: str | None) -> None:
        """Refuse."""
        _refuse()

    def set_data(self, data: Mapping[str, str]) -> None:
        """Refuse."""
        _refuse()

    def set_metadata(self, metadata: Mapping[str, Any]) -> None:
        """Refuse."""
        _refuse()

    def get_metadata(self) -> Mapping[str, Any]:
        """Refuse."""
        _refuse()

    def forget_attributes(self) -> None:
        """Refuse."""
        _refuse()


def _refuse() -> Never:
    raise errors.NotSupported(feature="Changing a resource while looking at it")
