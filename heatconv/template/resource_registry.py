# SPDX-License-Identifier: Apache-2.0
"""What environments say of resources: which type stands behind another, breakpoints, what must not happen.

A section ``resource_registry`` maps types to types or templates (``T: U``), one
by one or by a common start (``OS::Net*: OS::Neutron*``), for all resources or
for those below ``resources`` by their name.  Whether a type exists at the end
is left to those who know plugins.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from fnmatch import translate
from typing import Any

from heatconv.template.problems import Problems, excerpt, kind_of

HOOKS = tuple(f"{when}-{action}" for when in ("pre", "post") for action in ("create", "update", "delete"))
RESTRICTED_ACTIONS = ("update", "replace")

_WORDS = {"hooks": HOOKS, "restricted_actions": RESTRICTED_ACTIONS}
_PER_NAME = "resources"
_INERT = "base_url"  # for clients, who find files with it
_MAGIC = re.compile(r"[*?\[]")  # what makes a name a pattern
MAX_PATTERNS = 200  # in one registry: each is tried with each resource
_MAX_MAPPINGS = 50  # from a type to the one that stands behind it


class EndlessMapping(Exception):
    """Types stand behind each other in a circle; never leaves this package."""

    def __init__(self, trail: list[str]) -> None:
        super().__init__(" -> ".join(trail))


class ResourceRegistry:
    """The registries of a user and of the operator, the user's entries first."""

    def __init__(self, user: Mapping[str, Any], operator: Mapping[str, Any]) -> None:
        """Take two sections that ``check_registry`` has nothing against."""
        self._levels = [_Level(section) for section in (user, operator)]

    def implementation(self, name: str, type_: str) -> str:
        """Return the type, or the template, that stands behind the type of a resource.

        Raises:
            EndlessMapping: it is mapped in a circle.
        """
        trail = [type_]
        while target := self._target(name, trail[-1]):
            if target in trail or len(trail) > _MAX_MAPPINGS:
                raise EndlessMapping([*trail, target])
            trail.append(target)
        return trail[-1]

    def facade(self, name: str, type_: str) -> str:
        """Return the type that a template stands in for: what would be behind the type without it."""
        first, *others = [*self._targets(name, type_), type_]
        return others[0] if others else first

    def is_removed(self, type_: str) -> bool:
        """Tell whether the operator has taken a type away."""
        return self._levels[1].types.removes(type_)

    def marks(self, name: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the breakpoints of a resource, and what must not happen to it."""
        entries = [said for level in self._levels for said in level.about(name)]
        if not entries:
            return (), ()
        return _said(entries, "hooks"), _said(entries, "restricted_actions")

    def _target(self, name: str, type_: str) -> str | None:
        return next(self._targets(name, type_), None)

    def _targets(self, name: str, type_: str) -> Iterator[str]:
        """Yield what a type of a resource is mapped to, the mapping that counts first."""
        tables = (table for level in self._levels for table in (level.named.get(name), level.types) if table)
        return (target for table in tables if (target := table.target(type_)))


class _Level:
    """One section, made ready for look-ups."""

    def __init__(self, section: Mapping[str, Any]) -> None:
        self._by_name = section.get(_PER_NAME) or {}
        self._patterns = [
            (name, re.compile(translate(name)), said)
            for name, said in self._by_name.items()
            if _MAGIC.search(name)
        ]
        self.types = _Types(section)
        self.named = {name: _Types(said) for name, said in self._by_name.items()}

    def about(self, name: str) -> Iterator[Mapping[str, Any]]:
        """Yield what is said of a resource, by its name or a pattern for it."""
        if name in self._by_name:
            yield self._by_name[name]
        for pattern, compiled, said in self._patterns:
            if pattern != name and compiled.match(name):
                yield said


class _Types:
    """Mappings of types, in their order; null removes those before it."""

    def __init__(self, entries: Mapping[str, Any]) -> None:
        self._targets: dict[str, str] = {}
        self._removed: list[str] = []
        for pattern, target in entries.items():
            if isinstance(target, str) and pattern not in (*_WORDS, _INERT):
                self._targets[pattern] = target
            elif target is None:
                self._removed.append(pattern)
                self._remove(pattern)
        patterns = (pattern for pattern in self._targets if pattern.endswith("*"))
        self._patterns = sorted(patterns, key=len, reverse=True)
        self._known: dict[str, str | None] = {}  # what was looked up before

    def target(self, type_: str) -> str | None:
        """Return what a type is mapped to: by its own entry, else by the one with the longest start."""
        if type_ not in self._known:
            self._known[type_] = self._look_up(type_)
        return self._known[type_]

    def _look_up(self, type_: str) -> str | None:
        found = self._targets.get(type_, type_)
        for pattern in self._patterns if found == type_ else ():
            if type_.startswith(pattern[:-1]):
                found = self._targets[pattern]
                if found.endswith("*"):
                    found = found[:-1] + type_[len(pattern) - 1 :]
                break
        # One type for all, as in "OS::*: OS::Heat::None", is no mapping of that type itself.
        return None if found == type_ else found

    def removes(self, type_: str) -> bool:
        """Tell whether a type is removed."""
        return any(_covers(pattern, type_) for pattern in self._removed)

    def _remove(self, pattern: str) -> None:
        some = pattern.endswith("*")
        covered = [type_ for type_ in self._targets if _covers(pattern, type_)] if some else [pattern]
        for type_ in covered:
            self._targets.pop(type_, None)


def _covers(pattern: str, type_: str) -> bool:
    return type_.startswith(pattern[:-1]) if pattern.endswith("*") else type_ == pattern


def _said(entries: list[Mapping[str, Any]], key: str) -> tuple[str, ...]:
    said = {word for each in entries for word in _listed(each, key)}
    return tuple(word for word in _WORDS[key] if word in said)


def merge_registries(earlier: Mapping[str, Any], later: Mapping[str, Any]) -> dict[str, Any]:
    """Return one registry of two; what the later one says comes after, and wins."""
    merged = dict(earlier)
    for key, value in later.items():
        before = merged.pop(key, None)
        both = isinstance(before, dict) and isinstance(value, dict)
        merged[key] = merge_registries(before, value) if both else value
    return merged


def inherited_registry(section: Mapping[str, Any], name: str, type_: str) -> dict[str, Any]:
    """Return the registry of a stack that is nested below a resource of a name.

    What is said of names below that name is said of its resources.  The type
    that stands behind the resource stands behind none of them: a template may
    use the type that it takes the place of.
    """
    mappings = {key: target for key, target in section.items() if key != _PER_NAME and target != type_}
    below: dict[str, Any] = {}
    for said in _Level(section).about(name):
        below = merge_registries(
            below, {key: entry for key, entry in said.items() if isinstance(entry, dict)}
        )
    return mappings | ({_PER_NAME: below} if below else {})


# -- what can be wrong with one -------------------------------------------------------------------


def check_registry(section: Mapping[str, Any], problems: Problems) -> None:
    """Report what is wrong with a section ``resource_registry``."""
    patterns = sum(bool(_MAGIC.search(key)) for key in _keys(section))
    if patterns > MAX_PATTERNS:
        problems.report(f"It has {patterns} patterns; at most {MAX_PATTERNS} are allowed.")
    for key, value in section.items():
        if key != _PER_NAME:
            with problems.at(key):
                _check_type(value, problems)
        elif not isinstance(value, dict):
            problems.report(f"It has to be a map by names of resources, not {kind_of(value)}.", key)
        else:
            for name, said in value.items():
                with problems.at(key, name):
                    _check_said(said, problems)


def _check_said(said: Any, problems: Problems) -> None:
    """Check what is said of a resource; a map in it is about a resource nested below."""
    if not isinstance(said, dict):
        problems.report(f"It has to be a map of types, hooks and restricted_actions, not {kind_of(said)}.")
        return
    for key, value in said.items():
        with problems.at(key):
            if key in _WORDS:
                for word in _listed(said, key):
                    if word not in _WORDS[key]:
                        known = ", ".join(_WORDS[key])
                        problems.report(f"It has to be one or a list of {known}, not {excerpt(word)}.")
            elif isinstance(value, dict):
                _check_said(value, problems)
            else:
                _check_type(value, problems)


def _check_type(value: Any, problems: Problems) -> None:
    if not isinstance(value, str | None) or value == "":
        problems.report(f"It has to be a type, the name of a template or null, not {excerpt(value)}.")


def _keys(said: Mapping[str, Any]) -> Iterator[str]:
    """Yield the keys of a map and of the maps in it."""
    for key, value in said.items():
        yield key
        if isinstance(value, dict):
            yield from _keys(value)


def _listed(said: Mapping[str, Any], key: str) -> list[Any]:
    value = said.get(key, [])
    return value if isinstance(value, list) else [value]
