# SPDX-License-Identifier: Apache-2.0
"""Freezes the sources of stacks: those that users send, and those that templates were stored with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heatconv import template
from heatconv.db.convergence import stacks
from heatconv.db.plumbing.session import Database
from heatconv.engine import freezing
from heatconv.engine.memory import Memory
from heatconv.engine.source import Source, Wanted
from heatconv.model.records import Stack
from heatconv.model.states import Action
from heatconv.resources.facts import StackFacts
from heatconv.resources.registry import Registry


class Freezer:
    """Knows the types, the operator's environment, and what stacks were frozen to before."""

    def __init__(
        self, database: Database, registry: Registry, operator_environment: Mapping[str, Any] | None = None
    ) -> None:
        """Keep what is handed in."""
        self.operator_environment = operator_environment or {}
        self._database = database
        self._registry = registry
        self._memory = Memory()

    def freeze(self, stack: Stack, source: Source, action: Action) -> Wanted:
        """Return what a source wants of a stack.

        Raises:
            Forbidden: it has a type that whoever sent it may not use.
            Invalid: with every mistake that was found.
        """
        facts = StackFacts(
            id=stack.id,
            name=stack.name,
            project_id=stack.project_id,
            action=action,
            timeout_mins=stack.timeout_mins,
            context=self._registry.context(stack, asking=True),
        )
        return freezing.freeze(source, facts, self._registry, self.operator_environment, self._memory)

    def stored(self, template_id: int) -> Source:
        """Return the source that a stored template was made of.

        Raises:
            StaleWrite: there is no such template any more.
        """
        raw = stacks.get_template(self._database, template_id)
        return Source(template=raw.template, environment=raw.environment, files=raw.files)

    def check_immutable(self, stack: Stack, wanted: Wanted) -> None:
        """Refuse what is wanted of a stack if a parameter changes by it that must not.

        Raises:
            Invalid: one does.
        """
        if any(parameter.schema.immutable for parameter in wanted.parameters.values()):
            before = self.freeze(stack, self.stored(stack.raw_template_id), Action.UPDATE)
            template.check_immutable(before.parameters, wanted.parameters)
