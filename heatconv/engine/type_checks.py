# SPDX-License-Identifier: Apache-2.0
"""Definitions held against the types that implement them, and references against what these have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from heatconv import errors, template
from heatconv.engine import nesting
from heatconv.engine.memory import Classes, Frozen
from heatconv.engine.source import Source
from heatconv.engine.written import Written
from heatconv.model.deferred import Reference, is_deferred, references
from heatconv.model.definition import Definition, is_template
from heatconv.model.permission import check_types
from heatconv.model.states import Action
from heatconv.resources import validation
from heatconv.resources.facts import StackFacts
from heatconv.resources.resource import Resource
from heatconv.resources.stack_resource import StackResource
from heatconv.resources.template_resource import TemplateResource

Problems = list[tuple[str, str]]  #: where, and what is wrong there


def classes_of(
    source: Source,
    frozen: template.FrozenTemplate,
    stack: StackFacts,
    known: nesting.Known,
    before: Frozen | None,
) -> tuple[Classes, Problems]:
    """Return the types of the definitions, and what is wrong with these and with what refers to them.

    What the stack was frozen to ``before`` is not looked into again where nothing can be wrong with it.

    Raises:
        Forbidden: there is a type that whoever sent the source may not use.
    """
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
            if stack.action is Action.ROLLBACK:
                continue  # it was judged when it came to be; what others say by now is not asked
            if before and checked.get(name) is definition and before.classes[name] is found:
                if found not in judged:
                    judged[found] = validation.judged_by_others(found)
                others = judged[found]
                if others is not None and others.isdisjoint(definition.properties):
                    continue  # it is the very one that nothing was wrong with
            problems.extend(validation.problems(found, definition, stack))
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
