# SPDX-License-Identifier: Apache-2.0
"""The resources section: snippets to definitions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from heatconv.model.deferred import is_deferred
from heatconv.model.definition import Definition
from heatconv.model.states import WRITTEN_POLICIES, DeletionPolicy
from heatconv.template.evaluator import BROKEN, DEFERRED, STATIC, Cost, Deferred, Evaluator
from heatconv.template.problems import excerpt, kind_of
from heatconv.template.resource_registry import EndlessMapping, ResourceRegistry
from heatconv.template.versions import Version

_KEYS = (
    "type",
    "properties",
    "metadata",
    "depends_on",
    "deletion_policy",
    "update_policy",
    "description",
)


def text_of(value: Any) -> str:
    """Return a text that is the same of values that are: 1, 1.0 and true are equal, but not the same."""
    return repr(value)


@dataclass(frozen=True, slots=True)
class Part:
    """A definition, the text of the snippet that it was made of, and what that cost."""

    text: str
    definition: Definition
    cost: Cost


@dataclass(frozen=True, slots=True)
class Parts:
    """The resources section of a template, frozen: which are wanted, and what these are."""

    wanted: Mapping[str, bool | Deferred | None]
    made: Mapping[str, Part]


class DefinitionParser:
    """Makes definitions of the resources whose condition holds.

    Those of snippets that are as they were need not be made again, if nothing
    else that they can refer to has changed: parameters, conditions, files,
    mappings, what the environments say of types, and which resources there are.
    """

    def __init__(
        self,
        evaluator: Evaluator,
        version: Version,
        registry: ResourceRegistry,
        snippets: Mapping[str, Any],
        parameters: Mapping[str, Any],
        before: Parts | None = None,
    ) -> None:
        """Keep what is handed in; ``before``: what came of other snippets and all else the same."""
        self._evaluator = evaluator
        self._problems = evaluator.problems
        self._keys = (
            _KEYS
            + (("external_id",) if version.has_external_ids else ())
            + (("condition",) if version.has_conditions else ())
        )
        self._registry = registry
        self._policies = {policy.value: policy for policy in WRITTEN_POLICIES}
        if version.has_external_ids:
            self._policies |= {policy.value.lower(): policy for policy in WRITTEN_POLICIES}
        self._snippets = snippets
        self._parameters = parameters
        self._before = before or Parts({}, {})
        made = self._before.made
        self._unchanged = {
            name: made[name]
            for name, snippet in snippets.items()
            if name in made and made[name].text == text_of(snippet)
        }

    def parse(self) -> Parts:
        """Return the definitions by name; mistakes are reported."""
        with self._problems.at("resources"):
            self._evaluator.scope.resources = wanted = self._wanted()
            known = self._known(wanted)
            result = {}
            for name, is_wanted in wanted.items():
                if not is_wanted:
                    continue
                part = known.get(name)
                # Most cost nothing, and thousands are not asked whether that is there.
                if part is None or (any(part.cost) and not self._evaluator.afford(part.cost)):
                    with self._problems.at(name):
                        part = self._part(name, self._snippets[name])
                self._problems.secrets.update(part.definition.secrets)
                result[name] = part
            return Parts(wanted, result)

    def _known(self, wanted: Mapping[str, bool | Deferred | None]) -> Mapping[str, Part]:
        """Return what is still true of what was made of the same snippets."""
        before = self._before.wanted
        changed = {name for name, was in before.items() if wanted.get(name) is not was}
        if not all(before[name] for name in changed):
            return {}  # a definition does not tell which resources it could not refer to
        if not changed:
            return self._unchanged
        return {
            name: part
            for name, part in self._unchanged.items()
            if part.definition.requires.isdisjoint(changed)
        }

    def _part(self, name: str, snippet: Mapping[str, Any]) -> Part:
        before = self._evaluator.cost
        definition = self._definition(name, snippet)
        return Part(text_of(snippet), definition, self._evaluator.cost - before)

    def _wanted(self) -> dict[str, bool | Deferred | None]:
        """Return which resources are wanted; None where a mistake hides it."""
        result: dict[str, bool | Deferred | None] = {}
        for name, snippet in self._snippets.items():
            if name in self._unchanged:
                result[name] = True
                continue
            with self._problems.at(name):
                if self._check_shape(name, snippet):
                    result[name] = self._holds(snippet)
                else:
                    result[name] = None
        return result

    def _check_shape(self, name: str, snippet: Any) -> bool:
        report = self._problems.report
        if not name or "/" in name:
            report("The name of a resource must not be empty or have a '/'.")
        if name in self._parameters:
            report("A parameter has the same name; rename one of them.")
        if not isinstance(snippet, dict):
            report(f"It has to be a map with the key 'type', not {kind_of(snippet)}.")
            return False
        for key in snippet:
            if key not in self._keys:
                report(f"There is no '{key}' here; there are {', '.join(self._keys)}.", key)
        type_ = snippet.get("type")
        if not isinstance(type_, str) or not type_:
            report("It has to name a resource type." if type_ is None else "It has to be a text.", "type")
            return False
        return True

    def _holds(self, snippet: Mapping[str, Any]) -> bool | Deferred | None:
        condition = snippet.get("condition") if "condition" in self._keys else None
        if condition is None:
            return True
        with self._problems.at("condition"):
            return self._evaluator.condition(condition)

    def _definition(self, name: str, snippet: Mapping[str, Any]) -> Definition:
        self._evaluator.secrets = set()
        external_id = self._text(snippet, "external_id") if "external_id" in self._keys else ""
        policy = self._policy(snippet)
        hooks, restricted_actions = self._registry.marks(name)
        return Definition(
            name=name,
            type=snippet["type"],
            properties=self._map(snippet, "properties"),
            metadata=self._map(snippet, "metadata"),
            depends_on=self._depends_on(snippet),
            # What was there before the stack is not the stack's to delete.
            deletion_policy=DeletionPolicy.RETAIN if external_id else policy,
            update_policy=self._map(snippet, "update_policy"),
            external_id=external_id or None,
            description=self._text(snippet, "description"),
            implementation=self._implementation(name, snippet["type"]),
            hooks=hooks,
            restricted_actions=restricted_actions,
            secrets=tuple(sorted(self._evaluator.secrets)),
        )

    def _implementation(self, name: str, type_: str) -> str:
        """Return what stands behind a type, if it is another type."""
        try:
            found = self._registry.implementation(name, type_)
        except EndlessMapping as error:
            self._problems.report(f"The environment maps the type in a circle: {error}.", "type")
            return ""
        if self._registry.is_removed(found):
            self._problems.report(f"The resource type {found} is not available here.", "type")
        return "" if found == type_ else found

    def _map(self, snippet: Mapping[str, Any], key: str) -> dict[str, Any]:
        raw = snippet.get(key)
        if raw is None:
            return {}
        with self._problems.at(key):
            value, state = self._evaluator.frozen(raw)
            if state != BROKEN and value is not None and not isinstance(value, dict):
                self._problems.report(f"It has to be a map, not {kind_of(value)}.")
            elif state == DEFERRED and is_deferred(value) and key != "metadata":
                # Which properties there are has to be known, to check them before anything is made.
                self._problems.report("Only values inside of it can depend on another resource.")
            return value if isinstance(value, dict) else {}

    def _static(self, snippet: Mapping[str, Any], key: str) -> Any:
        """Return a value that must not depend on run time."""
        raw = snippet.get(key)
        if raw is None or isinstance(raw, str):
            return raw
        with self._problems.at(key):
            value, state = self._evaluator.frozen(raw)
            if state == STATIC:
                return value
            if state == DEFERRED:
                self._problems.report("It must not depend on another resource.")
        return None

    def _text(self, snippet: Mapping[str, Any], key: str) -> str:
        value = self._static(snippet, key)
        if value is not None and not isinstance(value, str):
            self._problems.report(f"It has to be a text, not {kind_of(value)}.", key)
            return ""
        return value or ""

    def _policy(self, snippet: Mapping[str, Any]) -> DeletionPolicy:
        value = self._static(snippet, "deletion_policy")
        if value is None:
            return DeletionPolicy.DELETE
        if not isinstance(value, str) or value not in self._policies:
            known = ", ".join(self._policies)
            self._problems.report(f"It has to be one of {known}, not {excerpt(value)}.", "deletion_policy")
            return DeletionPolicy.DELETE
        return self._policies[value]

    def _depends_on(self, snippet: Mapping[str, Any]) -> tuple[str, ...]:
        value = self._static(snippet, "depends_on")
        names = [value] if isinstance(value, str) else [] if value is None else value
        if not isinstance(names, list):
            self._problems.report(
                f"It has to be a name or a list of names, not {kind_of(names)}.", "depends_on"
            )
            return ()
        wanted = self._evaluator.scope.resources
        for index, name in enumerate(names):
            if not isinstance(name, str) or name not in wanted:
                place = ["depends_on", index] if isinstance(value, list) else ["depends_on"]
                self._problems.report(f"There is no resource {excerpt(name)}.", *place)
        # What is switched off by its condition need not be waited for.
        return tuple(dict.fromkeys(name for name in names if isinstance(name, str) and wanted.get(name)))
