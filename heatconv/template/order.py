# SPDX-License-Identifier: Apache-2.0
"""The order that dependencies impose, and the circles that make it impossible."""

from __future__ import annotations

from collections.abc import Collection, Mapping


class CircularDependency(Exception):  # caught by whoever knows the place to report it at
    """Some names depend on each other; never leaves this package."""

    def __init__(self, members: list[str]) -> None:
        super().__init__(" -> ".join(members))
        self.members = members


def dependency_order(requires: Mapping[str, Collection[str]]) -> list[str]:
    """Return the names, each after everything it requires; linear time, no recursion.

    What is required but is no key of ``requires`` is passed over.

    Raises:
        CircularDependency: there is none; the members start and end with the same name.
    """
    order: dict[str, None] = {}
    for start in requires:
        if not requires[start]:
            order[start] = None
        elif start not in order:
            _visit(start, requires, order)
    return list(order)


def _visit(start: str, requires: Mapping[str, Collection[str]], order: dict[str, None]) -> None:
    trail = [(start, iter(sorted(requires[start])))]
    on_trail = {start}
    while trail:
        name, rest = trail[-1]
        for required in rest:
            if required in on_trail:
                members = [member for member, _rest in trail]
                raise CircularDependency([*members[members.index(required) :], required])
            if required in requires and required not in order:
                trail.append((required, iter(sorted(requires[required]))))
                on_trail.add(required)
                break
        else:
            trail.pop()
            on_trail.discard(name)
            order[name] = None
