# SPDX-License-Identifier: Apache-2.0
"""Template functions over lists and maps."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator
from typing import Any

from heatconv.model.work import TOO_MUCH_WORK, may_work
from heatconv.template.functions.arguments import (
    FunctionError,
    function,
    identity,
    need_list,
    need_map,
    text_of,
    too_big,
)
from heatconv.template.limits import CHARACTERS_PER_UNIT, CHARACTERS_SEARCHED_PER_UNIT, MAX_WEIGHT, weight_of
from heatconv.template.problems import excerpt, kind_of


@function("list_concat")
def list_concat(*lists: Any) -> list[Any]:
    """Put lists together into one."""
    return _chained(lists, "list_concat")


@function("list_concat_unique")
def list_concat_unique(*lists: Any) -> list[Any]:
    """Put lists together into one, each item just once."""
    unique: dict[str, Any] = {}
    for item in _chained(lists, "list_concat_unique"):
        unique.setdefault(identity(item), item)
    return list(unique.values())


def _chained(lists: Iterable[Any], name: str) -> list[Any]:
    checked = [need_list(items, index) for index, items in enumerate(lists)]
    if sum(map(len, checked)) > MAX_WEIGHT:
        raise FunctionError(too_big(name))
    return list(itertools.chain.from_iterable(checked))


@function("filter")
def filter_list(values: Any, items: Any) -> list[Any]:
    """Remove values from a list."""
    unwanted = {identity(value) for value in need_list(values, 0)}
    return [item for item in need_list(items, 1) if identity(item) not in unwanted]


@function("contains")
def contains(value: Any, sequence: Any) -> bool:
    """Tell whether a value is in a list, or a text in a text."""
    if isinstance(sequence, str):
        return isinstance(value, str) and value in sequence
    if not isinstance(sequence, list):
        raise FunctionError(f"It has to be a list or a text, not {kind_of(sequence)}.", 1)
    return value in sequence


@function("map_merge")
def map_merge(*maps: Any) -> dict[str, Any]:
    """Put maps together into one; where keys are equal, the later map wins."""
    merged: dict[str, Any] = {}
    for index, item in enumerate(maps):
        merged |= need_map(item, index)
    return merged


@function("map_replace")
def map_replace(map: Any, replacements: Any) -> dict[str, Any]:
    """Rename keys, or exchange values, of a map."""
    source, rules = need_map(map, 0), need_map(replacements, 1)
    unknown = sorted(set(rules) - {"keys", "values"})
    if unknown:
        raise FunctionError(f"There is no '{unknown[0]}'; it takes a map of keys and values.", 1)
    keys, values = need_map(rules.get("keys"), 1, "keys"), need_map(rules.get("values"), 1, "values")
    result: dict[str, Any] = {}
    for key, value in source.items():
        name = text_of(keys.get(key, key))
        if name in result or (name != key and name in source and keys.get(name, name) == name):
            raise FunctionError(f"Renaming '{key}' would give the key '{name}' twice.", 1, "keys")
        result[name] = values.get(_as_key(value), value)
    return result


def _as_key(value: Any) -> str:
    """Return a value as the key of a JSON map has it: 1 is "1", true is "true"."""
    return value if isinstance(value, str) else identity(value)


# -- repeat ----------------------------------------------------------------------------------


@function("repeat", since="2015-04-30")
def repeat_lists(*, template: Any, for_each: Any) -> list[Any]:
    """Repeat a template for each item of lists."""
    return _repeat(template, for_each, permutations=True, maps=False)


@function("repeat", since="2016-10-14")
def repeat_maps(*, template: Any, for_each: Any) -> list[Any]:
    """Repeat a template for each item of lists, or each key of maps."""
    return _repeat(template, for_each, permutations=True, maps=True)


@function("repeat")
def repeat(*, template: Any, for_each: Any, permutations: Any = True) -> list[Any]:
    """Repeat a template for each combination (or in step) of the items of lists or maps."""
    if not isinstance(permutations, bool):
        raise FunctionError(f"It has to be true or false, not {excerpt(permutations)}.", "permutations")
    return _repeat(template, for_each, permutations=permutations, maps=True)


def _repeat(template: Any, for_each: Any, *, permutations: bool, maps: bool) -> list[Any]:
    variables = need_map(for_each, "for_each")
    if not variables or "" in variables:
        raise FunctionError("It has to name at least one variable, and no name may be empty.", "for_each")
    columns = [_column(value, name, maps=maps) for name, value in variables.items()]
    lengths = [len(column) for column in columns]
    if not permutations and len(set(lengths)) > 1:
        raise FunctionError("Without permutations the lists have to be of the same length.", "for_each")
    turns = math.prod(lengths) if permutations else lengths[0]
    if turns * weight_of(template) > MAX_WEIGHT:
        raise FunctionError(too_big("repeat"))
    rows: Iterator[Any] = itertools.product(*columns) if permutations else zip(*columns, strict=True)
    copier = _Copier()
    return [copier.copy(template, dict(zip(variables, row, strict=True))) for row in rows]


def _column(value: Any, name: str, *, maps: bool) -> list[Any]:
    if maps and isinstance(value, dict):
        return list(value)
    return need_list(value, "for_each", name)


_VARIABLE = 50  # characters that could be searched in the time it takes to try a variable


class _Copier:
    """Copies templates with variables put in, until the copies get too big.

    Values are put in wherever a variable is, so only the copies tell.
    """

    def __init__(self) -> None:
        self._budget = MAX_WEIGHT

    def copy(self, template: Any, row: dict[str, Any]) -> Any:
        """Return the template with variables replaced, in keys, values and inside texts."""
        if isinstance(template, str):
            return self._text(template, row)
        self._charge(1)
        if isinstance(template, list):
            return [self.copy(item, row) for item in template]
        if isinstance(template, dict):
            return {text_of(self._text(key, row)): self.copy(item, row) for key, item in template.items()}
        return template

    def _text(self, template: str, row: dict[str, Any]) -> Any:
        if template in row:
            self._charge(weight_of(row[template]))
            return row[template]
        if not may_work(len(row) * (_VARIABLE + len(template)) // CHARACTERS_SEARCHED_PER_UNIT):
            raise FunctionError(TOO_MUCH_WORK)
        for name, value in row.items():
            if name in template:
                text = text_of(value)
                length = len(template) + template.count(name) * len(text)
                self._charge(length // CHARACTERS_PER_UNIT)
                template = template.replace(name, text)
        self._charge(1)
        return template

    def _charge(self, weight: int) -> None:
        self._budget -= weight
        if self._budget < 0:
            raise FunctionError(too_big("repeat"))
