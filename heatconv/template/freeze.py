# SPDX-License-Identifier: Apache-2.0
"""A template and its environment to frozen definitions.

Everything that does not need a resource at run time is evaluated here, and
every mistake of the user is found here and reported at once.  Whether types,
properties and attributes exist is left to those who know plugins.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from heatconv.model.definition import Definition
from heatconv.model.unknown import Unknown
from heatconv.model.work import bounded_work
from heatconv.template import unknown
from heatconv.template.cloudformation import in_hot_words, spelled_path
from heatconv.template.conditions import evaluate_conditions
from heatconv.template.constraints import CustomConstraints
from heatconv.template.definitions import DefinitionParser, Parts, text_of
from heatconv.template.environment import given_values
from heatconv.template.evaluator import Deferred, Evaluator, Scope, encode
from heatconv.template.order import CircularDependency, dependency_order
from heatconv.template.parameters import (
    Parameter,
    evaluate_parameters,
    hidden_texts,
    hide,
    parse_schemas,
    pseudo_parameters,
    report_unknown,
)
from heatconv.template.problems import Problems, kind_of, shortened
from heatconv.template.resource_registry import ResourceRegistry
from heatconv.template.versions import Version


@dataclass(frozen=True, slots=True)
class Output:
    """An output; ``value`` is frozen, and None if the output's condition does not hold."""

    name: str
    description: str
    value: Any
    condition_holds: bool = True


@dataclass(frozen=True, kw_only=True, slots=True)
class FrozenTemplate:
    """What a template and an environment come to, but for what only run time can know."""

    version: Version
    description: str
    definitions: dict[str, Definition]
    outputs: dict[str, Output]
    parameters: dict[str, Parameter]  #: those that every template has included
    secrets: frozenset[str]  #: what came of hidden parameters, and must not be shown
    parts: Parts  #: of which the definitions are taken
    frame: str  #: the digest of all that these depend on, but for their own snippets

    @property
    def unsure(self) -> dict[str, Unknown]:
        """The resources of which nobody knows yet whether they are wanted, and what that hangs on."""
        return {
            name: Unknown.from_json(wanted.args)
            for name, wanted in self.parts.wanted.items()
            if isinstance(wanted, Deferred)
        }

    def own_path(self, path: str) -> str:
        """Return the text of a path into a resource or an output in the words of the template's language."""
        return path if self.version.language == "hot" else spelled_path(path)


@bounded_work()
def freeze(
    template: Mapping[str, Any],
    environment: Mapping[str, Any],
    files: Mapping[str, str],
    pseudo: Mapping[str, Any],
    *,
    operator: Mapping[str, Any] | None = None,
    facade: Mapping[str, Any] | None = None,
    constraints: CustomConstraints | None = None,
    before: FrozenTemplate | None = None,
    is_unsure: bool = False,
) -> FrozenTemplate:
    """Return a template with everything evaluated that can be.

    Of a template that is frozen once more with few changes most definitions
    are the very ones that were made ``before``; what is refused, and what not,
    does not depend on that.

    Args:
        template: as ``load_template`` returns it.
        environment: as ``environment.merge`` returns it.
        files: contents by name, for ``get_file``.
        pseudo: the values of the parameters that every template has, by name:
            those of ``Version.pseudo_parameters``, of each language.
        operator: what the operator's environment says to all templates, likewise.
        facade: of a nested template: ``metadata``, ``deletion_policy`` and
            ``update_policy`` of the resource that it makes up.
        constraints: checks of custom constraints by name; a name that is
            missing is satisfied by everything.
        before: what came of another version of the template.
        is_unsure: something may be *written* in it that nobody knows yet, see ``unknown``.

    Raises:
        Invalid: with every mistake found.
    """
    version, template, problems = in_hot_words(template)
    operator = operator or {}
    declared = template.get("parameters") or {}
    schemas = parse_schemas(template, version, problems)
    report_unknown(environment, template, version, problems)
    given = given_values(environment, operator)
    schemas = hide(schemas, environment.get("encrypted_param_names") or ())
    problems.secrets.update(hidden_texts(schemas, given))
    parameters = pseudo_parameters(
        {name: pseudo[name] for name in version.pseudo_parameters if name in pseudo}
    )
    parameters |= evaluate_parameters(schemas, given, constraints or {}, problems, is_unsure=is_unsure)
    mappings = template.get("mappings") or {}
    _check_mappings(mappings, problems)
    scope = Scope(
        parameters={name: parameter.value for name, parameter in parameters.items()},
        broken_parameters=frozenset(declared) - frozenset(parameters),
        hidden_parameters=frozenset(name for name, schema in schemas.items() if schema.hidden),
        files=files,
        mappings=mappings,
        facade=facade,
        is_unsure=is_unsure,
    )
    functions, of_conditions = version.functions, version.condition_functions
    if is_unsure:
        functions, of_conditions = {**functions, **unknown.FUNCTION}, {**of_conditions, **unknown.FUNCTION}
    evaluator = Evaluator(scope, problems, functions, of_conditions)
    evaluate_conditions(template.get("conditions") or {}, evaluator)
    sections = environment.get("resource_registry") or {}, operator.get("resource_registry") or {}
    frame = _digest(version.full_names, declared, scope, *sections)
    known = before.parts if before is not None and before.frame == frame else None
    registry = ResourceRegistry(*sections)
    resources = template.get("resources") or {}
    parts = DefinitionParser(evaluator, version, registry, resources, declared, known).parse()
    definitions = {name: part.definition for name, part in parts.made.items()}
    _check_circles(definitions, problems)
    # Whoever has a nested template in use may not be able to mend it, and may do without an output.
    evaluator.defers_mistakes = facade is not None
    outputs = _outputs(template.get("outputs") or {}, version, evaluator)
    problems.raise_any()
    return FrozenTemplate(
        version=version,
        description=template.get("description") or "",
        definitions=definitions,
        outputs=outputs,
        parameters=parameters,
        secrets=frozenset(problems.secrets),
        parts=parts,
        frame=frame,
    )


def _digest(*values: Any) -> str:
    # Not for security: it tells what is unchanged from what is not.
    return hashlib.sha1(text_of(values).encode(), usedforsecurity=False).hexdigest()


def _check_mappings(mappings: Mapping[str, Any], problems: Problems) -> None:
    for name, rows in mappings.items():
        with problems.at("mappings", name):
            if not isinstance(rows, dict):
                problems.report(f"It has to be a map of maps, not {kind_of(rows)}.")
                continue
            for key, row in rows.items():
                if not isinstance(row, dict):
                    problems.report(f"It has to be a map, not {kind_of(row)}.", key)


def _check_circles(definitions: Mapping[str, Definition], problems: Problems) -> None:
    try:
        dependency_order({name: definition.requires for name, definition in definitions.items()})
    except CircularDependency as error:
        problems.report(f"Circular dependency: {shortened(str(error), 500)}.", "resources", error.members[0])


def _outputs(snippets: Mapping[str, Any], version: Version, evaluator: Evaluator) -> dict[str, Output]:
    problems = evaluator.problems
    result = {}
    with problems.at("outputs"):
        for name, snippet in snippets.items():
            with problems.at(name):
                result[name] = _output(name, snippet, version, evaluator)
    return result


def _output(name: str, snippet: Any, version: Version, evaluator: Evaluator) -> Output:
    problems = evaluator.problems
    if not isinstance(snippet, dict) or "value" not in snippet:
        problems.report("It has to be a map that says the value.")
        return Output(name, "", None)
    known = ["value", "description", *(["condition"] if version.has_conditions else [])]
    for key in snippet:
        if key not in known:
            problems.report(f"There is no '{key}' here; there are {', '.join(known)}.", key)
    description = "" if snippet.get("description") is None else snippet["description"]
    if not isinstance(description, str):
        problems.report(f"It has to be a text, not {kind_of(description)}.", "description")
    if version.has_conditions and snippet.get("condition") is not None:
        with problems.at("condition"):
            holds = evaluator.condition(snippet["condition"])
            if not holds:
                return Output(name, str(description), None, condition_holds=False)
            if isinstance(holds, Deferred):
                return Output(name, str(description), encode(holds))
    with problems.at("value"):
        value, _state = evaluator.frozen(snippet["value"])
    return Output(name, str(description), value)
