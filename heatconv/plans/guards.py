# SPDX-License-Identifier: Apache-2.0
"""Rules on plans: what must not happen to which resources, and how much may go at once.

A rule is of an environment: that which the stack has, that which it is to have, and the operator's.
So what a rule forbids takes two updates: one that drops the rule, and one that does it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from heatconv import errors
from heatconv.plans.forecast import Act, Forecast

Rules = Mapping[str, Mapping[str, Any]]

#: What a rule forbids, by the words that it has for it.
_FORBIDDEN = {
    "create": frozenset({Act.CREATE, Act.ADOPT}),
    "update": frozenset({Act.UPDATE, Act.HEAL}),
    "replace": frozenset({Act.REPLACE}),
    "delete": frozenset({Act.DELETE}),
}
_GOING = frozenset({Act.DELETE, Act.REPLACE})
SHOWN = 5  #: resources that a sentence names


@dataclass(frozen=True)
class Broken:
    """A rule that a plan breaks, and by which resources."""

    rule: str
    sentence: str
    forecasts: Sequence[Forecast]

    def to_json(self) -> dict[str, Any]:
        """Return it in the words of the published schema."""
        return {
            "rule": self.rule,
            "sentence": self.sentence,
            "resources": [list(each.place) for each in self.forecasts],
        }


def rules_of(*environments: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    """Return the rules of some environments, each once."""
    found: list[tuple[str, Mapping[str, Any]]] = []
    for environment in environments:
        guards: Rules = environment.get("guards") or {}
        found += [(name, rule) for name, rule in guards.items() if (name, rule) not in found]
    return found


def broken(rules: Iterable[tuple[str, Mapping[str, Any]]], forecasts: Sequence[Forecast]) -> list[Broken]:
    """Return the rules that some forecasts break, be it possibly."""
    return [each for name, rule in rules for each in _broken(name, rule, forecasts)]


def refusal(broken: Sequence[Broken], end: str) -> errors.GuardBroken:
    """Return the error that says which rules are broken; ``end`` ends its sentence."""
    said = "; ".join(f"{each.rule}: {each.sentence}" for each in broken)
    refused = errors.GuardBroken(reason=f"{said}{end}")
    refused.row_ids = frozenset(
        it.row_id for each in broken for it in each.forecasts if it.row_id is not None
    )
    return refused


def _broken(name: str, rule: Mapping[str, Any], forecasts: Sequence[Forecast]) -> Iterator[Broken]:
    for word in rule.get("forbid") or ():
        acts = _FORBIDDEN[word]
        found = [each for each in forecasts if each.act in acts and _is_meant(rule, each)]
        if found:
            yield Broken(name, f"it forbids to {word} {_named(found)}", found)
    most = rule.get("max_deletions")
    if most is not None:
        found = [each for each in forecasts if each.act in _GOING and _is_meant(rule, each)]
        if len(found) > most:
            yield Broken(name, f"it lets {most} go at once, and {len(found)} would", found)


def _is_meant(rule: Mapping[str, Any], forecast: Forecast) -> bool:
    tags = rule.get("tags")
    if tags is not None and not any(_fits(tag, each) for tag in forecast.tags for each in tags):
        return False
    names, types, holds_data = rule.get("names"), rule.get("types"), rule.get("holds_data")
    if names is None and types is None and not holds_data:
        return True
    return (
        any(_fits(forecast.place[-1], each) for each in names or ())
        or any(_fits(forecast.type, each) for each in types or ())
        or bool(holds_data and forecast.holds_data and forecast.left_behind is None)
    )


def _fits(text: str, pattern: str) -> bool:
    """Tell whether a text is as a pattern has it, in which ``*`` stands for anything."""
    first, *rest = pattern.split("*")
    if not rest:
        return text == pattern
    if not text.startswith(first):
        return False
    *inner, last = rest
    start = len(first)
    for piece in inner:
        found = text.find(piece, start)
        if found < 0:
            return False
        start = found + len(piece)
    return text.endswith(last) and len(text) - len(last) >= start


def _named(forecasts: Sequence[Forecast]) -> str:
    some = ", ".join("/".join(each.place) for each in forecasts[:SHOWN])
    return some if len(forecasts) <= SHOWN else f"{some} and {len(forecasts) - SHOWN} more"
