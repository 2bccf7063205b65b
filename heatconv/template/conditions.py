# SPDX-License-Identifier: Apache-2.0
"""The conditions section: names for facts that follow from parameters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from heatconv.template.evaluator import Evaluator
from heatconv.template.order import CircularDependency, dependency_order
from heatconv.template.problems import shortened


def evaluate_conditions(conditions: Mapping[str, Any], evaluator: Evaluator) -> None:
    """Evaluate every condition into the evaluator's scope, those that others use first."""
    problems, known = evaluator.problems, evaluator.scope.conditions
    with problems.at("conditions"):
        try:
            order = dependency_order({name: set(_names(value)) for name, value in conditions.items()})
        except CircularDependency as error:
            problems.report(f"Circular dependency: {shortened(str(error), 500)}.", error.members[0])
            known.update(dict.fromkeys(conditions))
            return
        for name in order:
            with problems.at(name):
                known[name] = evaluator.condition(conditions[name])


def _names(value: Any) -> Iterator[str]:
    """Yield the names of conditions that a condition uses."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict) and len(value) == 1:
        ((function, args),) = value.items()
        if function in _OF_CONDITIONS:
            for item in args if isinstance(args, list) else [args]:
                yield from _names(item)


_OF_CONDITIONS = frozenset({"not", "and", "or", "Fn::Not", "Fn::And", "Fn::Or"})
