# SPDX-License-Identifier: Apache-2.0
"""The guards section of an environment: rules on what an action may do, each by a name.

::

    guards:
      databases: {forbid: [delete, replace], types: ["OS::Trove::*"], names: ["db*"]}
      few: {max_deletions: 3}
      data: {forbid: [delete, replace], holds_data: true, tags: [production]}
"""

from __future__ import annotations

from typing import Any

from heatconv.template.problems import Problems, excerpt, kind_of

FORBIDDEN = ("create", "update", "replace", "delete")  #: what a rule can forbid

MOST = 200  #: rules, and names, types and tags in them: each is tried with each resource of a plan

_PATTERNS = ("names", "types", "tags")
_KEYS = ("forbid", *_PATTERNS, "holds_data", "max_deletions")


def check_guards(guards: dict[str, Any], problems: Problems) -> None:
    """Report what is wrong with a section of guards."""
    patterns = [
        each
        for rule in guards.values()
        if isinstance(rule, dict)
        for key in _PATTERNS
        if isinstance(rule.get(key), list)
        for each in rule[key]
    ]
    if len(guards) > MOST or len(patterns) > MOST:
        problems.report(f"There can be {MOST} rules, and as many names, types and tags in all of them.")
        return
    for name, rule in guards.items():
        with problems.at(name):
            _check(rule, problems)


def _check(rule: Any, problems: Problems) -> None:
    if not isinstance(rule, dict):
        problems.report(f"It has to be a map, not {kind_of(rule)}.")
        return
    for key, value in rule.items():
        wrong = _wrong(key, value)
        if wrong is not None:
            problems.report(wrong, key)
    if "forbid" not in rule and "max_deletions" not in rule:
        problems.report("It has to say what it forbids, or max_deletions.")


def _wrong(key: str, value: Any) -> str | None:
    """Return what is wrong with an entry of a rule; None: nothing."""
    if key not in _KEYS:
        return f"There is no '{key}' here; there are {', '.join(_KEYS)}."
    if key == "max_deletions":
        right = type(value) is int and value >= 0
        return None if right else f"It has to be a whole number, 0 or more, not {excerpt(value)}."
    if key == "holds_data":
        return None if isinstance(value, bool) else f"It has to be true or false, not {excerpt(value)}."
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        return "It has to be a list of texts."
    if key == "forbid" and not set(value) <= set(FORBIDDEN):
        return f"There are {', '.join(FORBIDDEN)}, and no other."
    return None
