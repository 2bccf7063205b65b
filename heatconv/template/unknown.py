# SPDX-License-Identifier: Apache-2.0
"""What is not known yet in the source of a nested stack: a call that nobody can write into a template.

Who plans what is nested in a stack has an ``Unknown`` where its owner's properties have one.  It is
*written* as a call of a function of its own, for a template is plain data; freezing makes a deferred
call of that, and everything that contains it is deferred, as it is with ``get_attr``.  The function is
there for such sources only.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heatconv.model.unknown import Unknown
from heatconv.template.evaluator import Evaluator, Form

NAME = "heatconv::unknown"


def written(value: Any) -> Any:
    """Return a value with calls in place of what is not known."""
    if isinstance(value, Unknown):
        return {NAME: value.to_json()}
    if isinstance(value, Mapping):
        return {key: written(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [written(item) for item in value]
    return value


def is_written_in(value: Any) -> bool:
    """Tell whether a value is, or anywhere contains, such a call."""
    if isinstance(value, Mapping):
        return _is_call(value) or any(map(is_written_in, value.values()))
    return isinstance(value, list) and any(map(is_written_in, value))


def select(evaluator: Evaluator, value: Any, path: list[Any], otherwise: Any) -> Any:
    """Return what a path leads to in a parameter's value; ``otherwise`` selects in what is known."""
    for step in path:
        if isinstance(value, Mapping) and _is_call(value):
            break
        value = otherwise(value, [step], "")
    return _met(evaluator, value)


def _met(evaluator: Evaluator, value: Any) -> Any:
    if isinstance(value, Mapping):
        if _is_call(value):
            return evaluator.meet(value[NAME])
        return {key: _met(evaluator, item) for key, item in value.items()}
    if isinstance(value, list):
        return [_met(evaluator, item) for item in value]
    return value


def _is_call(value: Mapping[Any, Any]) -> bool:
    return len(value) == 1 and NAME in value


#: The function itself, by its name.
FUNCTION = {NAME: Form(NAME, "Stand for what is not known yet.", Evaluator.meet, listed=False)}
