# SPDX-License-Identifier: Apache-2.0
"""YAQL with bounded work, in bounded memory.

yaql's own limits bound the length of collections, and look at a value when it is
there.  Loops in loops, powers and backtracking regular expressions can keep a
process busy for years, and a list that has itself twice, again and again, is small
until somebody compares it or makes a text of it.  So calls are counted, and with
them what they give, as large as it is when it is written out; texts are
measured before they are put together; what yields for ever is cut off; powers and
regular expressions are our own.  Of the functions on regular expressions there are
``matches``, ``=~`` and ``!~``.  The limits are those that ``limits.YAQL`` has
when this module is first imported.
"""

# yaql has no types, its decorators included.
# mypy: disable-error-code="untyped-decorator"

from __future__ import annotations

import inspect
import itertools
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import yaql
from yaql.language import contexts, specs, utils, yaqltypes

from heatconv.model.patterns import Pattern
from heatconv.template.functions.yaql_query import LIMIT_ITERATORS, MEMORY_QUOTA, Query, work
from heatconv.template.limits import MAX_TOTAL_WEIGHT, MAX_WEIGHT, weight_of

_WORK_PER_QUERY = 500
_WORK_PER_CHARACTER = 20
_WORK_PER_ITEM = 3
_MAX_BITS = 8 * MEMORY_QUOTA

_ENGINE = yaql.YaqlFactory().create(
    options={
        "yaql.limitIterators": LIMIT_ITERATORS,
        "yaql.memoryQuota": MEMORY_QUOTA,
        "yaql.convertSetsToLists": True,
        "yaql.convertTuplesToLists": True,
    }
)
_PARSER = threading.Lock()  # yaql's parser keeps its state in itself


class _CountingContext(contexts.Context):  # type: ignore[misc]  # yaql has no types
    """A context that ends a query after so many calls; those made from it count together."""

    def __init__(self, parent_context: Any = None, *args: Any, **kwargs: Any) -> None:
        super().__init__(parent_context, *args, **kwargs)
        inherited = isinstance(parent_context, _CountingContext)
        self.query: Query = parent_context.query if inherited else Query()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self.query.count()
        function = super().__call__(*args, **kwargs)

        def call(*arguments: Any, **named: Any) -> Any:
            result = function(*arguments, **named)
            self.query.take(result)
            return result

        return call


def evaluate(expression: str, data: dict[str, Any]) -> Any:
    """Return what an expression comes to, ``$`` being the data."""
    work(_WORK_PER_QUERY + _WORK_PER_CHARACTER * len(expression))
    with _PARSER:
        statement = _ENGINE(expression)
    context = _CountingContext(_FUNCTIONS)
    context.query = Query(max(MAX_WEIGHT, 2 * weight_of(data, MAX_TOTAL_WEIGHT)))
    return statement.evaluate(data=data, context=context)


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
        return utils.limit_iterable(payload(*args, **kwargs), LIMIT_ITERATORS)

    return call


def _small(payload: Callable[..., Any]) -> Callable[..., Any]:
    """Return a multiplication that makes no long lists."""

    def call(*args: Any, **kwargs: Any) -> Any:
        operands = [*args, *kwargs.values()]
        lengths = [len(operand) for operand in operands if isinstance(operand, list | tuple)]
        factors = [operand for operand in operands if isinstance(operand, int)]
        if lengths and factors and max(lengths) * max(factors) > LIMIT_ITERATORS:
            raise ValueError(f"a list gets more than {LIMIT_ITERATORS} items")
        return payload(*args, **kwargs)

    return call


def _flat(collection: Iterable[Any]) -> Iterator[Any]:
    for item in collection:
        work(_WORK_PER_ITEM)
        if utils.is_iterable(item):
            yield from _flat(item)
        else:
            yield item


def _written(payload: Callable[..., Any]) -> Callable[..., Any]:
    """Return what makes a text of a value, which counts as all that there is in it."""

    def call(value: Any) -> Any:
        work(Query().measure(value)[0])
        return payload(value)

    return call


def _join(sequence: Iterable[Any], separator: str, text_of: Callable[[Any], str]) -> str:
    texts: list[str] = []
    length = 0
    for item in sequence:
        texts.append(text_of(item))
        length += len(texts[-1]) + len(separator)
        _check_length(length - len(separator))
    return separator.join(texts)


def _concat(*texts: str) -> str:
    _check_length(sum(map(len, texts)))
    return "".join(texts)


def _replace(text: str, old: str, new: str, count: int = -1) -> str:
    found = text.count(old) if count < 0 else min(text.count(old), count)
    _check_length(len(text) + found * (len(new) - len(old)))
    return text.replace(old, new, count)


def _replace_each(
    text: str, text_of: Callable[[Any], str], replacements: Mapping[Any, Any], count: int = -1
) -> str:
    for old, new in replacements.items():
        text = _replace(text, text_of(old), text_of(new), count)
    return text


def _check_length(length: int) -> None:
    if length > MEMORY_QUOTA:
        raise ValueError(f"a text gets more than {MEMORY_QUOTA} characters")


def _instead(ours: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return what puts a function in the place of one that takes the same arguments."""
    return lambda _payload: ours


def _replacement(payload: Callable[..., Any]) -> Callable[..., Any]:
    return _instead(_replace_each if "replacements" in inspect.signature(payload).parameters else _replace)(
        payload
    )


def _joining(payload: Callable[..., Any]) -> Callable[..., Any]:
    # It is there twice: as a method of what is joined, and of what is put between.
    if next(iter(inspect.signature(payload).parameters)) == "sequence":
        return _instead(_join)(payload)
    return lambda separator, sequence, text_of: _join(sequence, separator, text_of)


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
    "flatten": _instead(_flat),
    "str": _written,
    "join": _joining,
    "concat": _instead(_concat),
    "replace": _replacement,
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
