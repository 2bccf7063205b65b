# SPDX-License-Identifier: Apache-2.0
"""From what a user posts to what can be wanted: parsed, frozen, checked against the types.

Everything a user can get wrong surfaces here, all of it together, before
anything is written.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from heatconv import errors, template
from heatconv.model.deferred import Reference, references
from heatconv.model.plan import Target
from heatconv.model.records import RawTemplate
from heatconv.resources import validation
from heatconv.resources.facts import StackFacts
from heatconv.resources.registry import Registry

Problems = list[tuple[str, str]]


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What a stack is to be: the template to store, and what it wants of each resource."""

    raw: RawTemplate
    targets: Mapping[str, Target]
    parameters: Mapping[str, template.Parameter] = field(default_factory=dict)
    description: str = ""


@dataclass(frozen=True, kw_only=True)
class Source:
    """What describes a stack, parsed: template, merged environment, files."""

    template: Mapping[str, Any]
    environment: Mapping[str, Any]
    files: Mapping[str, str] = field(default_factory=dict)


def parse(source: Mapping[str, Any], *, max_template_size: int) -> Source:
    """Parse what a user posted, but evaluate nothing.

    Raises:
        Invalid: it is no template or no environment.
    """
    files = source.get("files") or {}
    parsed = template.load_template(source["template"], limit=max_template_size)
    environment = template.merge(
        source.get("environment"),
        source.get("environment_files") or [],
        files,
        source.get("parameters") or {},
        template=parsed,
    )
    return Source(template=parsed, environment=environment, files=files)


def freeze(source: Source, stack: StackFacts, registry: Registry) -> Wanted:
    """Evaluate a source down to what only run time can know, and check it against the types.

    Raises:
        Invalid: with every mistake that was found.
    """
    frozen = template.freeze(
        dict(source.template),
        dict(source.environment),
        dict(source.files),
        pseudo_parameters(stack),
    )
    outputs = {
        name: {"description": output.description, "value": output.value}
        for name, output in frozen.outputs.items()
    }
    problems = _type_problems(frozen.definitions, outputs, stack, registry)
    if problems:
        raise errors.Invalid(problems=problems)
    return Wanted(
        raw=RawTemplate(
            template=source.template,
            environment=source.environment,
            files=source.files,
            outputs=outputs,
            parameters=_shown(frozen),
        ),
        targets=_targets(frozen.definitions, outputs),
        parameters=frozen.parameters,
        description=frozen.description,
    )


def empty(version: str = "2021-04-16") -> Wanted:
    """Return the wish for nothing."""
    return Wanted(raw=RawTemplate(template={"heat_template_version": version}), targets={})


def pseudo_parameters(stack: StackFacts) -> dict[str, str]:
    """Return the parameters that every template has."""
    return {
        "OS::stack_name": stack.name,
        "OS::stack_id": stack.id,
        "OS::project_id": stack.project_id,
    }


def _shown(frozen: template.FrozenTemplate) -> dict[str, Any]:
    return {name: parameter.shown for name, parameter in frozen.parameters.items()}


def _targets(definitions: Mapping[str, Any], outputs: Mapping[str, Any]) -> dict[str, Target]:
    """Pair each definition with the attributes that others, or outputs, refer to."""
    referred: dict[str, set[str]] = {name: set() for name in definitions}
    used = [ref for definition in definitions.values() for ref in definition.references]
    used.extend(references([output["value"] for output in outputs.values()]))
    for reference in used:
        if reference.attribute is not None and reference.resource in referred:
            referred[reference.resource].add(reference.key)
    return {
        name: Target(definition=definition, attributes=frozenset(referred[name]))
        for name, definition in definitions.items()
    }


def _type_problems(
    definitions: Mapping[str, Any], outputs: Mapping[str, Any], stack: StackFacts, registry: Registry
) -> Problems:
    """Hold the definitions, and what refers to them, against their types."""
    problems: Problems = []
    classes = {}
    for name, definition in definitions.items():
        try:
            classes[name] = registry.get(definition.implemented_by)
        except errors.NotFound:
            sentence = (
                f"There is no resource type {definition.type}; see 'resource type list' for those there are."
            )
            problems.append((f"resources.{name}.type", sentence))
            continue
        problems.extend(validation.problems(classes[name], definition, stack))

    def check(reference: Reference, path: str) -> None:
        if reference.resource in classes:
            problems.extend(validation.attribute_problems(classes[reference.resource], reference, path))

    for name, definition in definitions.items():
        for reference in definition.references:
            check(reference, f"resources.{name}.properties")
    for name, output in outputs.items():
        for reference in references(output["value"]):
            check(reference, f"outputs.{name}.value")
    return problems
