# SPDX-License-Identifier: Apache-2.0
"""Environments: what users put beside a template, merged into one.

The registry of resource types is only carried; who knows plugins interprets it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from heatconv.template.limits import MAX_TEXT_BYTES
from heatconv.template.loader import check_data, load_yaml
from heatconv.template.problems import Problems, excerpt, kind_of

_SECTIONS: dict[str, type] = {
    "parameters": dict,
    "parameter_defaults": dict,
    "resource_registry": dict,
    "event_sinks": list,
    "encrypted_param_names": list,
    "parameter_merge_strategies": dict,
}
_VALUES = ("parameters", "parameter_defaults")  # the sections that merge strategies are about


def merge(
    environment: Mapping[str, Any] | str | None,
    environment_files: Sequence[str],
    files: Mapping[str, str],
    parameters: Mapping[str, Any],
    *,
    template: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return one environment with every section there.

    Args:
        environment: a map or a YAML text; ignored if there are files.
        environment_files: names in ``files``, merged in this order by their
            merge strategies.
        files: contents by name.
        parameters: values laid over the parameters of all of these.
        template: tells the types of the parameters, which merging texts that
            stand for lists or JSON needs; a text is just a text without it.

    Raises:
        Invalid: an environment cannot be read, has an unknown or null section,
            or two files disagree on how to merge a parameter.
    """
    problems = Problems()
    result: dict[str, Any] = {name: type_() for name, type_ in _SECTIONS.items()}
    if environment_files:
        merger = _Merger(result, _types(template), problems)
        for name in environment_files:
            if name not in files:
                problems.report(f"There is no environment file '{name}' among the files.")
                continue
            loaded = _load(files[name], f"The environment file '{name}'", problems, name)
            merger.add(loaded, name)
    else:
        result |= _load(environment, "The environment", problems)
    problems.raise_any()
    check_data(parameters, "The parameters", limit=MAX_TEXT_BYTES)
    return result | {"parameters": result["parameters"] | dict(parameters)}


def _load(
    environment: Mapping[str, Any] | str | None, what: str, problems: Problems, *steps: str
) -> dict[str, Any]:
    """Return the sections of one environment that are right; the others are reported."""
    if isinstance(environment, str):
        data = load_yaml(environment, what, limit=MAX_TEXT_BYTES)
    else:
        check_data(environment, what, limit=MAX_TEXT_BYTES)
        data = environment
    if data is None:
        return {}
    if not isinstance(data, dict):
        problems.report(f"{what} has to be a map, not {kind_of(data)}.", *steps)
        return {}
    result = {}
    for name, section in data.items():
        type_ = _SECTIONS.get(name)
        if type_ is None:
            problems.report(f"There is no section '{name}'; there are {', '.join(_SECTIONS)}.", *steps, name)
        elif not isinstance(section, type_):
            problems.report(f"It has to be {kind_of(type_())}, not {kind_of(section)}.", *steps, name)
        else:
            result[name] = section
    return result


# -- merging files ---------------------------------------------------------------------------------


@dataclass
class _Merger:
    """Merges environment files into ``result``, in the order they are added."""

    result: dict[str, Any]
    types: Mapping[str, str]
    problems: Problems

    def __post_init__(self) -> None:
        self._strategies: dict[str, tuple[str, str]] = {}  # of a parameter, and the file that said so

    def add(self, environment: Mapping[str, Any], source: str) -> None:
        """Merge one more file."""
        strategies = environment.get("parameter_merge_strategies", {})
        for name, strategy in strategies.items():
            if not isinstance(strategy, str) or strategy not in _STRATEGIES:
                known = ", ".join(_STRATEGIES)
                sentence = f"It has to be one of {known}, not {excerpt(strategy)}."
                self.problems.report(sentence, source, "parameter_merge_strategies", name)
                return
        for section, content in environment.items():
            if section in _VALUES:
                self._add_values(section, content, strategies, source)
            elif section == "resource_registry":
                self.result[section] = _deeply_merged(self.result[section], content)
            elif section == "parameter_merge_strategies":
                self.result[section] = self.result[section] | content
            else:
                self.result[section] = self.result[section] + content

    def _add_values(
        self, section: str, values: Mapping[str, Any], strategies: Mapping[str, str], source: str
    ) -> None:
        merged = dict(self.result[section])
        for name, value in values.items():
            if value is None:
                continue
            strategy = strategies.get(name, strategies.get("default", "overwrite"))
            other, first = self._strategies.setdefault(name, (strategy, source))
            if other != strategy:
                self.problems.report(
                    f"'{first}' merges this parameter by {other}, '{source}' by {strategy}; use the same.",
                    section,
                    name,
                )
            elif name in merged:
                merged[name] = self._merged(section, name, merged[name], value, strategy)
            else:
                merged[name] = value
        self.result[section] = merged

    def _merged(self, section: str, name: str, old: Any, new: Any, strategy: str) -> Any:
        type_ = self.types.get(name, "")
        try:
            return _STRATEGIES[strategy](_parsed(old, type_), _parsed(new, type_))
        except TypeError:
            self.problems.report(f"{kind_of(old)} and {kind_of(new)} cannot be merged.", section, name)
            return new


def _types(template: Mapping[str, Any] | None) -> dict[str, str]:
    declared = (template or {}).get("parameters") or {}
    return {name: str(item.get("type")) for name, item in declared.items() if isinstance(item, dict)}


def _parsed(value: Any, type_: str) -> Any:
    """Return a value as the list, the map or the number that its text stands for."""
    if not isinstance(value, str):
        return value
    if type_ == "comma_delimited_list":
        return value.split(",") if value else []
    if type_ in ("json", "number"):
        try:
            return json.loads(value)
        except ValueError:
            return value  # its type is checked when the template is evaluated
    return value


def _overwritten(_old: Any, new: Any) -> Any:
    return new


def _merged_once(old: Any, new: Any) -> Any:
    """Return lists and texts one after the other, numbers added, maps updated."""
    if isinstance(old, dict) and isinstance(new, dict):
        return old | new
    if isinstance(old, bool) or isinstance(new, bool):
        return new
    return old + new


def _deeply_merged(old: Any, new: Any) -> Any:
    """Return the same, but with maps in maps merged as well; other values in maps are overwritten."""
    if not isinstance(old, dict) or not isinstance(new, dict):
        return _merged_once(old, new)
    result = dict(old)
    for key, value in new.items():
        below = result.get(key)
        both_maps = isinstance(below, dict) and isinstance(value, dict)
        result[key] = _deeply_merged(below, value) if both_maps else value
    return result


_STRATEGIES: dict[str, Callable[[Any, Any], Any]] = {
    "overwrite": _overwritten,
    "merge": _merged_once,
    "deep_merge": _deeply_merged,
}
