# SPDX-License-Identifier: Apache-2.0
"""What would be: previews and validation, which write nothing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from heatconv import errors, template
from heatconv.db.plumbing.session import Database
from heatconv.engine import nested_parameters, nesting
from heatconv.engine.changes import Changes, would_be
from heatconv.engine.freezer import Freezer
from heatconv.engine.lookup import find_living
from heatconv.engine.nested_preview import NestedPreview, Would
from heatconv.engine.options import new_stack
from heatconv.engine.posted_sources import PostedSources
from heatconv.engine.redaction import Redaction
from heatconv.engine.source import Source, Wanted
from heatconv.engine.stack_quotas import StackQuotas
from heatconv.model.deferred import references
from heatconv.model.definition import Definition
from heatconv.model.plan import Target
from heatconv.model.secrets import masked, masked_text
from heatconv.model.states import Action
from heatconv.resources.registry import Registry
from heatconv.resources.resource import Resource
from heatconv.rpc.context import RequestContext

Json = dict[str, Any]


class Preview:
    """Tells what a request would do."""

    def __init__(
        self,
        *,
        database: Database,
        freezer: Freezer,
        sources: PostedSources,
        quotas: StackQuotas,
        registry: Registry,
    ) -> None:
        """Keep what is handed in."""
        self._database = database
        self._freezer = freezer
        self._sources = sources
        self._quotas = quotas
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
        stack = new_stack(context, name, options)
        parsed = self._sources.create_source(context, source, options)
        wanted = self._freezer.freeze(stack, parsed, stack.action)
        self._quotas.check_size(len(wanted.targets) + wanted.inside)
        would = Would(stack=stack, source=parsed, wanted=wanted, exists=False, depth=0)
        return {
            "name": name,
            "project": context.project_id,
            "description": wanted.description,
            "parameters": {**wanted.raw.parameters, "OS::stack_id": "None"},
            "disable_rollback": stack.disable_rollback,
            "timeout_mins": stack.timeout_mins,
            "tags": list(stack.tags),
            "resources": self._made(would, self._nested(context, wanted)),
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
        """Return what an update would change, as far as can be told before it runs.

        With ``show_nested`` among the options, in the stacks inside it as well;
        how much that may be is limited as in ``preview_create``.  What the stack's
        own template hides stays hidden, whatever was sent in its place.

        Raises:
            Invalid: the template cannot be.
            RequestLimitExceeded: there would be too many resources in its tree.
        """
        try:
            return self._compared(context, stack, source, options, existing)
        except errors.StaleWrite:  # the stack's own template was replaced in between
            return self._compared(context, stack, source, options, existing)

    def _compared(
        self,
        context: RequestContext,
        stack: str,
        source: Mapping[str, Any],
        options: Mapping[str, Any],
        existing: bool,
    ) -> Json:
        """Return what ``preview_update`` does.

        Raises:
            StaleWrite: the stack's own template was replaced, and dropped, meanwhile.
        """
        found = find_living(self._database, context, stack)
        stored = self._freezer.stored(found.raw_template_id) if existing else None
        hidden = Redaction(stored).secrets if stored else frozenset[str]()
        with _hiding(hidden):
            parsed = self._sources.update_source(context, source, existing=existing)(found)
            wanted = self._freezer.freeze(found, parsed, Action.UPDATE)
            self._quotas.check_fits(found, wanted)
            inside = self._nested(context, wanted) if options.get("show_nested") else None
            changes = Changes(self._database, self._registry, inside)
            changes.compare(Would(stack=found, source=parsed, wanted=wanted, exists=True, depth=found.depth))
        return changes.by_kind

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

    def _nested(self, context: RequestContext, wanted: Wanted) -> NestedPreview:
        """Return who looks into the stacks inside one that wants something."""
        inside = NestedPreview(
            context,
            database=self._database,
            freezer=self._freezer,
            sources=self._sources,
            quotas=self._quotas,
            registry=self._registry,
        )
        inside.count(len(wanted.targets))
        return inside

    def _made(self, would: Would, inside: NestedPreview) -> list[Any]:
        """Return the resources of a stack to be made, in lists as they are nested."""
        required_by = _required_by(would.wanted.targets)
        found: list[Any] = []
        for name, target in would.wanted.targets.items():
            inner = inside.within(would, target.definition, {})
            if inner is not None:
                found.append(self._made(inner, inside))
                continue
            type_ = self._registry.get(target.definition.implemented_by)
            found.append(
                would_be(would, target.definition)
                | {
                    "required_by": required_by[name],
                    "properties": _properties(type_, target.definition),
                    "attributes": dict.fromkeys([*type_.attributes_schema, *type_.base_attributes_schema]),
                }
            )
        return found


@contextmanager
def _hiding(secrets: frozenset[str]) -> Iterator[None]:
    """Let nothing that is wrong tell of secrets."""
    try:
        yield
    except errors.Invalid as wrong:
        problems = [(path, masked_text(text, secrets)) for path, text in wrong.problems]
        message = None if problems else masked_text(str(wrong), secrets)
        raise errors.Invalid(message, problems=problems) from None


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
    return None if any(references(value)) else template.resolve(value, {})
