# SPDX-License-Identifier: Apache-2.0
"""From what a user posts to what can be wanted: parsed, frozen, checked against the types.

Everything a user can get wrong surfaces here, all of it together, before
anything is written.
"""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any

from heatconv import errors, template
from heatconv.engine import implied, nesting, sizing
from heatconv.engine.memory import Classes, Frozen, Memory
from heatconv.engine.source import Source, Wanted
from heatconv.engine.type_checks import classes_of
from heatconv.model.deferred import references
from heatconv.model.definition import Definition
from heatconv.model.plan import Target
from heatconv.model.records import RawTemplate
from heatconv.model.secrets import masked_text
from heatconv.model.states import Action
from heatconv.resources import constraints, validation
from heatconv.resources.facts import StackFacts
from heatconv.resources.registry import Registry
from heatconv.resources.stack_resource import StackResource
from heatconv.template.unknown import written

AWS_REGION = "ap-southeast-1"  #: what ``AWS::Region`` always is: templates carry it along, nothing reads it


def parse(source: Mapping[str, Any], *, max_template_size: int) -> Source:
    """Parse what a user posted, but evaluate nothing.

    Raises:
        Invalid: it is no template or no environment.
    """
    files = source.get("files") or {}
    parsed = template.load_template(source["template"], limit=max_template_size)
    parameters = source.get("parameters") or {}
    if source.get("facade") is not None:
        parameters = nesting.as_texts(parameters, parsed)
    environment = template.merge(
        source.get("environment"),
        source.get("environment_files") or [],
        files,
        parameters,
        template=parsed,
    )
    return Source(template=parsed, environment=environment, files=files, facade=source.get("facade"))


def freeze(
    source: Source,
    stack: StackFacts,
    registry: Registry,
    operator: Mapping[str, Any] | None = None,
    memory: Memory | None = None,
) -> Wanted:
    """Evaluate a source down to what only run time can know, and check it against the types.

    Args:
        operator: the operator's environment, which users' environments go before.
        memory: of what the same stack was frozen to before.

    Raises:
        Forbidden: it has a type that whoever sent it may not use.
        Invalid: with every mistake that was found.
        TypeUnavailable: the same, where one of the mistakes is a type whose service is not there.
        NotJudged: a service that knows more does not answer.
    """
    before = None if memory is None else memory.get(stack.id)
    frozen = template.freeze(
        dict(source.template),
        dict(source.environment),
        dict(source.files),
        pseudo_parameters(stack) | _not_known_of(source),
        operator=operator,
        facade=source.facade,
        constraints=_custom_constraints(stack),
        before=None if before is None else before.template,
        is_unsure=source.is_unsure,
    )
    outputs = {
        name: {"description": output.description, "value": output.value}
        for name, output in frozen.outputs.items()
    }
    known = nesting.Known(
        registry=registry,
        files=source.files,
        operator=operator or {},
        refused_types=source.refused_types,
    )
    classes, problems = classes_of(source, frozen, stack, known, before)
    if problems:
        lacks_service = any(isinstance(sentence, validation.Unavailable) for _, sentence in problems)
        refusal = errors.TypeUnavailable if lacks_service else errors.Invalid
        raise refusal(
            problems=[
                (frozen.own_path(path), masked_text(sentence, frozen.secrets)) for path, sentence in problems
            ]
        )
    if memory is not None and not source.is_unsure:
        memory.keep(stack.id, Frozen(frozen, classes))
    definitions = implied.added(frozen.definitions, classes, stack)
    return Wanted(
        raw=RawTemplate(
            template=source.template,
            environment=source.environment,
            files=source.files,
            outputs=outputs,
            parameters=_shown(frozen),
        ),
        targets=_targets(_with_digest(definitions, classes, source), classes, outputs),
        parameters=frozen.parameters,
        description=frozen.description,
        unsure=frozen.unsure if source.is_unsure else {},
        inside=_inside(source, frozen, classes, known),
    )


def _inside(source: Source, frozen: template.FrozenTemplate, classes: Classes, known: nesting.Known) -> int:
    """Return how many resources there will be at least in the stacks inside."""
    owners = [
        frozen.definitions[name] for name, class_ in classes.items() if issubclass(class_, StackResource)
    ]
    sizes = sizing.Sizes(known)
    return sum(
        sizes.inside(each.name, each.implemented_by, each.properties, source.environment) for each in owners
    )


def empty(version: str = "2021-04-16") -> Wanted:
    """Return the wish for nothing."""
    return Wanted(raw=RawTemplate(template={"heat_template_version": version}), targets={})


def pseudo_parameters(stack: StackFacts) -> dict[str, str]:
    """Return the parameters that every template has, in each language."""
    return {
        "OS::stack_name": stack.name,
        "OS::stack_id": stack.id,
        "OS::project_id": str(stack.context.project_id),
        "AWS::StackName": stack.name,
        "AWS::StackId": stack.identifier().arn(),
        "AWS::Region": AWS_REGION,
    }


def _not_known_of(source: Source) -> dict[str, Any]:
    """Return those of these parameters that nobody knows yet of a stack which is only planned."""
    names = ("OS::stack_name", "OS::stack_id", "AWS::StackName", "AWS::StackId")
    return {} if source.unnamed is None else dict.fromkeys(names, written(source.unnamed))


def _custom_constraints(stack: StackFacts) -> dict[str, Callable[[Any], str | None]]:
    """Return the checks of parameters that are known by name."""
    if stack.action is Action.ROLLBACK:
        return {}  # what a stack goes back to was checked by them
    return {
        name: functools.partial(constraints.CustomConstraint(name).problem, context=stack.context)
        for name in constraints.installed()
    }


def _shown(frozen: template.FrozenTemplate) -> dict[str, Any]:
    return {name: parameter.shown for name, parameter in frozen.parameters.items()}


def _with_digest(
    definitions: Mapping[str, Definition], classes: Classes, source: Source
) -> dict[str, Definition]:
    """Tell those that own a stack what that inherits, so that they change with it."""
    owners = {name for name, type_ in classes.items() if issubclass(type_, StackResource)}
    if not owners:
        return dict(definitions)
    digest = nesting.digest(source)
    return {
        name: definition.changed(inherits=digest) if name in owners else definition
        for name, definition in definitions.items()
    }


def _targets(
    definitions: Mapping[str, Definition], classes: Classes, outputs: Mapping[str, Any]
) -> dict[str, Target]:
    """Pair each definition with the attributes that others, or outputs, refer to."""
    referred: defaultdict[str, set[str]] = defaultdict(set)
    used = [ref for definition in definitions.values() for ref in definition.references]
    used.extend(references([output["value"] for output in outputs.values()]))
    for reference in used:
        if reference.attribute is not None:
            referred[reference.resource].add(reference.key)
    return {
        name: Target(
            definition,
            frozenset(referred.get(name, ())),
            # Whoever waits at the breakpoint of an update wants to be asked before each.
            always=classes[name].changes_with_every_update or "pre-update" in definition.hooks,
            nested=issubclass(classes[name], StackResource),
        )
        for name, definition in definitions.items()
    }
