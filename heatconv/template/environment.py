# SPDX-License-Identifier: Apache-2.0
"""Environments: what users put beside a template, merged into one; and operators, for all templates."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from heatconv.model.drift import LONGEST_INTERVAL, Mode
from heatconv.template.cloudformation import in_hot_words
from heatconv.template.guards import check_guards
from heatconv.template.limits import MAX_TEXT_BYTES
from heatconv.template.loader import check_data, load_yaml
from heatconv.template.problems import Problems, excerpt, kind_of
from heatconv.template.resource_registry import check_registry, inherited_registry, merge_registries

_SECTIONS: dict[str, type] = {
    "parameters": dict,
    "parameter_defaults": dict,
    "resource_registry": dict,
    "event_sinks": list,
    "encrypted_param_names": list,
    "parameter_merge_strategies": dict,
    "convergence": dict,
    "guards": dict,
}
_NOT_ALWAYS = ("convergence", "guards")  # the sections that are there if they say something
_VALUES = ("parameters", "parameter_defaults")  # the sections that merge strategies are about


def merge(
    environment: Mapping[str, Any] | str | None,
    environment_files: Sequence[str],
    files: Mapping[str, str],
    parameters: Mapping[str, Any],
    *,
    template: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return one environment with every section there, but for some.

    The strategies have done their work; ``convergence`` and ``guards`` are there if they say something.

    Args:
        environment: a map or a YAML text; ignored if there are files.
        environment_files: names in ``files``, merged in this order by their
            merge strategies.
        files: contents by name.
        parameters: values laid over the parameters of all of these.
        template: tells the types of the parameters, which merging texts that
            stand for lists or JSON needs; a text is just a text without it.

    Raises:
        Invalid: an environment cannot be read, a section is unknown or wrong,
            or two files disagree on how to merge a parameter.
    """
    problems = Problems()
    result: dict[str, Any] = {name: type_() for name, type_ in _SECTIONS.items()}
    if environment_files:
        merger = _Merger(result, _types(template), problems)
        for name, times in Counter(environment_files).items():
            if name not in files:
                problems.report(f"There is no environment file '{name}' among the files.")
                continue
            if times > 1:
                problems.report(f"The environment file '{name}' is named more than once.")
                continue
            known_mistakes = len(problems.found)
            loaded = _load(files[name], f"The environment file '{name}'", problems, name)
            if len(problems.found) == known_mistakes:
                merger.add(loaded, name)
    else:
        result |= _load(environment, "The environment", problems)
    problems.raise_any()
    check_data(parameters, "The parameters", limit=MAX_TEXT_BYTES)
    del result["parameter_merge_strategies"]
    for name in _NOT_ALWAYS:
        if not result[name]:
            del result[name]
    return result | {"parameters": result["parameters"] | dict(parameters)}


def inherited(environment: Mapping[str, Any], name: str, type_: str) -> dict[str, Any]:
    """Return the environment of a stack that is nested below a resource of a name, implemented by a type."""
    hidden = environment.get("encrypted_param_names")
    return {
        **({"encrypted_param_names": hidden} if hidden else {}),
        "parameter_defaults": environment.get("parameter_defaults") or {},
        "resource_registry": inherited_registry(environment.get("resource_registry") or {}, name, type_),
        "event_sinks": environment.get("event_sinks") or [],
    }


def given_values(environment: Mapping[str, Any], operators: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values that environments give to parameters, by name: the user's go first."""
    layers = (
        operators.get("parameter_defaults"),
        environment.get("parameter_defaults"),
        environment.get("parameters"),
    )
    return {name: value for layer in layers for name, value in (layer or {}).items() if value is not None}


def _load(
    environment: Mapping[str, Any] | str | None, what: str, problems: Problems, *steps: str
) -> dict[str, Any]:
    """Return the sections of one environment that are right; the others are reported."""
    if isinstance(environment, str):
        data = load_yaml(environment, what, limit=MAX_TEXT_BYTES, secret=True)
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
            with problems.at(*steps, name):
                _CHECKS.get(name, _accept)(section, problems)
            result[name] = section
    return result


# -- the sections ----------------------------------------------------------------------------------


def _accept(_section: Any, _problems: Problems) -> None:
    """Leave the values of parameters to those who know the template."""


def _check_sinks(sinks: list[Any], problems: Problems) -> None:
    for index, sink in enumerate(sinks):
        if not isinstance(sink, dict):
            problems.report(f"It has to be a map with the key 'type', not {kind_of(sink)}.", index)
        elif not isinstance(sink.get("type"), str):
            problems.report("It has to name a type of event sink.", index, "type")
        elif not all(isinstance(key, str) for key in sink):
            problems.report("Its keys have to be texts.", index)


def _check_names(names: list[Any], problems: Problems) -> None:
    for index, name in enumerate(names):
        if not isinstance(name, str):
            problems.report(f"It has to be the name of a parameter, not {kind_of(name)}.", index)


def _check_strategies(strategies: dict[str, Any], problems: Problems) -> None:
    for name, strategy in strategies.items():
        if not isinstance(strategy, str) or strategy not in _STRATEGIES:
            problems.report(f"It has to be one of {', '.join(_STRATEGIES)}, not {excerpt(strategy)}.", name)


def _check_convergence(policy: dict[str, Any], problems: Problems) -> None:
    for key, value in policy.items():
        if key not in ("policy", "interval"):
            problems.report("There are the keys policy and interval, and no other.", key)
        elif key == "policy" and value not in tuple(Mode):
            problems.report(f"It has to be one of {', '.join(Mode)}, not {excerpt(value)}.", key)
        elif key == "interval" and not (type(value) in (int, float) and 1 <= value <= LONGEST_INTERVAL):
            problems.report(f"It has to be a number of seconds, 1 or more, not {excerpt(value)}.", key)


_CHECKS: dict[str, Callable[[Any, Problems], None]] = {
    "resource_registry": check_registry,
    "event_sinks": _check_sinks,
    "encrypted_param_names": _check_names,
    "parameter_merge_strategies": _check_strategies,
    "convergence": _check_convergence,
    "guards": check_guards,
}


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
        for section, content in environment.items():
            if section in _VALUES:
                self._add_values(section, content, strategies, source)
            elif section == "resource_registry":
                self.result[section] = merge_registries(self.result[section], content)
            elif section in ("parameter_merge_strategies", *_NOT_ALWAYS):
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
    if template is None:
        return {}
    version, document, _problems = in_hot_words(template)
    declared = document.get("parameters") or {}
    return {
        name: version.parameter_types.get(str(item.get("type")), "")
        for name, item in declared.items()
        if isinstance(item, dict)
    }


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
    """Return the same, but merged inside of maps too; numbers in maps are overwritten."""
    if not isinstance(old, dict) or not isinstance(new, dict):
        return _merged_once(old, new)
    result = dict(old)
    for key, value in new.items():
        below = result.get(key)
        alike = type(below) is type(value) and isinstance(value, dict | list | str)
        result[key] = _deeply_merged(below, value) if alike else value
    return result


_STRATEGIES: dict[str, Callable[[Any, Any], Any]] = {
    "overwrite": _overwritten,
    "merge": _merged_once,
    "deep_merge": _deeply_merged,
}
