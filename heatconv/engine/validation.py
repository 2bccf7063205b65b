# SPDX-License-Identifier: Apache-2.0
"""Validation of templates for which there is no stack: what they take, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heatconv import errors, template
from heatconv.engine import nested_parameters, nesting
from heatconv.engine.freezer import Freezer
from heatconv.engine.options import new_stack
from heatconv.engine.posted_sources import PostedSources
from heatconv.engine.source import Source
from heatconv.engine.stack_quotas import StackQuotas
from heatconv.model.states import Action
from heatconv.resources.registry import Registry
from heatconv.rpc.context import RequestContext

Json = dict[str, Any]


class Validation:
    """Judges templates, and writes nothing."""

    def __init__(
        self, *, freezer: Freezer, sources: PostedSources, quotas: StackQuotas, registry: Registry
    ) -> None:
        """Keep what is handed in."""
        self._freezer = freezer
        self._sources = sources
        self._quotas = quotas
        self._registry = registry

    def validate_template(
        self, context: RequestContext, source: Mapping[str, Any], *, show_nested: bool = False
    ) -> Json:
        """Return what a template takes: its parameters and its environment, and what those inside it take.

        Raises:
            Invalid: the template cannot be.
            RequestLimitExceeded: there would be too many resources.
        """
        parsed = self._sources.check_sinks(self._sources.parse(context, source))
        described = template.describe(
            dict(parsed.template), dict(parsed.environment), self._freezer.operator_environment
        )
        if all(each.keys() & {"Default", "Value"} for each in described["Parameters"].values()):
            stack = new_stack(context, "validated", {})
            wanted = self._freezer.freeze(stack, parsed, Action.CREATE)
            self._quotas.check_size(len(wanted.targets) + wanted.inside)
        else:  # of what depends on a value that is not there yet nothing can be judged but its type
            self._check_types(parsed)
        below: Json = {}
        if show_nested:
            operator = self._freezer.operator_environment
            below = nested_parameters.parameters(parsed, described["Parameters"], operator)
        return described | ({"NestedParameters": below} if below else {})

    def _check_types(self, source: Source) -> None:
        """Refuse the types that are not there, of resources that are wanted whatever the parameters are.

        Raises:
            Invalid: with each of them.
        """
        operator = self._freezer.operator_environment
        known = nesting.Known(
            registry=self._registry,
            files=source.files,
            operator=operator,
            refused_types=source.refused_types,
        )
        section = "resources" if "resources" in source.template else "Resources"
        wrong = [
            (f"{section}.{name}", sentence)
            for name, _type, sentence in known.types_in(source.template, source.environment)
            if sentence is not None and not source.template[section][name].keys() & {"condition", "Condition"}
        ]
        if wrong:
            raise errors.Invalid(problems=wrong)
