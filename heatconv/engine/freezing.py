# SPDX-License-Identifier: Apache-2.0
"""From what a user posts to what can be wanted: parsed, frozen, checked against the types.

Everything a user can get wrong surfaces here, all of it together, before
anything is written.
"""

from __future__ import annotations

import functools
import threading
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from heatconv import errors, template
from heatconv.engine import implied, nesting, sizing
from heatconv.engine.source import Source, Wanted
from heatconv.engine.written import Written
from heatconv.model.deferred import Reference, is_deferred, references
from heatconv.model.definition import Definition, is_template
from heatconv.model.permission import check_types
from heatconv.model.plan import Target
from heatconv.model.records import RawTemplate
from heatconv.model.secrets import masked_text
from heatconv.resources import constraints, validation
from heatconv.resources.facts import StackFacts
from heatconv.resources.registry import Registry
from heatconv.resources.resource import Resource
from heatconv.resources.stack_resource import StackResource
from heatconv.resources.template_resource import TemplateResource

AWS_REGION = "ap-southeast-1"  #: what ``AWS::Region`` always is: templates carry it along, nothing reads it

Problems = list[tuple[str, str]]
Classes = Mapping[str, type[Resource]]


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


@dataclass(frozen=True)
class _Frozen:
    """What came of a template that had no mistakes, and the types of its resources."""

    template: template.FrozenTemplate
    classes: Classes


class Memory:
    """What each stack was frozen to last: of the next version only what differs is evaluated.

    It changes what freezing costs, not what comes of it.  Stacks that are not
    updated any more give way to others.

    Concurrency: safe to share between threads.
    """

    MOST = 20_000  #: definitions; each takes some kilobytes
    LEAST = 100  #: definitions that are worth it

    def __init__(self) -> None:
        self._stacks: OrderedDict[str, _Frozen] = OrderedDict()
        self._size = 0
        self._lock = threading.Lock()

    def get(self, stack_id: str) -> _Frozen | None:
        """Return what a stack was frozen to, if it is known."""
        return self._stacks.get(stack_id)

    def keep(self, stack_id: str, frozen: _Frozen) -> None:
        """Remember what a stack was frozen to, in place of the one that was least lately."""
        with self._lock:
            before = self._stacks.pop(stack_id, None)
            self._size -= len(before.classes) if before else 0
            if self.LEAST <= len(frozen.classes) <= self.MOST:
                self._stacks[stack_id] = frozen
                self._size += len(frozen.classes)
            while self._size > self.MOST:
                _, dropped = self._stacks.popitem(last=False)
                self._size -= len(dropped.classes)


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
        pseudo_parameters(stack),
        operator=operator,
        facade=source.facade,
        constraints=_custom_constraints(stack),
        before=None if before is None else before.template,
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
    classes, problems = _classes(source, frozen, stack, known, before)
    if problems:
        lacks_service = any(isinstance(sentence, validation.Unavailable) for _, sentence in problems)
        refusal = errors.TypeUnavailable if lacks_service else errors.Invalid
        raise refusal(
            problems=[
                (frozen.own_path(path), masked_text(sentence, frozen.secrets)) for path, sentence in problems
            ]
        )
    if memory is not None and not source.guessed:
        memory.keep(stack.id, _Frozen(frozen, classes))
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


def _custom_constraints(stack: StackFacts) -> dict[str, Callable[[Any], str | None]]:
    """Return the checks of parameters that are known by name."""
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


def _classes(
    source: Source,
    frozen: template.FrozenTemplate,
    stack: StackFacts,
    known: nesting.Known,
    before: _Frozen | None,
) -> tuple[Classes, Problems]:
    """Return the types of the definitions, and what is wrong with these and with what refers to them."""
    problems: Problems = []
    checked = before.template.definitions if before else {}
    judged: dict[type[Resource], frozenset[str] | None] = {}
    classes: dict[str, type[Resource]] = {}
    written = Written(known)
    for name, definition in frozen.definitions.items():
        check_types({definition.type, definition.implemented_by}, source.refused_types)
        try:
            classes[name] = _class_of(definition, source.environment, known)
        except _UnlikeFacade as error:
            problems.append(("", str(error)))
        except errors.Invalid as error:
            problems.append((f"resources.{name}.type", str(error)))
        else:
            found = classes[name]
            if before and checked.get(name) is definition and before.classes[name] is found:
                if found not in judged:
                    judged[found] = validation.judged_by_others(found)
                others = judged[found]
                if others is not None and others.isdisjoint(definition.properties):
                    continue  # it is the very one that nothing was wrong with
            problems.extend(validation.problems(found, definition, stack, source.guessed))
            if issubclass(found, StackResource):
                problems.extend(nesting.problems_of_members(found, definition, source.environment, known))
                problems.extend(written.problems(definition, source.environment))
    return classes, problems + _attribute_problems(frozen, classes)


def _attribute_problems(frozen: template.FrozenTemplate, classes: Mapping[str, type[Resource]]) -> Problems:
    """Hold what refers to resources against those whose type is known."""
    places = [
        (getattr(definition, part), f"resources.{name}.{part}")
        for name, definition in frozen.definitions.items()
        if definition.references
        for part in ("properties", "metadata", "update_policy")
    ]
    shown = [(output.value, f"outputs.{name}.value") for name, output in frozen.outputs.items()]
    # An output may tell what a template does not have at the moment: Heat shows none then, and so do we.
    lasting = {name: found for name, found in classes.items() if not issubclass(found, TemplateResource)}
    return [
        problem
        for group, judged in ((places, classes), (shown, lasting))
        for value, place in group
        for reference, path in _placed(value, place)
        if reference.resource in judged
        for problem in validation.attribute_problems(judged[reference.resource], reference, path)
    ]


def _placed(value: Any, path: str) -> Iterator[tuple[Reference, str]]:
    """Yield every reference inside a frozen value with the path to the function it is made by."""
    if is_deferred(value):
        yield from ((reference, path) for reference in references(value))
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _placed(item, f"{path}.{key}")
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _placed(item, f"{path}[{index}]")


class _UnlikeFacade(errors.Invalid):
    """The template behind a resource cannot stand in for the resource's type; the sentence names the type."""


def _class_of(definition: Definition, environment: Mapping[str, Any], known: nesting.Known) -> type[Resource]:
    """Return the class behind a resource's type.

    Raises:
        Invalid: there is none, and why.
    """
    type_ = definition.implemented_by
    mapped = f", to which the environment maps {definition.type}" if definition.implementation else ""
    if is_template(type_):
        found = nesting.class_of(type_, known.files, known.defaults(environment))
        facade = known.facade(definition, environment) if definition.implementation else None
        unlike = None if facade is None else nesting.facade_problem(found, facade, definition.type)
        if unlike is not None:
            raise _UnlikeFacade(unlike)
        wrong = next(nesting.problems(type_, definition.name, environment, known), None)
        if wrong is not None:
            raise errors.Invalid(wrong)
        return found
    try:
        return known.registry.get(type_)
    except errors.NotFound:
        raise errors.Invalid(
            f"There is no resource type {type_}{mapped}; see 'resource type list' for those there are."
        ) from None
