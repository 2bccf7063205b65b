# SPDX-License-Identifier: Apache-2.0
"""YAQL with bounded work.

yaql's own limits bound collections and memory, but not time: loops in loops,
powers and backtracking regular expressions can keep a process busy for years.
So calls are counted, what yields for ever is cut off, and powers and regular
expressions are our own.  Of the functions on regular expressions there are
``matches``, ``=~`` and ``!~``.  The limits are those that ``limits.YAQL`` has
when this module is first imported.
"""

# yaql has no types, its decorators included.
# mypy: disable-error-code="untyped-decorator"

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from typing import Any

import yaql
from yaql.language import contexts, specs, utils, yaqltypes

from heatconv.template.limits import YAQL, may_work
from heatconv.template.patterns import Pattern

_LIMIT_ITERATORS = YAQL.iterators
_MEMORY_QUOTA = YAQL.memory
_MAX_CALLS = 100 * _LIMIT_ITERATORS
_WORK_PER_CALL = 100
_WORK_PER_QUERY = 500
_WORK_PER_CHARACTER = 20
_MAX_BITS = 8 * _MEMORY_QUOTA

_ENGINE = yaql.YaqlFactory().create(
    options={
        "yaql.limitIterators": _LIMIT_ITERATORS,
        "yaql.memoryQuota": _MEMORY_QUOTA,
        "yaql.convertSetsToLists": True,
        "yaql.convertTuplesToLists": True,
    }
)
_PARSER = threading.Lock()  # yaql's parser keeps its state in itself


class EndlessQueryError(Exception):
    """A query takes too much work; never leaves this package."""


class _Calls:
    def __init__(self) -> None:
        self.left = _MAX_CALLS


class _CountingContext(contexts.Context):  # type: ignore[misc]  # yaql has no types
    """A context that ends a query after so many calls; those made from it count together."""

    def __init__(self, parent_context: Any = None, *args: Any, **kwargs: Any) -> None:
        super().__init__(parent_context, *args, **kwargs)
        inherited = isinstance(parent_context, _CountingContext)
        self._calls: _Calls = parent_context._calls if inherited else _Calls()  # noqa: SLF001  # our own kind

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self._calls.left -= 1
        if self._calls.left < 0:
            raise EndlessQueryError(f"it makes more than {_MAX_CALLS} calls")
        _work(_WORK_PER_CALL)
        return super().__call__(*args, **kwargs)


def evaluate(expression: str, data: dict[str, Any]) -> Any:
    """Return what an expression comes to, ``$`` being the data."""
    _work(_WORK_PER_QUERY + _WORK_PER_CHARACTER * len(expression))
    with _PARSER:
        statement = _ENGINE(expression)
    return statement.evaluate(data=data, context=_CountingContext(_FUNCTIONS))


def _work(units: int) -> None:
    if not may_work(units):
        raise EndlessQueryError("the template takes too much work to evaluate")


# -- functions of our own --------------------------------------------------------------------------


@specs.parameter("base", yaqltypes.Number())
@specs.parameter("exponent", yaqltypes.Number())
@specs.parameter("modulus", yaqltypes.Number(nullable=True))
def _power(base: Any, exponent: Any, modulus: Any = None) -> Any:
    if isinstance(base, int) and isinstance(exponent, int) and base.bit_length() * exponent > _MAX_BITS:
        raise ValueError("the power is too big")
    return pow(base, exponent, modulus)


@specs.parameter("pattern", yaqltypes.String())
def _regex(pattern: str) -> Pattern:
    return Pattern(pattern)


@specs.parameter("pattern", Pattern)
@specs.parameter("text", yaqltypes.String())
@specs.method
def _matches(pattern: Pattern, text: str) -> bool:
    return pattern.is_in(text)


@specs.parameter("text", yaqltypes.String())
@specs.parameter("pattern", yaqltypes.String())
@specs.method
def _text_matches(text: str, pattern: str) -> bool:
    return Pattern(pattern).is_in(text)


@specs.parameter("text", yaqltypes.String())
def _is_like(text: str, pattern: str | Pattern) -> bool:
    compiled = pattern if isinstance(pattern, Pattern) else Pattern(pattern)
    return compiled.is_in(text)


@specs.parameter("text", yaqltypes.String())
def _is_unlike(text: str, pattern: str | Pattern) -> bool:
    return not _is_like(text, pattern)


def _limited(payload: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function whose iterator ends with an error past the limit."""

    def call(*args: Any, **kwargs: Any) -> Any:
        return utils.limit_iterable(payload(*args, **kwargs), _LIMIT_ITERATORS)

    return call


def _small(payload: Callable[..., Any]) -> Callable[..., Any]:
    """Return a multiplication that makes no long lists."""

    def call(*args: Any, **kwargs: Any) -> Any:
        operands = [*args, *kwargs.values()]
        lengths = [len(operand) for operand in operands if isinstance(operand, list | tuple)]
        factors = [operand for operand in operands if isinstance(operand, int)]
        if lengths and factors and max(lengths) * max(factors) > _LIMIT_ITERATORS:
            raise ValueError(f"a list gets more than {_LIMIT_ITERATORS} items")
        return payload(*args, **kwargs)

    return call


def _short(payload: Callable[..., Any]) -> Callable[..., Any]:
    """Return a shift that makes no long numbers."""

    def call(value: int, bits_number: int) -> Any:
        if value.bit_length() + bits_number > _MAX_BITS:
            raise ValueError("the number is too big")
        return payload(value, bits_number)

    return call


_BOUNDED = {
    "range": _limited,
    "shiftBitsLeft": _short,
    "repeat": _limited,
    "cycle": _limited,
    "sequence": _limited,
    "generate": _limited,
    "generateMany": _limited,
    "#operator_*": _small,
}


def _functions() -> contexts.Context:
    standard = yaql.create_context(regex=False)
    for name, bound in _BOUNDED.items():
        for definition in itertools.chain.from_iterable(standard.collect_functions(name)):
            definition.payload = bound(definition.payload)
    context = standard.create_child_context()
    context.register_function(_power, name="pow", exclusive=True)
    context.register_function(_regex, name="regex")
    context.register_function(_matches, name="matches")
    context.register_function(_text_matches, name="matches")
    context.register_function(_is_like, name="#operator_=~")
    context.register_function(_is_unlike, name="#operator_!~")
    return context


_FUNCTIONS = _functions()
