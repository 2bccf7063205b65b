# SPDX-License-Identifier: Apache-2.0
"""What would be: previews and validation, which write nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heatconv import errors, template
from heatconv.db.session import Database
from heatconv.engine import nesting
from heatconv.engine.changes import Changes, would_be
from heatconv.engine.freezing import Wanted
from heatconv.engine.nested_preview import NestedPreview, Would
from heatconv.engine.prepare import Preparer
from heatconv.engine.requests import Requests
from heatconv.model.states import Action
from heatconv.resources.registry import Registry
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
        """Return the stack that a create would make, and its resources.

        In place of a resource that is a stack of its own there is the list of those in it.

        Raises:
            Invalid: the template cannot be, or one inside it.
            RequestLimitExceeded: there would be too many resources, or stacks too deep.
        """
        stack = self._requests.new_stack(context, name, options)
        parsed = self._requests.create_source(source, options)
        wanted = self._preparer.freeze(stack, parsed, stack.action)
        would = Would(stack=stack, source=parsed, wanted=wanted, exists=False, depth=0)
        return {
            "name": name,
            "project": context.project_id,
            "description": wanted.description,
            "parameters": wanted.raw.parameters,
            "disable_rollback": stack.disable_rollback,
            "timeout_mins": stack.timeout_mins,
            "tags": list(stack.tags),
            "resources": _made(would, self._nested(context, wanted)),
        }

    def preview_update(
        self,
        context: RequestContext,
        stack: str,
        source: Mapping[str, Any],
        options: Mapping[str, Any],
        existing: bool,
    ) -> Json:
        """Return what an update would change, as far as can be told before it runs.

        With ``show_nested`` among the options, in the stacks inside it as well;
        how much that may be is limited as in ``preview_create``.
        """
        source_of = self._requests.update_source(source, existing=existing)
        found = self._requests.find(context, stack)
        try:
            parsed = source_of(found)
        except errors.StaleWrite:  # the stack's own template was replaced in between
            found = self._requests.find(context, stack)
            parsed = source_of(found)
        wanted = self._preparer.freeze(found, parsed, Action.UPDATE)
        inside = self._nested(context, wanted) if options.get("show_nested") else None
        changes = Changes(self._database, self._registry, inside)
        changes.compare(Would(stack=found, source=parsed, wanted=wanted, exists=True, depth=found.depth))
        return changes.told

    def validate_template(
        self, context: RequestContext, source: Mapping[str, Any], show_nested: bool
    ) -> Json:
        """Return what a template takes: its parameters and its environment, and what those inside it take."""
        parsed = self._requests.check_sinks(self._requests.parse(source))
        described = template.describe(
            dict(parsed.template), dict(parsed.environment), self._preparer.operator_environment
        )
        if all(each.keys() & {"Default", "Value"} for each in described["Parameters"].values()):
            # What depends on a value that is not there yet cannot be judged.
            stack = self._requests.new_stack(context, "validated", {})
            self._preparer.freeze(stack, parsed, Action.CREATE)
        below = nesting.parameters(parsed, self._preparer.operator_environment) if show_nested else {}
        return described | ({"NestedParameters": below} if below else {})

    def _nested(self, context: RequestContext, wanted: Wanted) -> NestedPreview:
        """Return who looks into the stacks inside one that wants something."""
        inside = NestedPreview(
            context,
            database=self._database,
            preparer=self._preparer,
            requests=self._requests,
            registry=self._registry,
        )
        inside.count(len(wanted.targets))
        return inside


def _made(would: Would, inside: NestedPreview) -> list[Any]:
    """Return the resources of a stack to be made, in lists as they are nested."""
    found = []
    for target in would.wanted.targets.values():
        inner = inside.within(would, target.definition, {})
        found.append(would_be(would, target.definition) if inner is None else _made(inner, inside))
    return found
