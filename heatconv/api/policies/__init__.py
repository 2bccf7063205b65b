# SPDX-License-Identifier: Apache-2.0
"""Who may do what by default: one module per noun, with Heat's names.

A rule documents the routes it is for, and it is by that that a route finds its
rules: there is no second table.  An operator's policy file overrides any.

Begin with ``base``, which has the checks that the rules of all nouns are made of.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence

from oslo_policy import policy

from heatconv.api.policies import (
    base,
    events,
    notifications,
    plans,
    resource_types,
    resources,
    services,
    software,
    stacks,
)
from heatconv.api.policies.base import BELOW

_MODULES = (base, stacks, plans, resources, resource_types, events, notifications, software, services)


def list_rules() -> list[policy.RuleDefault]:
    """Return every rule, for enforcement and for oslopolicy-sample-generator."""
    return [rule for module in _MODULES for rule in module.RULES]


@functools.cache
def of_operations() -> Sequence[str]:
    """Return the names of the rules that each are for something that can be asked for."""
    return tuple(sorted({name for names in by_route().values() for name in names}))


@functools.cache
def by_route() -> Mapping[tuple[str, str], Sequence[str]]:
    """Return the names of the rules of each method and URL below ``/v1/{project}``."""
    found: dict[tuple[str, str], list[str]] = {}
    for rule in list_rules():
        if isinstance(rule, policy.DocumentedRuleDefault):
            for operation in rule.operations:
                route = (operation["method"], operation["path"].removeprefix(BELOW))
                found.setdefault(route, []).append(rule.name)
    return found
